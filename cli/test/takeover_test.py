"""Two workers on one sequenced topic, one of them killed again and again: order per key, and nothing lost.

`SHOVE_LONG=1` runs two minutes of it instead of some seconds.
"""

import json
import os
import random
import time
import unittest

from shove_case import ShoveCase

LAYOUT = ["--sequenced", "skip", "--hold", "20ms", "--dlq"]
LONG = bool(os.environ.get("SHOVE_LONG"))

# Notes its begin and its end; each twentieth message fails once. Each note is one write, so that none is torn.
PROGRAM = """read -r n
echo "begin $n" >> "notes.$SHOVE_KEY"
sleep {seconds}  # real time: a kill is to find messages under way
test $((n % 20)) = 7 && test "$SHOVE_ATTEMPT" = 1 && exit 75
echo "end $n" >> "notes.$SHOVE_KEY"
"""


class Takeover(ShoveCase):
    def fill(self, keys, messages):
        lines = [json.dumps({"key": f"k{i % keys}", "body": i // keys}).encode() for i in range(keys * messages)]
        self.publish("orders", *lines, flags=["--envelope", *LAYOUT])
        self.wanted = {f"k{i}": list(range(messages)) for i in range(keys)}

    def start_worker(self, seconds):
        return self.start("worker", "orders", *LAYOUT, "--concurrency", "20", "--exec", PROGRAM.format(seconds=seconds), "--json")

    def notes(self, key):
        path = self.folder / f"notes.{key}"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(what, int(n)) for what, n in (line.split() for line in lines)]

    def ended(self):
        return sum(len({n for what, n in self.notes(key) if what == "end"}) for key in self.wanted)

    def furthest(self):
        """The last message that has begun, by key."""
        return {key: max((n for _, n in self.notes(key)), default=-1) for key in self.wanted}

    def held(self):
        shards = [json.loads(line) for line in self.run_shove("queues", "orders", "--json").stdout.splitlines()]
        return sum(shard["ready"] + shard["in_flight"] + shard["delayed"] for shard in shards)

    def kill_while_they_work(self, seconds, pace, patience):
        """Kills one of the two about each `pace` seconds until all messages have ended; gives how often.

        What was under way at a kill is over before the next one: a message that dies with three processes is
        dead-lettered, rightly."""
        chance = random.Random(7)
        workers = [self.start_worker(seconds) for _ in range(2)]
        total = sum(map(len, self.wanted.values()))
        kills, until, before = 0, time.monotonic() + patience, {}
        next_kill = time.monotonic() + pace
        while self.ended() < total:
            self.assertLess(time.monotonic(), until, f"{self.ended()} of {total} ended; {kills} kills")
            time.sleep(0.02)  # real time: a look at the notes now and then
            now = self.furthest()
            further = all(now[key] > n or now[key] == self.wanted[key][-1] for key, n in before.items())
            if time.monotonic() < next_kill or not further:
                continue
            before, next_kill = now, time.monotonic() + pace * chance.uniform(0.5, 1.5)
            which = chance.randrange(2)
            workers[which].kill()
            workers[which].wait()
            workers[which] = self.start_worker(seconds)
            kills += 1
        while self.held() > 0:  # the last ones have ended, and are being settled
            self.assertLess(time.monotonic(), until, "what has ended is not settled")
        return kills

    def check(self):
        again = 0
        for key, wanted in self.wanted.items():
            begun, ended = [], set()
            for what, n in self.notes(key):
                if what == "end":
                    ended.add(n)
                elif n in begun:
                    again += 1
                else:
                    self.assertTrue(n == 0 or n - 1 in ended, f"{key}: {n} began before {n - 1} had ended")
                    begun.append(n)
            self.assertEqual(begun, wanted, key)
        self.assertEqual(self.run_shove("dlq", "list", "orders", "--json").stdout, b"")
        return again

    @unittest.skipIf(LONG, "the long form runs")
    def test_some_seconds(self):
        self.fill(keys=5, messages=40)
        kills = self.kill_while_they_work(seconds=0.05, pace=0.8, patience=60)
        self.check()
        self.assertGreaterEqual(kills, 2)

    @unittest.skipUnless(LONG, "two minutes: SHOVE_LONG=1")
    def test_two_minutes(self):
        self.fill(keys=20, messages=500)
        kills = self.kill_while_they_work(seconds=0.15, pace=4, patience=900)
        planned = sum(n % 20 == 7 for wanted in self.wanted.values() for n in wanted)
        print(f"{kills} kills; {self.check() - planned} calls made again because of them")
        self.assertGreaterEqual(kills, 10)


if __name__ == "__main__":
    unittest.main()
