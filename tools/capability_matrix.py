#!/usr/bin/env python3
"""docs/capabilities.md, from the results of the conformance suite.

tools/capability_matrix.py RESULTS.xml          compares; an error if the page says something else
tools/capability_matrix.py RESULTS.xml --write  writes the page

RESULTS.xml is what `ctest --output-junit` wrote of a run with every backend's conformance cases.
"""
import collections
import difflib
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "capabilities.md"
# A backend may have several factories: its own name, and that with a word behind it (`rabbitmq_classic`). Themes are one word.
CASE = re.compile(r"^(?P<of>[a-z]+)-conformance\.(?P<backend>(?P=of)(?:_[a-z0-9]+)?)_(?P<theme>[a-z0-9]+)\.(?P<case>\w+)$")
LACKS = re.compile(r"^the backend has no (.+)$", re.MULTILINE)
FIRST = ["inprocess", "sqlite", "rabbitmq", "rabbitmq_classic", "kafka"]

HEAD = """# What each backend can do

Written by `tools/capability_matrix.py` from a run of the [conformance suite](conformance.md); `make test` compares. Do not
edit it by hand.
"""


def read(path):
    """{backend: {(theme, case): None if passed, else what the backend lacks}}"""
    found = collections.defaultdict(dict)
    for node in xml.parse(path).getroot().iter("testcase"):
        match = CASE.match(node.get("name"))
        if not match:
            continue
        output = node.findtext("system-out") or ""
        lacks = LACKS.search(output) if node.find("skipped") is not None else None
        if node.find("failure") is not None or (node.find("skipped") is not None and not lacks):
            sys.exit(f"{path}: {node.get('name')} neither passed nor says what the backend lacks")
        found[match["backend"]][match["theme"], match["case"]] = lacks[1] if lacks else None
    return found


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def theme_cell(cases):
    passed = sum(lacks is None for lacks in cases)
    lacking = sorted({lacks for lacks in cases if lacks})
    if not lacking:
        return f"{passed} of {len(cases)}"
    return f"{passed} of {len(cases)}, lacks {', '.join(lacking)}"


def page(found):
    backends = sorted(found, key=lambda b: (FIRST.index(b) if b in FIRST else len(FIRST), b))
    themes = list(dict.fromkeys(theme for b in backends for theme, _ in found[b]))
    needs = collections.defaultdict(set)  # capability: cases that some backend skipped for want of it
    for cases in found.values():
        for case, lacks in cases.items():
            if lacks:
                needs[lacks].add(case)

    def offers(backend, capability):
        states = {found[backend][case] for case in needs[capability] if case in found[backend]}
        if not states:
            return "not run here"
        return "no" if capability in states else "yes"

    text = HEAD + "\n## Capabilities that not every backend has\n\n"
    text += table(["Capability", *backends],
                  [[f"`{c}`", *(offers(b, c) for b in backends)] for c in sorted(needs)])
    text += "\n## Cases passed\n\n"
    rows = []
    for theme in themes:
        of = {b: [lacks for (t, _), lacks in found[b].items() if t == theme] for b in backends}
        rows.append([f"`{theme}`", *(theme_cell(of[b]) if of[b] else "none" for b in backends)])
    return text + table(["Theme", *backends], rows)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    found = read(arguments[0])
    if not found:
        sys.exit(f"{arguments[0]}: no conformance cases in it")
    made = page(found)
    if "--write" in arguments:
        PAGE.write_text(made)
        return
    there = PAGE.read_text() if PAGE.exists() else ""
    if made != there:
        sys.stdout.writelines(difflib.unified_diff(there.splitlines(True), made.splitlines(True), str(PAGE.name), "run"))
        sys.exit(f"docs/capabilities.md says something else; run tools/capability_matrix.py {arguments[0]} --write")


if __name__ == "__main__":
    main(sys.argv[1:])
