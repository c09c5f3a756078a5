"""worker: exit codes, environment, bodies, timeouts of whole groups, drains."""

import json
import os
import pathlib
import select
import signal
import socket
import time
import unittest
import urllib.request

from shove_case import fifo
from worker_case import FAST, WorkerCase


class ExitCodes(WorkerCase):
    def test_zero_acks(self):
        self.publish("q", b"1", b"2", b"3")
        counts = self.work_off("q", "cat > /dev/null", 3)
        self.assertEqual((counts["acked"], counts["retried"], counts["dead_lettered"]), (3, 0, 0))
        self.assertEqual(self.counts("q")["ready"], 0)

    def test_65_rejects_with_the_last_line_as_reason(self):
        self.publish("q", b"1")
        self.work_off("q", "echo first >&2; echo 'bad record' >&2; exit 65", 1)
        (dead,) = self.consume("q", 1, "--dead")
        self.assertEqual(dead["death"]["reason"], "rejected")
        self.assertEqual(dead["death"]["last_error"], "exited with 65: bad record")
        self.assertIn(b"bad record", self.err)

    def test_75_and_others_retry(self):
        for queue, program, text in [("a", "exit 75", "exited with 75"), ("b", "exit 1", "exited with 1"),
                                     ("c", "kill -9 $$", "killed by SIGKILL"), ("d", "exit 127", "exited with 127")]:
            self.publish(queue, b"1")
            ticks = ("echo >&9; " if "kill" in program else "") + program
            os.path.exists(self.folder / "ticks") and os.unlink(self.folder / "ticks")
            counts = self.work_off(queue, ticks, 3, "--max-retries", "2")
            self.assertEqual((counts["retried"], counts["dead_lettered"]), (2, 1))
            (dead,) = self.consume(queue, 1, "--dead")
            self.assertEqual(dead["death"]["last_error"], text)
            self.assertEqual(dead["death"]["reason"], "max_retries_exceeded")

    def test_76_defers_at_no_cost(self):
        self.publish("q", b"1")
        counts = self.work_off("q", 'test "$SHOVE_ATTEMPT" = 1 || exit 65; exit 76', 5, "--max-retries", "0",
                               "--concurrency", "1")
        self.assertGreaterEqual(counts["deferred"], 5)
        self.assertEqual(counts["dead_lettered"], 0)


