#!/usr/bin/env python3
"""Finds the temporaries that g++ 12 destroys twice inside a co_await expression.

    tools/check-coawait.py FILE...

Two forms: a braced temporary (`co_await f({"a"})`, `co_await f(T{"a"})`) and a lambda with captures
written in place. Name the value on the line before. A line, or the one above it, that says
`// braces safe: why` is left alone (a trivially destructible type, for example).
"""
import re
import sys

BLANKED = re.compile(
    r'R"(?P<tag>[^ ()\\\t\n]{0,16})\(.*?\)(?P=tag)"'
    r'|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'",
    re.S,
)


def blank(match):
    """The same length and lines, without the letters, so that positions stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def matching(text, at):
    """The position after the bracket that closes the one at `at`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    stack = []
    for i in range(at, len(text)):
        if text[i] in pairs:
            stack.append(pairs[text[i]])
        elif stack and text[i] == stack[-1]:
            stack.pop()
            if not stack:
                return i + 1
    return len(text)


def skip_lambda(text, at):
    """The position after the lambda whose body comes next."""
    while at < len(text) and text[at] not in "{;":
        at = matching(text, at) if text[at] in "([" else at + 1
    return matching(text, at) if at < len(text) and text[at] == "{" else at


def faults(text):
    """(position, what) of each temporary inside a co_await expression."""
    for start in re.finditer(r"\bco_await\b", text):
        i, depth = start.end(), 0
        while i < len(text):
            c = text[i]
            before = text[:i].rstrip()[-1:]
            if c == "[" and not re.match(r"[\w)\]]", before):
                end = matching(text, i)
                if text[i + 1 : end - 1].strip():
                    yield i, "lambda with captures"
                i = skip_lambda(text, end)
                continue
            if c == "{":
                yield i, "braced temporary"
                i = matching(text, i)
                continue
            if c in "([":
                depth += 1
            elif c in ")]}":
                depth -= 1
            if depth < 0 or c == ";":
                break
            i += 1


def check(path):
    source = open(path, encoding="utf-8", errors="replace").read()
    text, lines, found = BLANKED.sub(blank, source), source.split("\n"), 0
    seen = set()
    for at, what in faults(text):
        line = text.count("\n", 0, at)
        if at in seen or any("// braces safe:" in lines[n] for n in (line, line - 1) if n >= 0):
            continue
        seen.add(at)
        print(f"{path}:{line + 1}: {what} inside co_await; name it on the line before\n    {lines[line].strip()}")
        found += 1
    return found


if __name__ == "__main__":
    sys.exit(1 if sum(check(path) for path in sys.argv[1:]) else 0)
