"""The manual page and the completions: they hold every command and option that the help shows."""

import re
import subprocess
import unittest

from shove_case import PATIENCE, ShoveCase

BASH = r"""
source ./completion
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shove; printf '%s\n' "${COMPREPLY[*]}"; }
"""


class Manual(ShoveCase):
    def help_of(self, *path):
        return self.run_shove(*path, "--help").stdout.decode()

    def commands(self):
        """Each command's words, with the options and the commands that its help shows."""
        found, waiting = {}, [()]
        while waiting:
            path = waiting.pop(0)
            text = self.help_of(*path)
            options = {name for line in re.findall(r"^  (-[^ ]*)", text, re.M) for name in line.split(",")}
            listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
            below = re.findall(r"^  (\w[\w-]*)", listed.group(1), re.M) if listed else []
            found[path] = (options, set(below))
            waiting += [(*path, name) for name in below]
        return found

    def answers(self, *lines):
        """What bash would offer after each of these lines of words."""
        (self.folder / "completion").write_bytes(self.run_shove("completion", "bash").stdout)
        script = BASH + "".join("try " + " ".join(f"'{word}'" for word in line) + "\n" for line in lines)
        done = subprocess.run(["bash", "-uc", script], cwd=self.folder, capture_output=True, timeout=PATIENCE, check=True)
        self.assertEqual(done.stderr, b"")
        offered = done.stdout.decode().splitlines()
        self.assertEqual(len(offered), len(lines))
        return [set(each.split()) for each in offered]

    def test_bash_offers_every_command_and_option(self):
        commands = self.commands()
        self.assertGreater(len(commands), 15)
        everywhere = commands[()][0] - {"--version"}
        offered = self.answers(*(("shove", *path, "") for path in commands))
        for (path, (options, below)), words in zip(commands.items(), offered):
            if path == ("completion",):
                below = {"bash", "zsh", "fish"}
            self.assertEqual(words, options | everywhere | below, path)

    def test_bash_finds_its_place(self):
        (self.folder / "topics.toml").touch()
        for line, expected in [(("shove", "pub"), "publish"), (("shove", "dlq", "re"), "replay"),
                               (("shove", "--url", "memory:", "dlq", "p"), "purge"),
                               (("shove", "dlq", "list", "orders", "--reas"), "--reason"),
                               (("shove", "consume", "q", "--outcome", ""), "ack retry reject defer"),
                               (("shove", "consume", "q", "--outcome", "re"), "retry reject"),
                               (("shove", "consume", "q", "--outcome", "="), "ack retry reject defer"),
                               (("shove", "consume", "q", "--outcome", "=", "d"), "defer"),
                               (("shove", "publish", "q", "--topology", "to"), "topics.toml"),
                               (("shove", "bench", "--handler", "s"), "slow"),
                               (("shove", "publish", "q", "--batch", ""), ""),
                               (("shove", "publish", "dlq", "re"), ""), (("shove", "nonsense", "--js"), "--json")]:
            self.assertEqual(self.answers(line), [set(expected.split())], line)

    def test_the_other_shells_get_every_command_and_option(self):
        for shell in ("zsh", "fish"):
            script = self.run_shove("completion", shell).stdout.decode()
            for path, (options, _) in self.commands().items():
                place = f"'shove{''.join(' ' + word for word in path)}')" if shell == "zsh" else \
                    f"__shove_at shove{''.join(' ' + word for word in path)}'"
                part = "\n".join(line for line in script.splitlines() if place in line) if shell == "fish" else \
                    script[script.index("case $at in"):].split(place, 1)[1].split(";;", 1)[0]
                for name in options:
                    plain = name if shell == "zsh" else f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                    self.assertRegex(part, rf"(^|['\s]){re.escape(plain)}([:\s]|$)", (shell, path))

    def test_a_shell_that_is_not_known(self):
        self.assertIn(b"tcsh", self.run_shove("completion", "tcsh", code=2).stderr)

    def test_the_page_holds_every_command_and_option(self):
        page = self.run_shove("man").stdout.decode().replace("\\-", "-")
        sections = dict(re.findall(r"^\.S[HS] (OPTIONS|shove .*)\n((?:(?!\.S[HS] ).*\n)*)", page, re.M))
        by_path = {}
        for name, text in sections.items():
            words = [] if not name.startswith("shove") else [w for w in name.split()[1:] if w.islower()]
            by_path[tuple(words)] = text
        commands = self.commands()
        self.assertEqual(set(by_path), set(commands))
        for path, (options, _) in commands.items():
            for name in options:
                self.assertIn(f"\\fB{name}\\fR", by_path[path], path)

    def test_troff_has_nothing_to_say_about_the_page(self):
        page = self.run_shove("man").stdout
        done = subprocess.run(["groff", "-ww", "-man", "-Tascii"], input=page, capture_output=True, timeout=PATIENCE,
                              check=True)
        self.assertEqual(done.stderr, b"")
        text = re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout.decode())
        self.assertIn("printf '%s\\n' '{\"order\":1}'", text)

    def test_neither_depends_on_the_environment(self):
        for words in (["man"], ["completion", "bash"], ["completion", "zsh"], ["completion", "fish"]):
            usual = self.run_shove(*words).stdout
            self.assertEqual(self.run_shove(*words, env={"SHOVE_URL": "sqlite:secret.db"}).stdout, usual)
            self.assertNotIn(b"secret", usual)


if __name__ == "__main__":
    unittest.main()
