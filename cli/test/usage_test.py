"""Options, topology files, exit codes, help."""

import json
import unittest

from shove_case import ShoveCase


class Usage(ShoveCase):
    def test_mistakes_end_with_2_and_name_the_value(self):
        for arguments, word in [([], "subcommand"), (["nonsense"], "nonsense"), (["publish"], "QUEUE"),
                                (["publish", "q", "--batch", "x"], "x"), (["publish", "q", "--delay", "5"], "'5'"),
                                (["publish", "q", "--hold", "1s,2"], "'2'"), (["publish", "q", "--header", "x"], "NAME=VALUE"),
                                (["consume", "q", "--outcome", "maybe"], "maybe"), (["consume", "q", "--count", "0"], "0"),
                                (["worker", "q"], "--exec"), (["dlq"], "shove dlq --help"), (["dlq", "nonsense"], "nonsense"), (["dlq", "list", "q", "--since", "x"], "'x'"),
                                (["publish", "a b"], "a b"), (["publish", "q", "--dlq-named", "q"], "dead-letter"),
                                (["publish", "q", "--hold", "0s"], "hold"), (["topology", "check"], "QUEUE"),
                                (["publish", "q", "--dlq", "--topology", "f"], "--topology"),
                                (["ping", "--url", "nonsense:x"], "nonsense")]:
            done = self.run_shove(*arguments, code=2)
            self.assertIn(word, done.stderr.decode(), arguments)
            self.assertEqual(done.stdout, b"", arguments)
            as_json = self.run_shove(*arguments, "--json", code=2)
            self.assertEqual(self.error_of(as_json)["code"], "usage", arguments)

    def test_help_has_examples(self):
        self.assertIn(b"Examples:", self.run_shove("--help").stdout)
        for command in (["publish"], ["consume"], ["worker"], ["queues"], ["dlq", "list"], ["dlq", "replay"],
                        ["dlq", "purge"], ["topology", "plan"], ["topology", "apply"], ["topology", "check"],
                        ["topology", "show"], ["store", "check"], ["store", "stats"],
                        ["store", "set-limit"], ["store", "import"], ["doctor"], ["ping"], ["version"], ["bench"],
                        ["completion"], ["man"]):
            text = self.run_shove(*command, "--help").stdout.decode()
            self.assertIn("Examples:", text, command)
            self.assertIn("shove " + " ".join(command), text)

    def test_version(self):
        text = self.run_shove("version").stdout.decode()
        self.assertRegex(text, r"^shove \d+\.\d+\.\d+\n$")
        self.assertEqual(self.run_shove("--version").stdout.decode(), text)
        self.assertEqual(json.loads(self.run_shove("version", "--json").stdout)["version"], text.split()[1])

    def test_url_from_flag_environment_or_default(self):
        del self.environment["SHOVE_URL"]
        self.publish("q", b"1")
        self.assertTrue((self.folder / "shove.db").exists())
        self.run_shove("publish", "q", stdin=b"2", env={"SHOVE_URL": "sqlite:other.db"})
        self.run_shove("--url", "sqlite:third.db", "publish", "q", stdin=b"3")
        self.assertEqual(self.bodies("q", 1, "--url", "sqlite:third.db"), [3])
        self.assertEqual(self.bodies("q", 1, "--url", "sqlite:other.db"), [2])
        self.assertEqual(self.bodies("q", 1), [1])

    def test_ping(self):
        self.assertIn(b"sqlite", self.run_shove("ping").stdout)
        answer = json.loads(self.run_shove("ping", "--url", "memory:", "--json").stdout)
        self.assertEqual((answer["ok"], answer["backend"]), (True, "inprocess"))
        self.run_shove("ping", "--url", "sqlite:no/such/folder.db", code=1)

    def test_new_queue_is_told_of_once(self):
        self.assertIn(b"made queue 'q': hold 1s,5m, dead letters in 'q-dlq'",
                      self.publish("q", b"1", flags=["--hold", "1s,5m", "--dlq"]).stderr)
        self.assertNotIn(b"made queue", self.publish("q", b"1").stderr)
        self.assertEqual(self.publish("q2", b"1", flags=["--quiet"]).stderr, b"")

    def test_loss_is_warned_of(self):
        self.publish("q", b"1")
        done = self.run_shove("consume", "q", "--outcome", "reject", "--count", "1")
        self.assertIn(b"no dead-letter queue", done.stderr)


class TopologyFile(ShoveCase):
    def write(self, text):
        (self.folder / "t.toml").write_text(text)

    def test_layout_comes_from_the_file(self):
        self.write('[[topic]]\nqueue = "orders"\nhold = ["1ms", "2ms"]\ndlq = "graves"\nmax_retries = 1\n\n'
                   '[[topic]]\nqueue = "mails"\nhold = "1s"\n')
        shown = [json.loads(line) for line in
                 self.run_shove("topology", "show", "--topology", "t.toml", "--json").stdout.splitlines()]
        self.assertEqual(shown[0], {"queue": "orders", "holds": [{"queue": "orders-hold-1ms", "delay_ms": 1},
                                                                 {"queue": "orders-hold-2ms", "delay_ms": 2}],
                                    "dead_letter_queue": "graves", "max_retries": 1, "allow_message_loss": False,
                                    "shards": None})
        self.assertIsNone(shown[1]["dead_letter_queue"])
        self.publish("orders", b"1", flags=["--topology", "t.toml"])
        self.consume("orders", 2, "--topology", "t.toml", "--outcome", "retry")
        (dead,) = self.consume("orders", 1, "--dead", "--topology", "t.toml")
        self.assertEqual(dead["queue"], "graves")

    def test_flags_alone_can_be_shown(self):
        text = self.run_shove("topology", "show", "orders", "--hold", "90s", "--dlq").stdout.decode()
        self.assertIn("orders-dlq", text)
        self.assertIn("90s", text)

    def test_mistakes_name_file_line_and_key(self):
        for text, line, word in [('[[topic]]\nqueue = "q"\nholds = "1s"\n', 3, "'holds'"),
                                 ('[[topic]]\nqueue = "q"\nhold = 5\n', 3, "'hold'"),
                                 ('[[topic]]\nqueue = "q"\nhold = ["1s",\n  "x"]\n', 4, "'hold'"),
                                 ('[[topic]]\nhold = "1s"\n', 1, "'queue'"),
                                 ('[[topic]]\nqueue = "q"\ndlq = 3\n', 3, "'dlq'"),
                                 ('[[topic]]\nqueue = "q"\nmax_retries = -1\n', 3, "'max_retries'"),
                                 ('[[topic]]\nqueue = "q"\n[[topic]]\nqueue = "q"\n', 3, "already"),
                                 ('[[topic]]\nqueue = "a b"\n', 1, "a b"),
                                 ('[[topic]]\nqueue = "q"\nbroken\n', 3, ""),
                                 ('title = "x"\n', 1, "'title'"), ("", 0, "no topic")]:
            self.write(text)
            error = self.run_shove("topology", "check", "--topology", "t.toml", code=2).stderr.decode()
            self.assertIn(f"t.toml:{line}" if line else "t.toml", error, text)
            self.assertIn(word, error, text)

    def test_files_that_are_not_there_and_queues_that_they_lack(self):
        self.assertIn(b"none.toml", self.run_shove("topology", "check", "--topology", "none.toml", code=2).stderr)
        self.write('[[topic]]\nqueue = "orders"\n')
        error = self.run_shove("publish", "mails", "--topology", "t.toml", code=2).stderr
        self.assertIn(b"mails", error)
        self.assertIn(b"orders", error)


if __name__ == "__main__":
    unittest.main()
