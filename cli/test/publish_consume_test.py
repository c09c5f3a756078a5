"""publish and consume: round trips, exact counts, outcomes, closed pipes."""

import base64
import json
import os
import signal
import subprocess
import unittest

from shove_case import BINARY, PATIENCE, ShoveCase


class RoundTrip(ShoveCase):
    def test_lines_come_back_in_order(self):
        self.publish("q", b'{"n":1}', b'{"n":2}', b"")
        first, second, third = self.consume("q", 3)
        self.assertEqual((first["body"], second["body"]), ({"n": 1}, {"n": 2}))
        self.assertEqual(third["body_base64"], "")
        self.assertNotIn("body", third)
        self.assertEqual(first["queue"], "q")
        self.assertEqual(first["attempt"], 1)
        self.assertIs(first["redelivered"], False)
        self.assertEqual(first["content_type"], "application/json")
        self.assertEqual(third["content_type"], "application/octet-stream")
        self.assertRegex(first["id"], r"^[0-9a-f-]{36}$")
        self.assertLess(first["id"], second["id"])
        self.assertRegex(first["published_at"], r"^20\d\d-.*Z$")
        self.assertIsNone(first["key"])

    def test_last_line_may_lack_its_end(self):
        self.run_shove("publish", "q", stdin=b"1\n2")
        self.assertEqual(self.bodies("q", 2), [1, 2])

    def test_metadata_flags(self):
        self.publish("q", b"7", flags=["--header", "a=x=y", "--header", "b=", "--key", "k", "--type", "t",
                                       "--content-type", "text/plain"])
        (letter,) = self.consume("q", 1)
        self.assertEqual(letter["headers"], {"a": "x=y", "b": ""})
        self.assertEqual((letter["key"], letter["type"], letter["content_type"]), ("k", "t", "text/plain"))

    def test_whole_input_is_one_body(self):
        picture = bytes(range(256)) * 300
        self.run_shove("publish", "q", "--whole", stdin=picture)
        (letter,) = self.consume("q", 1)
        self.assertEqual(base64.b64decode(letter["body_base64"]), picture)

    def test_whole_empty_input_is_an_empty_body(self):
        self.run_shove("publish", "q", "--whole", stdin=b"")
        (letter,) = self.consume("q", 1)
        self.assertEqual(letter["body_base64"], "")

    def test_json_is_shown_compact_beside_its_exact_bytes(self):
        body = b' { "a" : [1, 2.50, "\\u00e9 \xc3\xa9"] } '
        self.publish("q", body)
        (letter,) = self.consume("q", 1)
        self.assertEqual(letter["body"], {"a": [1, 2.5, "é é"]})
        self.assertEqual(base64.b64decode(letter["body_base64"]), body)

    def test_envelopes_give_back_the_very_bytes(self):
        envelopes = [
            {"id": "my-id", "key": "k", "type": "t", "content_type": "image/png",
             "headers": {"text": "é", "yes": True, "no": False, "int": -9223372036854775808, "float": 5.0,
                         "tiny": 5e-324, "nothing": None, "bytes": {"base64": "AP/+"}, "bad": {"text_base64": "/w=="},
                         "nan": {"floating": "nan"}, "minus": {"floating": "-inf"}},
             "body_base64": base64.b64encode(bytes(range(256))).decode()},
            {"id": "second", "headers": [{"name": "twice", "value": 1}, {"name": "twice", "value": "2"}], "body": None},
            {"id": "third", "key": "", "body": {"big": 12345678901234567890123, "exp": 1e-7}},
        ]
        lines = [json.dumps(each, ensure_ascii=False).encode() for each in envelopes]
        self.publish("q", *lines, flags=["--envelope"])
        first = self.run_shove("consume", "q", "--count", "3", "--timeout", "30s").stdout
        self.run_shove("publish", "q2", "--envelope", stdin=first)
        second = self.run_shove("consume", "q2", "--count", "3", "--timeout", "30s").stdout

        def stable(out):
            return [{k: v for k, v in json.loads(line).items() if k not in ("queue", "published_at")}
                    for line in out.splitlines()]

        self.assertEqual(stable(first), stable(second))
        letters = stable(second)
        self.assertEqual([letter["id"] for letter in letters], ["my-id", "second", "third"])
        self.assertEqual(letters[0]["headers"], envelopes[0]["headers"])
        self.assertEqual(list(letters[0]["headers"]), list(envelopes[0]["headers"]))
        self.assertEqual(letters[0]["body_base64"], envelopes[0]["body_base64"])
        self.assertIn(b'"float":5.0', second)
        self.assertEqual(letters[1]["headers"], envelopes[1]["headers"])
        self.assertIn("body", letters[1])
        self.assertIsNone(letters[1]["body"])
        self.assertIn(b'12345678901234567890123', second)
        self.assertEqual(letters[2]["key"], "")

    def test_deep_json_survives_the_round_trip(self):
        for depth in (999, 1000, 1001, 1024, 1100):
            body = b"[" * depth + b"]" * depth
            self.publish("q", body)
            line = self.run_shove("consume", "q", "--count", "1", "--timeout", "30s").stdout
            self.run_shove("publish", "q2", "--envelope", stdin=line)
            line = self.run_shove("consume", "q2", "--count", "1", "--timeout", "30s").stdout
            exact = body in line or base64.b64encode(body) in line
            self.assertTrue(exact, f"depth {depth}")

    def test_large_binary_body(self):
        body = os.urandom(900_000)
        self.run_shove("publish", "q", "--whole", stdin=body)
        line = self.run_shove("consume", "q", "--count", "1").stdout
        self.run_shove("publish", "q", "--envelope", stdin=line)
        (letter,) = self.consume("q", 1)
        self.assertEqual(base64.b64decode(letter["body_base64"]), body)

    def test_bad_envelopes_name_line_and_remedy(self):
        for line, word in [(b"nonsense", "not valid JSON"), (b"[1]", "not an object"), (b"{}", "neither"),
                           (b'{"body":1,"heders":{}}', "'heders'"), (b'{"body":1,"headers":{"h":[1]}}', "'h'"),
                           (b'{"body":1,"headers":{"h":99999999999999999999}}', "64 bits"),
                           (b'{"body_base64":"!"}', "base64"), (b'{"body":1,"id":5}', "'id'"),
                           (b'{"body":1,"headers":{"":1}}', "empty name")]:
            done = self.run_shove("publish", "q", "--envelope", "--json", stdin=b'{"body":0}\n' + line + b"\n", code=1)
            error = self.error_of(done)
            self.assertEqual(error["code"], "bad_envelope")
            self.assertIn("line 2", error["message"])
            self.assertIn(word, error["message"])
            self.assertEqual(json.loads(done.stdout)["published"], 1)

    def test_reserved_headers_are_refused_by_flag_and_left_out_of_envelopes(self):
        self.assertIn(b"reserved", self.run_shove("publish", "q", "--header", "x-shove-replays=1", stdin=b"1", code=2).stderr)
        self.publish("q", b'{"body":1,"headers":{"x-shove-replays":3,"mine":1}}', flags=["--envelope"])
        self.assertEqual(self.consume("q", 1)[0]["headers"], {"mine": 1})

    def test_lone_line_does_not_wait_for_a_batch(self):
        publisher = self.start("publish", "q", stdin=subprocess.PIPE)
        publisher.stdin.write(b"1\n")
        publisher.stdin.flush()
        self.assertEqual(self.bodies("q", 1), [1])
        publisher.stdin.close()
        publisher.stdin = None
        self.finish(publisher)

    def test_delay(self):
        self.publish("q", b"1", flags=["--delay", "1h"])
        self.assertEqual(self.counts("q")["delayed"], 1)
        self.run_shove("consume", "q", "--count", "1", "--timeout", "100ms", code=3)

    def test_publish_reports_as_json(self):
        done = self.run_shove("publish", "q", "--json", "--batch", "7", stdin=b"1\n" * 100)
        report = json.loads(done.stdout)
        self.assertEqual((report["queue"], report["published"], report["failed"]), ("q", 100, 0))