class Metrics(WorkerCase):
    def test_served_while_it_runs(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.publish("q", b"1", b"2", b"3")
        worker = self.start("worker", "q", "--dlq", "--exec", "cat > /dev/null", "--metrics", f"127.0.0.1:{port}")
        wanted = 'shove_messages_consumed_total{topic="q",consumer_group="default",outcome="ack"} 3\n'
        until = time.monotonic() + 60
        text = ""
        while wanted not in text:
            self.assertLess(time.monotonic(), until, text)
            try:
                text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
            except OSError:
                time.sleep(0.05)  # real time: the worker begins
        worker.send_signal(signal.SIGTERM)
        self.finish(worker)

    def test_an_address_that_means_nothing(self):
        done = self.run_shove("worker", "q", "--exec", "true", "--metrics", "9464", code=2)
        self.assertIn(b"host:port", done.stderr)


class Surroundings(WorkerCase):
    def test_environment(self):
        self.publish("q", json.dumps({"id": "i-1", "key": "k é", "type": "t", "headers": {"a": 1, "b": "x'\"$"},
                                      "body": 1}).encode(), flags=["--envelope"])
        self.environment["SHOVE_KEY"] = "stale"
        self.environment["OTHER"] = "kept"
        self.work_off("q", "env -0 > env", 1)
        found = dict(item.split("=", 1) for item in (self.folder / "env").read_text().split("\0") if "=" in item)
        self.assertEqual(found["SHOVE_ID"], "i-1")
        self.assertEqual(found["SHOVE_QUEUE"], "q")
        self.assertEqual(found["SHOVE_ATTEMPT"], "1")
        self.assertEqual(found["SHOVE_KEY"], "k é")
        self.assertEqual(json.loads(found["SHOVE_HEADERS"]), {"a": 1, "b": "x'\"$"})
        self.assertEqual(found["SHOVE_TYPE"], "t")
        self.assertEqual(found["OTHER"], "kept")

    def test_no_key_means_no_variable(self):
        self.publish("q", b"1")
        self.environment["SHOVE_KEY"] = "stale"
        self.work_off("q", "env > env", 1)
        text = (self.folder / "env").read_text()
        self.assertNotIn("SHOVE_KEY", text)
        self.assertIn("SHOVE_HEADERS={}", text)

    def test_headers_too_large_for_a_variable_come_by_file(self):
        headers = {"big": "x" * 200_000}
        self.publish("q", json.dumps({"headers": headers, "body": 1}).encode(), flags=["--envelope"])
        self.work_off("q", 'test -z "$SHOVE_HEADERS"; cat "$SHOVE_HEADERS_FILE" > headers', 1)
        self.assertEqual(json.loads((self.folder / "headers").read_text()), headers)

    def test_largest_key(self):
        self.publish("q", json.dumps({"key": "k" * 65_535, "body": 1}).encode(), flags=["--envelope"])
        self.work_off("q", "printf %s \"$SHOVE_KEY\" | wc -c > size", 1)
        self.assertEqual(int((self.folder / "size").read_text()), 65_535)

    def test_zero_bytes_in_a_key(self):
        self.publish("q", b'{"key":"a\\u0000b","body":1}', flags=["--envelope"])
        self.work_off("q", 'echo "$SHOVE_KEY_BASE64" > key', 1)
        self.assertEqual((self.folder / "key").read_text(), "YQBi\n")

    def test_large_body_read_or_not(self):
        body = os.urandom(1_500_000)
        self.run_shove("publish", "q", "--whole", stdin=body)
        self.work_off("q", "cat > body", 1)
        self.assertEqual((self.folder / "body").read_bytes(), body)
        os.unlink(self.folder / "ticks")
        self.run_shove("publish", "q", "--whole", stdin=body)
        self.assertEqual(self.work_off("q", "exit 0", 1)["acked"], 1)

    def test_program_that_talks_much(self):
        self.publish("q", b"1")
        counts = self.work_off("q", "head -c 3000000 /dev/zero | tr '\\0' 'x' >&2; echo >&2; echo last >&2; exit 65", 1)
        self.assertEqual(counts["dead_lettered"], 1)
        (dead,) = self.consume("q", 1, "--dead")
        self.assertEqual(dead["death"]["last_error"], "exited with 65: last")

    def test_nothing_leaks_into_programs(self):
        self.publish("q", *[b"%d" % n for n in range(30)])
        self.work_off("q", "ls /proc/self/fd | wc -l >> fds", 30, "--concurrency", "3")
        counts = [int(line) for line in (self.folder / "fds").read_text().split()]
        self.assertEqual(len(counts), 30)
        self.assertLessEqual(max(counts), 6)  # 0, 1, 2, the test's own 9, and what ls opens

    def test_signals_are_at_their_defaults(self):
        self.publish("q", b"1")
        self.work_off("q", "grep -E '^Sig(Blk|Ign)' /proc/self/status > signals", 1)
        for line in (self.folder / "signals").read_text().splitlines():
            mask = int(line.split()[1], 16)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGHUP):
                self.assertFalse(mask & (1 << (number - 1)), line)

    def test_programs_run_side_by_side(self):
        self.publish("q", *[b"%d" % n for n in range(4)])
        gate = fifo(self.folder, "gate")
        ticks = fifo(self.folder, "ticks")
        worker = self.start("worker", "q", "--exec", "echo >&9; read go < gate", *FAST, "--concurrency", "4",
                            **self.pass_ticks(ticks))
        for _ in range(4):  # all four have begun before any may end
            self.assertTrue(self.ticks.readline())
        with open(gate, "w") as opened:
            opened.write("go\n" * 4)
            opened.flush()
            counts = self.end(worker)
        self.assertEqual(counts["acked"], 4)


