"""Sequenced topics: flags and files, order per key, poisoned keys, and what is said to those who forget the layout."""

import json
import unittest

from worker_case import WorkerCase

LAYOUT = ["--shards", "4", "--key-field", "customer", "--hold", "1ms", "--dlq"]
FAIL_ALL = ["--sequenced", "fail-all", *LAYOUT]
SKIP = ["--sequenced", "skip", *LAYOUT]
TOPICS = """
[[topic]]
queue = "orders"
hold = "1ms"
dlq = true
sequenced = "fail-all"
shards = 2
key_field = "customer"
"""


def order(customer, n):
    return json.dumps({"customer": customer, "n": n}).encode()


class SequencedCase(WorkerCase):
    def publish_orders(self, *orders, flags=SKIP):
        return self.publish("orders", *[order(*each) for each in orders], flags=flags)

    def work_orders(self, program, calls, flags, dead=0):
        """Works off, until so many are dead; gives the orders that the program has kept, by customer."""
        (self.folder / "ticks").unlink(missing_ok=True)
        (self.folder / "handled").write_text("")
        keep = 'read -r order; test "$order" = "" && exit 64; '
        self.work_off("orders", keep + program.replace("KEEP", 'echo "$order" >> handled'), calls, *flags,
                      until=lambda: len(self.dead()) >= dead)
        found = {}
        for line in (self.folder / "handled").read_text().splitlines():
            read = json.loads(line)
            found.setdefault(str(read["customer"]), []).append(read["n"])
        return found

    def dead(self):
        lines = self.run_shove("dlq", "list", "orders", "--json").stdout.splitlines()
        letters = [json.loads(line) for line in lines]
        return sorted((letter["death"]["reason"], letter["body"]["customer"], letter["body"]["n"]) for letter in letters)

    def keys(self, *flags):
        return [json.loads(line) for line in self.run_shove("keys", "list", "orders", *flags, "--json").stdout.splitlines()]


