"""What the tests of `shove worker` share."""

import json
import os
import signal

from shove_case import ShoveCase, fifo

FAST = ["--hold", "1ms", "--dlq", "--json"]


class WorkerCase(ShoveCase):
    def work_off(self, queue, program, calls, *flags, until=lambda: True):
        """Runs a worker until its program ran `calls` times and `until` is true; gives the counts that it reports."""
        ticks = fifo(self.folder, "ticks")
        worker = self.start("worker", queue, "--exec", f"trap 'echo >&9' EXIT; {program}", *FAST, *flags,
                            **self.pass_ticks(ticks))
        for _ in range(calls):
            self.assertTrue(self.ticks.readline(), "the worker ended")
        while not until():
            self.assertIsNone(worker.poll(), "the worker ended")
        return self.end(worker)

    def pass_ticks(self, path):
        """Descriptor 9 of the programs is the other end of `self.ticks`."""
        read_end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(read_end, True)
        self.ticks = os.fdopen(read_end, "r")
        self.addCleanup(self.ticks.close)
        write_end = os.open(path, os.O_WRONLY)
        self.addCleanup(os.close, write_end)

        def give():
            os.dup2(write_end, 9)

        return {"preexec_fn": give, "pass_fds": (9,)}

    def end(self, worker, code=0, number=signal.SIGTERM):
        worker.send_signal(number)
        out, self.err = self.finish(worker, code)
        return json.loads(out.splitlines()[-1])