class Endings(WorkerCase):
    def wait_gone(self, group_file):
        """A process group that was killed is soon empty; zombies of its own count until they are reaped."""
        members = [int(word) for word in group_file.read_text().split()]
        for pid in members:
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                self.assertTrue(select.select([descriptor], [], [], 30)[0], f"process {pid} lives on")
            finally:
                os.close(descriptor)

    def test_timeout_kills_the_whole_group(self):
        self.publish("q", b"1", flags=["--dlq"])
        program = "trap '' TERM; (trap '' TERM; echo $$ >> pids; sleep 1000) & echo $! >> pids; echo >&9; wait"
        ticks = fifo(self.folder, "ticks")
        worker = self.start("worker", "q", "--exec", program, *FAST, "--timeout", "300ms", "--grace", "200ms",
                            "--max-retries", "0", **self.pass_ticks(ticks))
        self.assertTrue(self.ticks.readline())
        (dead,) = self.consume("q", 1, "--dead")
        self.assertEqual(dead["death"]["last_error"], "timed out after 300ms, killed by SIGKILL")
        self.wait_gone(self.folder / "pids")
        self.assertEqual(self.end(worker)["timeouts"], 1)

    def test_program_that_obeys_term_is_retried_too(self):
        self.publish("q", b"1", flags=["--dlq"])
        program = "trap 'echo bye >&2; exit 0' TERM; sleep 1000 & wait"
        worker = self.start("worker", "q", "--exec", program, *FAST, "--timeout", "300ms", "--max-retries", "0")
        (dead,) = self.consume("q", 1, "--dead")
        self.assertEqual(dead["death"]["last_error"], "timed out after 300ms, exited with 0: bye")
        self.end(worker)

    def test_sigterm_lets_programs_finish(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.publish("q", b"1", flags=["--dlq"])
            for name in ("ticks", "gate"):
                (self.folder / name).unlink(missing_ok=True)
            gate, ticks = fifo(self.folder, "gate"), fifo(self.folder, "ticks")
            worker = self.start("worker", "q", "--exec", "echo >&9; read go < gate", *FAST, **self.pass_ticks(ticks))
            self.assertTrue(self.ticks.readline())
            worker.send_signal(number)
            with open(gate, "w") as opened:
                opened.write("go\n")
            out, _ = self.finish(worker)
            self.assertEqual(json.loads(out)["acked"], 1)

    def test_drain_deadline_ends_programs_at_no_cost(self):
        self.publish("q", b"1", flags=["--dlq"])
        ticks = fifo(self.folder, "ticks")
        worker = self.start("worker", "q", "--exec", "echo $$ > pids; echo >&9; exec sleep 1000", *FAST, "--drain", "200ms",
                            "--timeout", "none", **self.pass_ticks(ticks))
        self.assertTrue(self.ticks.readline())
        counts = self.end(worker, code=3)
        self.assertEqual(counts["deferred"], 1)
        self.wait_gone(self.folder / "pids")
        (letter,) = self.consume("q", 1)
        self.assertEqual(letter["attempt"], 1)

    def test_second_signal_ends_programs_now(self):
        self.publish("q", b"1", flags=["--dlq"])
        ticks = fifo(self.folder, "ticks")
        worker = self.start("worker", "q", "--exec", "trap 'exit 0' TERM; echo >&9; sleep 1000 & wait", *FAST, "--drain",
                            "10m", "--timeout", "none", **self.pass_ticks(ticks))
        self.assertTrue(self.ticks.readline())
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            worker.send_signal(number)
            time.sleep(0.25)  # real time: signals closer than 0.2 s are one
        worker.communicate(timeout=30)
        self.assertIn(worker.returncode, (0, 3))
        self.assertEqual(self.consume("q", 1)[0]["attempt"], 1)

    def test_no_zombies(self):
        self.publish("q", *[b"%d" % n for n in range(20)])
        ticks = fifo(self.folder, "ticks")
        worker = self.start("worker", "q", "--exec", "trap 'echo >&9' EXIT; true", *FAST, "--concurrency", "1",
                            **self.pass_ticks(ticks))
        for _ in range(20):
            self.assertTrue(self.ticks.readline())
        zombies = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            zombies += fields[0] == "Z" and int(fields[1]) == worker.pid
        self.assertLessEqual(zombies, 1)  # the last one may just be ending
        self.end(worker)


if __name__ == "__main__":
    unittest.main()
