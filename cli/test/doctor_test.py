"""shove doctor: what it finds, what it advises, what it keeps to itself."""

import json
import sqlite3
import time
import unittest

from shove_case import ShoveCase


class Doctor(ShoveCase):
    def examine(self, *arguments, code=0, env=None):
        """The findings by their check, and the last line."""
        done = self.run_shove("doctor", *arguments, "--json", code=code, env=env)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        found = {}
        for line in lines[:-1]:
            found.setdefault(line["check"], []).append(line)
        return found, lines[-1]

    def test_all_is_well(self):
        found, end = self.examine()
        self.assertEqual(end, {"ok": True, "failed": 0, "warnings": 0})
        self.assertEqual(list(found), ["url", "connect", "ping", "broker", "clock", "capabilities"])
        facts = {fact["name"]: fact["value"] for fact in found["broker"][0]["facts"]}
        self.assertEqual(facts["shove"], self.run_shove("version").stdout.decode().split()[1])
        self.assertEqual(facts["SQLite library"], sqlite3.sqlite_version)
        can = {fact["name"]: fact["value"] for fact in found["capabilities"][0]["facts"]}
        self.assertEqual((can["durable"], can["ordered_completion"], can["lease"]), ("yes", "no", "30s"))
        text = self.run_shove("doctor", "memory:").stdout.decode()
        self.assertIn("inprocess", text)
        self.assertTrue(text.endswith("all well\n"), text)

    def test_the_url_may_stand_alone(self):
        self.run_shove("doctor", "sqlite:other.db")
        self.assertTrue((self.folder / "other.db").exists())
        self.assertFalse((self.folder / "shove.db").exists())

    def test_urls_that_mean_nothing(self):
        for url, word in [("nonsense:x", "nonsense"), ("sqlite:x.db?poll=x", "poll")]:
            found, end = self.examine(url, code=1)
            self.assertEqual((list(found), end["failed"]), (["url"], 1), url)
            self.assertIn(word, found["url"][0]["text"])
            self.assertTrue(found["url"][0]["remedy"])

    def test_a_broker_that_cannot_be_reached(self):
        found, _ = self.examine("sqlite:no/such/folder.db", code=1)
        self.assertEqual((found["url"][0]["verdict"], found["connect"][0]["verdict"]), ("ok", "failed"))
        self.assertNotIn("ping", found)

    def test_a_file_that_somebody_holds_is_told_of_in_time(self):
        self.publish("q", b"1")
        held = sqlite3.connect(self.folder / "shove.db", isolation_level=None)
        self.addCleanup(held.close)
        held.execute("BEGIN EXCLUSIVE")
        started = time.monotonic()
        found, end = self.examine("--timeout", "300ms", code=1)
        self.assertLess(time.monotonic() - started, 20)  # far under the 30 s that the file itself would wait
        broken = [each for each in found.get("connect", []) + found.get("ping", []) if each["verdict"] == "failed"]
        self.assertEqual(len(broken), 1, found)
        self.assertIn("timed_out", broken[0]["text"])
        self.assertIn("process", broken[0]["remedy"])
        self.assertFalse(end["ok"])

    def test_credentials_are_never_printed(self):
        for url in ("nonsense://ann:hunter2@host/x", "nonsense:ann:hunter2@host", "ann:hunter2@host",
                    "sqlite:x.db?password=hunter2", "sqlite:x.db?poll=x&api_key=hunter2",
                    "nonsense://ann:a@b/hunter2@host?token=hunter2"):
            for flags in ([], ["--json"]):
                done = self.run_shove("doctor", url, *flags, code=1)
                self.assertNotIn(b"hunter2", done.stdout + done.stderr, url)

    def test_queues_and_their_letters(self):
        self.publish("orders", b"1", b"2", b"3", flags=["--dlq", "--hold", "1s"])
        self.publish("mails", b"1")
        self.consume("orders", 2, "--outcome", "reject")
        found, end = self.examine("--queue", "orders", "--queue", "mails")
        self.assertEqual(end, {"ok": True, "failed": 0, "warnings": 1})
        load, dead = found["queue orders"]
        self.assertIn("1 ready, 0 in flight, 0 delayed", load["text"])
        self.assertIn("2 dead letters in 'orders-dlq'", dead["text"])
        self.assertEqual(dead["verdict"], "warning")
        advice = dead["remedy"].split("`")[1].split()[1:]
        self.assertEqual(len(self.run_shove(*advice, "--json").stdout.splitlines()), 2)
        self.assertEqual([each["verdict"] for each in found["queue mails"]], ["ok", "note"])

    def test_old_messages(self):
        self.publish("orders", b"1")
        time.sleep(0.05)
        found, end = self.examine("--queue", "orders", "--max-age", "1ms")
        self.assertEqual((found["queue orders"][0]["verdict"], end["warnings"]), ("warning", 1))

    def test_queues_that_are_not_as_declared(self):
        (self.folder / "t.toml").write_text('[[topic]]\nqueue = "orders"\ndlq = "graves"\n\n[[topic]]\nqueue = "mails"\n')
        self.publish("orders", b"1", flags=["--dlq"])
        found, end = self.examine("--topology", "t.toml", code=1)
        self.assertGreaterEqual(end["failed"], 2)
        self.assertIn("'orders-dlq', and declared is in 'graves'", found["queue orders"][0]["text"])
        self.assertIn("'mails' is not there", found["queue mails"][0]["text"])
        self.assertIn("topology apply", found["queue mails"][0]["remedy"])
        found, _ = self.examine("--queue", "nowhere", code=1)
        self.assertIn("'nowhere' is not there", found["queue nowhere"][0]["text"])

    def test_sequenced_topics_are_counted_over_their_shards(self):
        layout = ["--sequenced", "skip", "--shards", "2", "--hold", "1s", "--dlq"]
        for key in ("a", "b", "c"):
            self.publish("pays", b"1", flags=[*layout, "--key", key])
        found, end = self.examine("--queue", "pays", *layout)
        self.assertTrue(end["ok"])
        self.assertIn("3 ready", found["queue pays"][0]["text"])

    def test_a_layout_needs_a_queue(self):
        self.assertIn(b"--queue", self.run_shove("doctor", "--dlq", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
