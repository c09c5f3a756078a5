"""The command on a RabbitMQ that stops, is killed, or loses a queue. Needs SHOVE_TEST_BROKERS, the path of tools/brokers.sh."""

import json
import os
import re
import secrets
import signal
import subprocess
import time
import unittest
import urllib.request

from shove_case import ShoveCase

BROKERS = os.environ["SHOVE_TEST_BROKERS"]
NAME = "rabbitmq-faults"


def control(command, *arguments):
    return subprocess.run([BROKERS, command, NAME, *arguments], check=True, capture_output=True, text=True).stdout


class RabbitMq(ShoveCase):
    def setUp(self):
        super().setUp()
        control("restore")
        told = subprocess.run([BROKERS, "env"], check=True, capture_output=True, text=True).stdout
        address = {name: re.search(rf"SHOVE_TEST_RABBITMQ_FAULTS{name}='?(\S*?)'?$", told, re.M)[1] for name in ("", "_MANAGEMENT")}
        self.management = address["_MANAGEMENT"].replace("guest:guest@", "")
        self.host = "test-" + secrets.token_hex(6)
        self.ask("PUT", f"vhosts/{self.host}")
        self.addCleanup(self.ask, "DELETE", f"vhosts/{self.host}")
        self.ask("PUT", f"permissions/{self.host}/guest", {"configure": ".*", "write": ".*", "read": ".*"})
        self.environment["SHOVE_URL"] = f"{address['']}/{self.host}?management={self.management}"

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"{self.management}/api/{path}", method=method,
                                         data=json.dumps(body or {}).encode(), headers={"content-type": "application/json"})
        request.add_header("authorization", "Basic Z3Vlc3Q6Z3Vlc3Q=")  # guest:guest
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def lines(self, name="done"):
        path = self.folder / name
        return path.read_text().split() if path.exists() else []

    def wait_until(self, holds, what, patience=60):
        until = time.monotonic() + patience
        while not holds():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.02)  # real time: a look now and then

    def end(self, worker):
        worker.send_signal(signal.SIGTERM)
        out, err = self.finish(worker)
        return json.loads(out), err.decode()

    def test_a_worker_goes_on_after_restarts_of_the_server(self):
        layout = ["--hold", "1s", "--dlq"]
        worker = self.start("worker", "orders", *layout, "--exec", 'read -r n; echo "$n" >> done', "--json")

        def pass_on(first):
            self.publish("orders", *(b"%d" % n for n in range(first, first + 20)), flags=layout)
            wanted = {str(n) for n in range(first, first + 20)}
            self.wait_until(lambda: wanted <= set(self.lines()), f"{wanted - set(self.lines())} to be handled")

        pass_on(0)
        control("stop-app")
        control("start-app")
        pass_on(20)
        control("flush")
        control("kill")
        control("up")
        pass_on(40)
        counts, err = self.end(worker)
        self.assertEqual((counts["dead_lettered"], counts["discarded"], counts["left"]), (0, 0, 0), counts)
        self.assertLessEqual(err.count("warning"), 6, err)  # said once for each outage, not again and again

    def test_a_publisher_is_told_that_its_queue_is_gone(self):
        publisher = self.start("publish", "orders", "--dlq", "--json", stdin=subprocess.PIPE)
        publisher.stdin.write(b"1\n")
        publisher.stdin.flush()
        self.wait_until(lambda: self.ready("orders") == 1, "the first message")
        self.ask("DELETE", f"queues/{self.host}/orders")
        publisher.stdin.write(b"2\n")
        publisher.stdin.flush()
        out, err = publisher.communicate(timeout=60)
        publisher.told.seek(0)
        err = publisher.told.read().decode()
        self.assertEqual(publisher.returncode, 1, err)
        self.assertEqual([json.loads(out)[name] for name in ("published", "failed")], [1, 1])
        self.assertIn("unroutable", err)

    def ready(self, queue):
        return self.count(queue, "messages_ready")

    def count(self, queue, what):
        """Asked in the node itself: the management interface is behind. -1: there is no such queue."""
        code = f'case rabbit_amqqueue:lookup(rabbit_misc:r(<<"{self.host}">>, queue, <<"{queue}">>)) of ' \
               f"{{ok, Q}} -> [{{_, N}}] = rabbit_amqqueue:info(Q, [{what}]), N; _ -> -1 end"
        return int(control("eval", code))

    def test_an_error_of_a_mebibyte_is_cut(self):
        layout = ["--hold", "1s", "--dlq"]
        self.publish("orders", b"1", flags=layout)
        noise = 'head -c 1048576 /dev/zero | tr "\\0" x >&2; exit 65'
        worker = self.start("worker", "orders", *layout, "--exec", noise, "--json")
        self.wait_until(lambda: self.ready("orders-dlq") == 1, "the dead letter")
        counts, _ = self.end(worker)
        self.assertEqual((counts["calls"], counts["dead_lettered"]), (1, 1))
        (letter,) = map(json.loads, self.run_shove("dlq", "list", "orders", "--json").stdout.splitlines())
        self.assertTrue(letter["death"]["last_error"].startswith("exited with 65: x"))
        self.assertLess(len(letter["death"]["last_error"]), 10_000)

    def test_a_key_that_waits_goes_on_where_its_worker_was_killed(self):
        """Its successor has the other keys at once, and the waiting one at its time, with count and order."""
        layout = ["--sequenced", "skip", "--shards", "1", "--hold", "6s", "--dlq"]
        program = 'read -r n; echo "$SHOVE_KEY $n $SHOVE_ATTEMPT $(date +%s.%N)" | tr " " : >> done; ' \
                  'test "$n $SHOVE_ATTEMPT" = "1 1" && exit 75; exit 0'
        self.publish("orders", b'{"key":"waits","body":1}', b'{"key":"waits","body":2}', flags=["--envelope", *layout])
        first = self.start("worker", "orders", *layout, "--concurrency", "4", "--exec", program, "--json")
        self.wait_until(lambda: len(self.lines()) == 1, "the first call")
        # Who has the shard, and what waits.
        self.wait_until(lambda: self.count("orders-seq-0-state", "messages_unacknowledged") == 2, "the wait to be noted")
        first.kill()
        first.wait()
        killed = time.time()
        self.publish("orders", *(b'{"key":"k%d","body":1}' % n for n in range(5)), flags=["--envelope", *layout])
        second = self.start("worker", "orders", *layout, "--concurrency", "4", "--exec", program, "--json")
        self.wait_until(lambda: len(self.lines()) == 8, "all calls")
        self.end(second)
        calls = [line.split(":") for line in self.lines()]
        self.assertEqual([call[:3] for call in calls if call[0] == "waits"], [["waits", "1", "1"], ["waits", "1", "2"], ["waits", "2", "1"]])
        at = {tuple(call[:3]): float(call[3]) for call in calls}
        self.assertGreaterEqual(at["waits", "1", "2"] - at["waits", "1", "1"], 6)
        for n in range(5):
            self.assertLess(at[f"k{n}", "1", "1"], at["waits", "1", "2"])
            self.assertLess(at[f"k{n}", "1", "1"] - killed, 4)


if __name__ == "__main__":
    unittest.main()
