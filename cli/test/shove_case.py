"""What the end-to-end tests of the command share: each runs the built binary in a folder of its own."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "shove"
PATIENCE = 120  # seconds until a command counts as hanging


class ShoveCase(unittest.TestCase):
    """A temporary folder, and short ways to run the command in it."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bodies_sent = set()
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SHOVE_")}
        # No test cuts the power: a confirmation need not wait for the disk.
        self.environment.update({"NO_COLOR": "1", "SHOVE_URL": "sqlite:shove.db?durability=normal"})

    def run_shove(self, *arguments, stdin=b"", code=0, env=None):
        """Runs the command to its end and checks its exit code."""
        done = subprocess.run([BINARY, *arguments], input=stdin, capture_output=True, cwd=self.folder,
                              env={**self.environment, **(env or {})}, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr.decode(errors='replace')}")
        self.expect_no_body_told(done.stderr)
        return done

    def expect_no_body_told(self, err):
        """What messages hold is for stdout and for programs, never for stderr."""
        for body in self.bodies_sent:
            self.assertNotIn(body, err)

    def start(self, *arguments, **options):
        """Starts the command; it is killed with the test. What it says on stderr goes to a file, so that
        nobody has to read along."""
        options.setdefault("stdin", subprocess.DEVNULL)
        told = tempfile.TemporaryFile()
        self.addCleanup(told.close)
        process = subprocess.Popen([BINARY, *arguments], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=told, **options)
        process.told = told

        def end():
            process.kill()
            process.wait()  # not for the end of its output: its programs may hold that open
            for stream in filter(None, (process.stdin, process.stdout)):
                stream.close()

        self.addCleanup(end)
        return process

    def finish(self, process, code=0):
        """Waits for a started command; gives what it wrote."""
        out, _ = process.communicate(timeout=PATIENCE)
        process.told.seek(0)
        err = process.told.read()
        self.assertEqual(process.returncode, code, err.decode(errors="replace"))
        self.expect_no_body_told(err)
        return out, err

    def publish(self, queue, *lines, flags=()):
        """Publishes lines of bytes. From then on those that are unmistakable must not come on stderr."""
        self.bodies_sent.update(line for line in lines if len(line) >= 6 and not line.isalpha() and not line.isdigit())
        return self.run_shove("publish", queue, *flags, stdin=b"".join(line + b"\n" for line in lines))

    def consume(self, queue, count, *flags):
        """Takes exactly so many messages; gives their envelopes."""
        done = self.run_shove("consume", queue, "--count", str(count), "--timeout", "30s", *flags)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(found), count)
        return found

    def counts(self, queue):
        """The queue's line of `shove queues`, its messages at rest."""
        return json.loads(self.run_shove("queues", queue, "--json").stdout)

    def error_of(self, done):
        """The error that a command with --json told of."""
        errors = [json.loads(line) for line in done.stderr.splitlines()]
        return [line["error"] for line in errors if "error" in line][-1]

    def bodies(self, queue, count, *flags):
        return [letter["body"] for letter in self.consume(queue, count, *flags)]


def fifo(folder, name):
    """A named pipe: programs tell through it that they have come to a point."""
    path = folder / name
    os.mkfifo(path)
    return path