class Counts(ShoveCase):
    def test_exactly_count_are_settled_and_the_rest_is_untouched(self):
        self.publish("q", *[str(n).encode() for n in range(50)])
        for start in (0, 7, 14):
            self.assertEqual(self.bodies("q", 7), list(range(start, start + 7)))
        left = self.counts("q")
        self.assertEqual((left["ready"], left["in_flight"], left["delayed"]), (29, 0, 0))
        letters = self.consume("q", 29)
        self.assertEqual([letter["body"] for letter in letters], list(range(21, 50)))
        self.assertEqual({letter["attempt"] for letter in letters}, {1})

    def test_fewer_than_count_ends_with_3(self):
        self.publish("q", b"1", b"2")
        done = self.run_shove("consume", "q", "--count", "3", "--timeout", "500ms", "--json", code=3)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertEqual(self.error_of(done)["code"], "too_few")
        self.assertEqual(self.counts("q")["ready"], 0)

    def test_timeout_without_count_is_fine(self):
        self.publish("q", b"1")
        self.assertEqual(len(self.run_shove("consume", "q", "--timeout", "500ms").stdout.splitlines()), 1)

    def test_signal_ends_it_cleanly(self):
        self.publish("q", b"1")
        for number in (signal.SIGTERM, signal.SIGINT):
            consumer = self.start("consume", "q", "--outcome", "defer", "--hold", "1ms")
            self.assertTrue(consumer.stdout.readline())
            consumer.send_signal(number)
            self.finish(consumer)
        self.assertEqual(self.bodies("q", 1), [1])