class Order(SequencedCase):
    def test_each_key_is_worked_off_in_order_through_retries(self):
        self.publish_orders(*[(f"c{i % 5}", i // 5) for i in range(100)])
        program = 'case "$SHOVE_ATTEMPT $order" in "1 "*5}) exit 75;; esac; KEEP'
        found = self.work_orders(program, 110, SKIP)  # numbers 5 and 15 of each key twice
        self.assertEqual(found, {f"c{i}": list(range(20)) for i in range(5)})

    def test_consume_takes_exactly_so_many_in_order(self):
        self.publish_orders(*[(f"c{i % 5}", i // 5) for i in range(50)])
        seen = {}
        for count in (1, 9, 40):
            for letter in self.consume("orders", count, *SKIP):
                self.assertEqual(letter["key"], letter["body"]["customer"])
                self.assertEqual(letter["attempt"], 1)
                seen.setdefault(letter["key"], []).append(letter["body"]["n"])
        self.assertEqual(seen, {f"c{i}": list(range(10)) for i in range(5)})

    def test_keys_are_texts_or_integers_of_the_body(self):
        self.publish_orders((7, 1), ("7", 2), ("", 3), ("é", 4))
        letters = self.consume("orders", 4, *SKIP)
        self.assertEqual(sorted((letter["body"]["n"], letter["key"]) for letter in letters),
                         [(1, "7"), (2, "7"), (3, ""), (4, "é")])
        for bad in (b"text", b'{"client":1}', b'{"customer":1.5}', b'{"customer":null}', b'["customer"]'):
            done = self.run_shove("publish", "orders", *SKIP, "--json", stdin=order("a", 1) + b"\n" + bad + b"\n", code=1)
            self.assertIn("line 2", self.error_of(done)["message"], bad)
            self.assertIn("customer", self.error_of(done)["message"], bad)
        self.assertEqual(len(self.consume("orders", 5, *SKIP)), 5)  # each time the first line was stored

    def test_a_message_without_key_is_refused(self):
        done = self.run_shove("publish", "orders", "--sequenced", "skip", "--hold", "1ms", "--dlq", stdin=b"1\n", code=1)
        self.assertIn(b"key", done.stderr)
        self.run_shove("publish", "orders", "--sequenced", "skip", "--hold", "1ms", "--dlq", "--key", "k", stdin=b"1\n")

    def test_skip_goes_on_behind_a_dead_message(self):
        self.publish_orders(("a", 1), ("a", 2), ("b", 1))
        found = self.work_orders('case "$order" in *a*1}) exit 65;; esac; KEEP', 3, SKIP)
        self.assertEqual(found, {"a": [2], "b": [1]})
        self.assertEqual(self.dead(), [("rejected", "a", 1)])
        self.assertEqual(self.keys(*SKIP), [])


class Keys(SequencedCase):
    def poison_a(self, flags):
        self.publish_orders(("a", 1), ("a", 2), ("a", 3), ("b", 1), flags=flags)
        return self.work_orders('case "$order" in *a*1}) exit 65;; esac; KEEP', 2, flags, dead=3)

    def test_no_key_is_poisoned(self):
        self.publish_orders(("a", 1), flags=FAIL_ALL)
        done = self.run_shove("keys", "list", "orders", *FAIL_ALL)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"no key of 'orders' is poisoned", done.stderr)
        self.assertEqual(self.keys(*FAIL_ALL), [])

    def test_a_poisoned_key_goes_on_once_it_is_released(self):
        self.assertEqual(self.poison_a(FAIL_ALL), {"b": [1]})
        self.assertEqual(self.dead(), [("poisoned", "a", 2), ("poisoned", "a", 3), ("rejected", "a", 1)])
        text = self.run_shove("keys", "list", "orders", *FAIL_ALL).stdout.decode()
        self.assertRegex(text, r"KEY +SHARD\na +orders-seq-\d\n$")
        (key,) = self.keys(*FAIL_ALL)
        self.assertEqual((key["key"], sorted(key)), ("a", ["key", "shard", "since"]))
        self.assertRegex(key["since"], r"^\d{4}-\d\d-\d\dT")

        self.publish_orders(("a", 4), ("b", 2), flags=FAIL_ALL)
        self.assertEqual(self.work_orders("KEEP", 1, FAIL_ALL, dead=4), {"b": [2]})
        self.assertIn(("poisoned", "a", 4), self.dead())

        told = self.run_shove("keys", "release", "orders", "a", *FAIL_ALL).stderr
        self.assertIn(b"released key 'a' of 'orders'", told)
        self.assertEqual(self.keys(*FAIL_ALL), [])
        self.run_shove("dlq", "replay", "orders", "--reason", "poisoned")
        self.publish_orders(("a", 5), flags=FAIL_ALL)
        self.assertEqual(self.work_orders("KEEP", 4, FAIL_ALL), {"a": [2, 3, 4, 5]})
        self.assertEqual(self.dead(), [("rejected", "a", 1)])

    def test_a_key_that_is_not_poisoned(self):
        self.publish_orders(("a", 1), flags=FAIL_ALL)
        done = self.run_shove("keys", "release", "orders", "zoë", *FAIL_ALL, "--json", code=1)
        self.assertEqual(self.error_of(done)["code"], "unknown_key")
        self.assertIn("'zoë'", self.error_of(done)["message"])

    def test_queues_that_are_not_there_or_not_sequenced(self):
        self.publish("plain", b"1")
        for action in (["list"], ["release"]):
            key = ["a"] if action == ["release"] else []
            self.assertIn(b"--sequenced", self.run_shove("keys", *action, "orders", *key, code=2).stderr)
            self.assertIn(b"not sequenced", self.run_shove("keys", *action, "plain", *key, *FAIL_ALL, code=2).stderr)
            done = self.run_shove("keys", *action, "orders", *key, *FAIL_ALL, "--json", code=1)
            self.assertEqual(self.error_of(done)["code"], "unknown_queue")
        self.assertEqual(self.run_shove("queues", "--json").stdout.count(b"\n"), 1, "a look made queues")

    def test_layout_from_a_file(self):
        (self.folder / "t.toml").write_text(TOPICS)
        shown = json.loads(self.run_shove("topology", "show", "--topology", "t.toml", "--json").stdout)
        self.assertEqual(shown["shards"], 2)
        layout = ["--topology", "t.toml"]
        self.assertIn(b"made queue 'orders': 2 shards", self.publish_orders(("x", 0), flags=layout).stderr)
        self.consume("orders", 1, *layout)
        (self.folder / "handled").write_text("")
        self.publish_orders(("a", 1), ("a", 2), ("b", 1), flags=layout)
        letters = self.consume("orders", 2, *layout, "--outcome", "reject")
        self.assertEqual(sorted((letter["key"], letter["body"]["n"]) for letter in letters), [("a", 1), ("b", 1)])
        self.assertEqual(sorted(key["key"] for key in self.keys(*layout)), ["a", "b"])
        self.run_shove("keys", "release", "orders", "a", *layout)


class Forgotten(SequencedCase):
    def test_commands_without_the_layout_say_what_it_is(self):
        self.publish_orders(("a", 1))
        for command in (["publish", "orders"], ["consume", "orders"], ["worker", "orders", "--exec", "true"]):
            for flags in ([], ["--dlq"]):
                told = self.run_shove(*command, *flags, stdin=b"1\n", code=2).stderr
                self.assertIn(b"'orders' is a sequenced topic", told)
                self.assertIn(b"--sequenced skip --shards 4", told)
        self.assertEqual(len(self.consume("orders", 1, *SKIP)), 1)

    def test_another_number_of_shards_is_refused(self):
        self.publish_orders(("a", 1))
        other = ["--sequenced", "skip", "--hold", "1ms", "--dlq"]
        for command in (["publish", "orders"], ["consume", "orders"], ["worker", "orders", "--exec", "true"],
                        ["keys", "list", "orders"], ["keys", "release", "orders", "a"]):
            for flags, number in (([], b"8"), (["--shards", "2"], b"2")):
                told = self.run_shove(*command, *other, *flags, stdin=b"1\n", code=2).stderr
                self.assertIn(b"'orders' has 4 shards, not " + number, told)
                self.assertIn(b"give --shards 4", told)

    def test_a_queue_that_is_not_sequenced_stays_so(self):
        self.publish("orders", b"1")
        for command in (["publish", "orders"], ["consume", "orders"], ["worker", "orders", "--exec", "true"]):
            self.assertIn(b"is not sequenced", self.run_shove(*command, *SKIP, stdin=b"1\n", code=2).stderr)
        self.assertEqual(self.bodies("orders", 1), [1])

    def test_queues_shows_the_shards_of_a_topic(self):
        self.publish_orders(("a", 1), ("b", 1))
        lines = [json.loads(line) for line in self.run_shove("queues", "orders", "--json").stdout.splitlines()]
        self.assertEqual([line["queue"] for line in lines], [f"orders-seq-{i}" for i in range(4)])
        self.assertEqual(sum(line["ready"] for line in lines), 2)

    def test_mistakes_name_the_flag_or_the_key_of_the_file(self):
        for flags, word in [(["--sequenced", "maybe"], "maybe"), (["--sequenced", "skip", "--shards", "0"], "--shards"),
                            (["--sequenced", "skip", "--shards", "65536"], "65536"), (["--shards", "2"], "sequenced"),
                            (["--sequenced", "skip"], "dlq")]:
            self.assertIn(word, self.run_shove("publish", "orders", *flags, code=2).stderr.decode(), flags)
        for line, word in [('sequenced = "maybe"', "'sequenced'"), ("sequenced = true", "'sequenced'"),
                           ("shards = 0", "'shards'"), ('shards = "2"', "'shards'"), ("key_field = 3", "'key_field'"),
                           ('sequenced = "skip"', "dlq")]:
            (self.folder / "t.toml").write_text(f'[[topic]]\nqueue = "orders"\n{line}\n')
            told = self.run_shove("topology", "check", "--topology", "t.toml", code=2).stderr.decode()
            self.assertIn("t.toml:", told, line)
            self.assertIn(word, told, line)


if __name__ == "__main__":
    unittest.main()
