"""dlq and queues: listing, filters, replay, purge, dry runs."""

import json
import unittest

from shove_case import ShoveCase


class DeadLetters(ShoveCase):
    def kill(self, queue, *bodies, reason="because", flags=("--dlq",)):
        self.publish(queue, *bodies, flags=flags)
        self.consume(queue, len(bodies), "--outcome", "reject", "--reason", reason, *flags)

    def listed(self, *arguments):
        return [json.loads(line) for line in self.run_shove("dlq", "list", *arguments, "--json").stdout.splitlines()]

    def test_list_shows_letters_and_leaves_them(self):
        self.kill("q", b'{"n":1}', b"not json", reason="bad record")
        letters = self.listed("q")
        self.assertEqual([letter.get("body") for letter in letters], [{"n": 1}, None])
        self.assertEqual(letters[1]["body_base64"], "bm90IGpzb24=")
        self.assertEqual(letters[0]["death"]["reason"], "rejected")
        self.assertEqual(letters[0]["death"]["last_error"], "bad record")
        self.assertEqual(len(self.listed("q")), 2)
        table = self.run_shove("dlq", "list", "q").stdout.decode()
        self.assertIn("REASON", table)
        self.assertIn("bad record", table)
        self.assertEqual(len(table.splitlines()), 3)

    def test_filters(self):
        self.kill("q", *[b'{"n":%d}' % n for n in range(20)])
        self.publish("q", b'{"late":1}', flags=["--dlq"])
        self.consume("q", 1, "--outcome", "retry", "--max-retries", "0", "--dlq")
        self.assertEqual(len(self.listed("q")), 21)
        self.assertEqual(len(self.listed("q", "--reason", "rejected")), 20)
        self.assertEqual([letter["body"] for letter in self.listed("q", "--reason", "max_retries_exceeded")], [{"late": 1}])
        self.assertEqual([letter["body"]["n"] for letter in self.listed("q", "--match", '"n":1', "--limit", "3")], [1, 10, 11])
        self.assertEqual(len(self.listed("q", "--since", "1h")), 21)
        self.assertEqual(len(self.listed("q", "--since", "2100-01-01T00:00:00Z")), 0)
        self.assertEqual(len(self.listed("q", "--limit", "0")), 0)

    def test_replay_keeps_id_and_order_and_resets_attempts(self):
        self.kill("q", *[b'{"n":%d}' % n for n in range(40)])
        ids = [letter["id"] for letter in self.listed("q")]
        dry = json.loads(self.run_shove("dlq", "replay", "q", "--dry-run", "--json").stdout)
        self.assertEqual((dry["matched"], dry["replayed"], dry["dry_run"]), (40, 0, True))
        self.assertEqual(len(self.listed("q")), 40)
        done = json.loads(self.run_shove("dlq", "replay", "q", "--json").stdout)
        self.assertEqual(done["replayed"], 40)
        self.assertEqual(self.listed("q"), [])
        letters = self.consume("q", 40)
        self.assertEqual([letter["id"] for letter in letters], ids)
        self.assertEqual({letter["attempt"] for letter in letters}, {1})
        self.assertEqual({letter["headers"]["x-shove-replays"] for letter in letters}, {1})

    def test_replays_are_counted(self):
        self.kill("q", b"1")
        for count in (1, 2, 3):
            self.run_shove("dlq", "replay", "q")
            (letter,) = self.consume("q", 1, "--outcome", "reject", "--dlq")
            self.assertEqual(letter["headers"], {"x-shove-replays": count})

    def test_replay_to_another_queue_and_with_filters(self):
        self.kill("q", b'{"a":1}', b'{"b":1}', b'{"a":2}')
        self.publish("other", b"0")
        done = self.run_shove("dlq", "replay", "q", "--match", '"a"', "--limit", "1", "--to", "other")
        self.assertEqual(done.stdout, b"replayed 1 of 1 dead letters seen in 'q-dlq'\n")
        self.assertEqual(self.bodies("other", 2), [0, {"a": 1}])
        self.assertEqual([letter["body"] for letter in self.listed("q")], [{"b": 1}, {"a": 2}])

    def test_replay_into_the_unknown_moves_nothing(self):
        self.kill("q", b"1")
        done = self.run_shove("dlq", "replay", "q", "--to", "nowhere", "--json", code=1)
        self.assertEqual(self.error_of(done)["code"], "unknown_queue")
        self.assertIn("nowhere", self.error_of(done)["message"])
        self.run_shove("dlq", "replay", "q", "--to", "q-dlq", code=1)
        self.assertEqual(len(self.listed("q")), 1)

    def test_purge(self):
        self.kill("q", *[b"%d" % n for n in range(30)])
        self.assertIn(b"would have purged 30", self.run_shove("dlq", "purge", "q", "--dry-run").stdout)
        done = json.loads(self.run_shove("dlq", "purge", "q", "--match", "2", "--json").stdout)
        self.assertEqual((done["seen"], done["purged"]), (30, 12))
        self.assertEqual(len(self.listed("q")), 18)
        self.run_shove("dlq", "purge", "q")
        self.assertEqual(self.listed("q"), [])

    def test_names(self):
        self.kill("q", b"1", flags=("--dlq-named", "graveyard"))
        self.assertEqual(len(self.listed("q")), 1)
        self.assertEqual(len(self.listed("anything", "--dead-queue", "graveyard")), 1)
        for arguments in (["nope"], ["q", "--dead-queue", "nope"]):
            done = self.run_shove("dlq", "list", *arguments, "--json", code=1)
            self.assertEqual(self.error_of(done)["code"], "unknown_queue")
            self.assertIn("nope", self.error_of(done)["message"])

    def test_binary_letters_survive_a_replay(self):
        envelope = {"id": "b", "key": "k", "headers": {"x": {"base64": "AP8="}}, "content_type": "c", "type": "t",
                    "body_base64": "AAECA/8="}
        self.publish("q", json.dumps(envelope).encode(), flags=["--envelope", "--dlq"])
        self.consume("q", 1, "--outcome", "reject", "--dlq")
        self.run_shove("dlq", "replay", "q")
        (letter,) = self.consume("q", 1)
        envelope["headers"]["x-shove-replays"] = 1
        self.assertEqual({name: letter[name] for name in envelope}, envelope)

    def test_expired_letters_live_on_after_a_replay(self):
        self.publish("q", b"1", flags=["--dlq", "--expires-in", "1ms"])
        self.run_shove("consume", "q", "--timeout", "300ms")
        (letter,) = self.listed("q")
        self.assertEqual(letter["death"]["reason"], "expired")
        self.run_shove("dlq", "replay", "q")
        self.assertEqual(self.bodies("q", 1), [1])


class Queues(ShoveCase):
    def test_counts(self):
        self.publish("a", b"1", b"2", flags=["--dlq"])
        self.publish("a", b"3", flags=["--delay", "1h"])
        self.consume("a", 1, "--outcome", "reject")
        rows = {row["queue"]: row for row in map(json.loads, self.run_shove("queues", "--json").stdout.splitlines())}
        self.assertEqual((rows["a"]["ready"], rows["a"]["delayed"], rows["a"]["dead"]), (1, 1, 1))
        self.assertEqual(rows["a"]["dead_letter_queue"], "a-dlq")
        self.assertEqual(rows["a-dlq"]["ready"], 1)
        table = self.run_shove("queues").stdout.decode().splitlines()
        self.assertEqual(table[0].split()[:2], ["QUEUE", "READY"])
        self.assertEqual(len(table), 3)
        self.assertNotIn("\033", "".join(table))

    def test_unknown_queue(self):
        done = self.run_shove("queues", "nope", "--json", code=1)
        self.assertEqual(self.error_of(done)["code"], "unknown_queue")
        self.assertEqual(self.run_shove("queues", "--json").stdout, b"")


if __name__ == "__main__":
    unittest.main()
