"""shove topology plan, apply and check against a broker."""

import json
import unittest

from shove_case import ShoveCase

FILE = """
[[topic]]
queue = "orders"
hold = "1s"
dlq = true

[[topic]]
queue = "mails"
dlq = "graves"

[[topic]]
queue = "pays"
hold = "1s"
dlq = true
sequenced = "skip"
shards = 2
"""
SEQUENCED = ["--sequenced", "skip", "--hold", "1s", "--dlq"]


class Topology(ShoveCase):
    def setUp(self):
        super().setUp()
        (self.folder / "t.toml").write_text(FILE)

    def ask(self, what, *arguments, code=0):
        """The differences, the leftover queues and the last line."""
        done = self.run_shove("topology", what, *(arguments or ["--topology", "t.toml"]), "--json", code=code)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return ([line for line in lines if "difference" in line],
                [line["leftover"] for line in lines if "leftover" in line], lines[-1])

    def queues(self):
        return {line["queue"]: line["dead_letter_queue"] for line in
                map(json.loads, self.run_shove("queues", "--json").stdout.splitlines())}

    def brief(self, differences):
        return [(each["difference"], each["topic"], each["name"]) for each in differences]

    ALL = [("missing_queue", "orders", "orders"), ("missing_dead_letter_queue", "orders", "orders-dlq"),
           ("missing_queue", "mails", "mails"), ("missing_dead_letter_queue", "mails", "graves"),
           ("missing_queue", "pays", "pays-seq-0"), ("missing_queue", "pays", "pays-seq-1"),
           ("missing_dead_letter_queue", "pays", "pays-dlq")]

    def test_all_is_missing_then_made_then_as_declared(self):
        differences, _, end = self.ask("plan")
        self.assertEqual(self.brief(differences), self.ALL)
        self.assertTrue(all(each["can_be_made"] and not each["made"] for each in differences))
        self.assertEqual(end, {"ok": False, "topics": 3, "differences": 7})
        self.assertEqual(self.queues(), {})  # a plan changes nothing
        self.ask("check", code=1)
        self.assertEqual(self.queues(), {})
        differences, _, end = self.ask("apply")
        self.assertEqual(self.brief(differences), self.ALL)
        self.assertTrue(all(each["made"] for each in differences))
        self.assertEqual(end, {"ok": True, "topics": 3, "differences": 0})
        self.assertEqual(self.queues(), {"orders": "orders-dlq", "orders-dlq": None, "mails": "graves", "graves": None,
                                         "pays-seq-0": "pays-dlq", "pays-seq-1": "pays-dlq", "pays-dlq": None})
        for what in ("plan", "apply", "check"):
            self.assertEqual(self.ask(what), ([], [], {"ok": True, "topics": 3, "differences": 0}))

    def test_people_read_it_too(self):
        text = self.run_shove("topology", "plan", "orders", "--dlq").stdout.decode()
        self.assertIn("+ queue 'orders' is not there\n", text)
        self.assertIn("2 differences in 1 topic\n", text)
        text = self.run_shove("topology", "apply", "orders", "--dlq").stdout.decode()
        self.assertEqual(text, "+ made 'orders'\n+ made 'orders-dlq'\nok: 1 topic\n")
        self.assertEqual(self.run_shove("topology", "check", "orders", "--dlq").stdout, b"ok: 1 topic\n")

    def test_in_process_too(self):
        differences, _, end = self.ask("apply", "--topology", "t.toml", "--url", "memory:")
        self.assertEqual(self.brief(differences), self.ALL)
        self.assertTrue(end["ok"])

    def test_another_dead_letter_queue_is_named_and_left_alone(self):
        self.publish("mails", b"1", flags=["--dlq"])
        self.consume("mails", 1, "--outcome", "reject")
        (one,), _, _ = self.ask("check", "mails", "--dlq-named", "graves", code=1)
        self.assertEqual(one["difference"], "other_dead_letter_queue")
        self.assertEqual((one["declared"], one["found"], one["can_be_made"]), ("graves", "mails-dlq", False))
        self.assertIn("mails-dlq", one["remedy"])
        self.ask("apply", code=1)
        self.assertEqual(self.queues()["mails"], "mails-dlq")
        self.assertEqual(self.counts("mails")["dead"], 1)
        self.assertIn("orders", self.queues())  # what is only missing is made all the same

    def test_dead_letters_without_a_declared_queue_for_them(self):
        self.publish("mails", b"1", flags=["--dlq"])
        (self.folder / "t.toml").write_text('[[topic]]\nqueue = "mails"\n')
        (one,), _, _ = self.ask("check", code=1)
        self.assertEqual((one["difference"], one["declared"], one["found"]),
                         ("other_dead_letter_queue", None, "mails-dlq"))
        # Without any layout a queue keeps what it has, as everywhere.
        self.ask("check", "mails")

    def test_a_queue_that_keeps_no_dead_letters_gets_a_place_for_them(self):
        self.publish("mails", b"1")
        (one,), _, _ = self.ask("plan", "mails", "--dlq-named", "graves")
        self.assertEqual((one["difference"], one["name"]), ("missing_dead_letter_queue", "graves"))
        self.ask("apply", "mails", "--dlq-named", "graves")
        self.assertEqual(self.queues(), {"mails": "graves", "graves": None})
        self.assertEqual(self.bodies("mails", 1), [1])

    def test_another_number_of_shards_is_refused_both_ways(self):
        self.publish("pays", b"1", flags=[*SEQUENCED, "--shards", "3", "--key", "a"])
        before = self.queues()
        for shards, word in [("2", "'pays-seq-2' on they are beyond"), ("5", "'pays-seq-3' on they are missing")]:
            (one,), _, _ = self.ask("check", "pays", *SEQUENCED, "--shards", shards, code=1)
            self.assertEqual((one["difference"], one["declared"], one["found"]), ("other_shards", shards, "3"))
            self.assertIn(word, one["text"])
            self.assertIn("declare 3 shards", one["remedy"])
            self.ask("apply", "pays", *SEQUENCED, "--shards", shards, code=1)
        self.assertEqual(self.queues(), before)
        self.ask("check", "pays", *SEQUENCED, "--shards", "3")

    def test_an_empty_topic_takes_another_number_of_shards(self):
        self.ask("apply", "pays", *SEQUENCED, "--shards", "3")
        (one,), _, end = self.ask("apply", "pays", *SEQUENCED, "--shards", "4")
        self.assertEqual((one["difference"], one["made"], end["ok"]), ("other_shards", True, True))
        self.ask("check", "pays", *SEQUENCED, "--shards", "4")
        # Here none is taken away, and that is said.
        (one,), _, end = self.ask("apply", "pays", *SEQUENCED, "--shards", "2", code=1)
        self.assertEqual((one["difference"], one["made"], end["ok"]), ("other_shards", False, False))
        self.assertIn("where the backend can take a shard away", one["remedy"])

    def test_sequenced_and_plain_are_not_mixed(self):
        self.publish("pays", b"1", flags=[*SEQUENCED, "--key", "a"])
        self.publish("orders", b"1")
        for arguments in (["pays", "--dlq"], ["orders", *SEQUENCED]):
            (one,), _, _ = self.ask("check", *arguments, code=1)
            self.assertEqual(one["difference"], "other_order")
            before = self.queues()
            self.ask("apply", *arguments, code=1)
            self.assertEqual(self.queues(), before)

    def test_leftover_queues_are_only_mentioned(self):
        self.publish("old", b"1", flags=["--dlq"])
        self.ask("apply")
        _, left, end = self.ask("check")
        self.assertEqual((left, end["ok"]), (["old", "old-dlq"], True))
        self.assertIn("old", self.queues())
        self.assertEqual(self.ask("check", "orders", "--topology", "t.toml")[1], [])

    def test_mistakes_come_before_the_broker(self):
        (self.folder / "t.toml").write_text('[[topic]]\nqueue = "a b"\n')
        for what in ("plan", "apply", "check"):
            self.run_shove("topology", what, "--topology", "t.toml", code=2)
            self.run_shove("topology", what, code=2)
        self.assertFalse((self.folder / "shove.db").exists())
        self.run_shove("topology", "check", "q", "--url", "sqlite:no/such/folder.db", code=1)


if __name__ == "__main__":
    unittest.main()