class Outcomes(ShoveCase):
    def test_retry_counts_attempts_then_kills(self):
        self.publish("q", b"1", flags=["--dlq"])
        letters = self.consume("q", 3, "--outcome", "retry", "--reason", "no luck", "--max-retries", "2", "--hold", "1ms",
                               "--dlq")
        self.assertEqual([letter["attempt"] for letter in letters], [1, 2, 3])
        self.assertEqual(len({letter["id"] for letter in letters}), 1)
        self.assertEqual([letter["redelivered"] for letter in letters[1:]], [True, True])
        (dead,) = self.consume("q", 1, "--dead")
        self.assertEqual(dead["queue"], "q-dlq")
        self.assertEqual(dead["id"], letters[0]["id"])
        self.assertEqual(dead["death"]["reason"], "max_retries_exceeded")
        self.assertEqual(dead["death"]["original_queue"], "q")
        self.assertEqual(dead["death"]["last_error"], "no luck")
        self.assertEqual(dead["death"]["count"], 1)
        self.assertEqual(self.counts("q-dlq")["ready"], 0)

    def test_defer_costs_nothing(self):
        self.publish("q", b"1")
        letters = self.consume("q", 4, "--outcome", "defer", "--hold", "1ms", "--max-retries", "0")
        self.assertEqual([letter["attempt"] for letter in letters], [1] * 4)

    def test_reject_goes_to_the_dead_letters_that_the_queue_has(self):
        self.publish("q", b"1", b"2", flags=["--dlq-named", "graveyard"])
        self.consume("q", 1, "--outcome", "reject")  # no flags: the queue keeps its own
        self.assertEqual(self.counts("q")["dead"], 1)
        (dead,) = self.consume("q", 1, "--dead")
        self.assertEqual((dead["queue"], dead["death"]["reason"], dead["body"]), ("graveyard", "rejected", 1))

    def test_dead_letters_that_are_not_acked_stay(self):
        self.publish("q", b"1", flags=["--dlq"])
        self.consume("q", 1, "--outcome", "reject")
        self.consume("q", 1, "--dead", "--outcome", "defer")
        self.consume("q", 1, "--dead")
        self.run_shove("consume", "q", "--dead", "--count", "1", "--timeout", "100ms", code=3)

    def test_dead_letters_of_an_unknown_queue(self):
        done = self.run_shove("consume", "nope", "--dead", "--json", code=1)
        self.assertEqual(self.error_of(done)["code"], "unknown_queue")
        self.assertIn("nope", self.error_of(done)["message"])


class ClosedPipe(ShoveCase):
    def test_reader_that_leaves_loses_nothing(self):
        total = 3000
        self.publish("q", *[b'{"n":%d,"pad":"%s"}' % (n, b"x" * 200) for n in range(total)], flags=["--hold", "1ms"])
        consumer = self.start("consume", "q", "--hold", "1ms")
        seen = [json.loads(consumer.stdout.readline())["body"]["n"] for _ in range(5)]
        consumer.stdout.close()  # what lies in the pipe is lost to us, but was written
        consumer.stdout = None
        _, err = self.finish(consumer)
        self.assertNotIn(b"error", err)
        left = self.counts("q")
        rest = left["ready"] + left["delayed"]
        self.assertGreater(rest, 0)
        letters = self.consume("q", rest)
        numbers = [letter["body"]["n"] for letter in letters]
        self.assertEqual(seen, list(range(5)))
        self.assertEqual(sorted(numbers), list(range(total - rest, total)))  # no gap after what was written
        self.assertEqual({letter["attempt"] for letter in letters}, {1})

    def test_full_device_is_an_error_and_loses_nothing(self):
        self.publish("q", b"1")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BINARY, "consume", "q", "--hold", "1ms"], stdout=full, stderr=subprocess.PIPE,
                                  cwd=self.folder, env=self.environment, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left", done.stderr)
        self.assertEqual(self.bodies("q", 1), [1])


if __name__ == "__main__":
    unittest.main()
