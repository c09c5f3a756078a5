"""The programs that exchange messages, each behind a few calls."""
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path


class Failed(Exception):
    """A program ended in another way than asked for."""


def run(command, text=None, env=None, codes=(0,), timeout=90):
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(env or {})})
    if done.returncode not in codes:
        words = " ".join(str(word) for word in command[1:8])
        raise Failed(f"{command[0].name if hasattr(command[0], 'name') else command[0]} {words}: exit {done.returncode}: "
                     f"{(done.stderr or done.stdout).strip()[-300:]}")
    return done


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def order(prefix, number, key="k0"):
    """The message of the peer's interop topics."""
    return {"order_id": f"{prefix}-{number}", "amount": 10.5 + number, "key": key}


class Ours:
    """The command `shove`."""
    name = "shove"
    PLAIN = ["--hold", "1s,2s", "--dlq"]
    SEQUENCED = [*PLAIN, "--sequenced", "skip", "--shards", "4", "--key-field", "key"]

    def __init__(self, program, url, management=""):
        self.program = program
        self.env = {"SHOVE_URL": f"{url}?queues=classic" + (f"&management={management}" if management else "")}
        self.quorum = {"SHOVE_URL": url + "?queues=quorum"}

    @staticmethod
    def layout(sequenced):
        return Ours.SEQUENCED if sequenced else Ours.PLAIN

    def publish(self, queue, orders, *flags, sequenced=False):
        text = "".join(json.dumps(one) + "\n" for one in orders)
        run([self.program, "publish", queue, *self.layout(sequenced), *flags], text, self.env)
        return [one["order_id"] for one in orders]

    def declare(self, queue, quorum=False, codes=(0,)):
        """Publishing nothing declares."""
        return run([self.program, "publish", queue, *self.PLAIN], "", self.quorum if quorum else self.env, codes)

    def consume(self, queue, count, *flags, sequenced=False, timeout=20):
        done = run([self.program, "consume", queue, "--count", count, "--timeout", f"{timeout}s", *self.layout(sequenced), *flags],
                   "", self.env, codes=(0, 3))
        return json_lines(done.stdout)

    def dead_letters(self, queue):
        """What `dlq list` shows; it takes nothing."""
        return json_lines(run([self.program, "dlq", "list", queue, "--json"], env=self.env).stdout)

    def replay(self, queue, *flags):
        """How many `dlq replay` has published again."""
        return json_lines(run([self.program, "dlq", "replay", queue, "--json", *flags], env=self.env).stdout)[0]["replayed"]

    def work(self, queue, program, calls, sequenced=False, patience=30):
        """`shove worker` until its program has run so often; gives the lines that the programs wrote to $NOTES,
        and the worker's counts."""
        with tempfile.TemporaryDirectory() as folder:
            notes = Path(folder) / "notes"
            notes.touch()
            worker = subprocess.Popen([str(self.program), "worker", queue, *self.layout(sequenced), "--json", "--exec", program],
                                      env={**os.environ, **self.env, "NOTES": str(notes)}, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True)
            until = time.monotonic() + patience
            while len(notes.read_text().splitlines()) < calls and time.monotonic() < until:
                time.sleep(0.05)  # real time: a look now and then
            worker.terminate()
            text, _ = worker.communicate(timeout=60)
            return notes.read_text().splitlines(), json_lines(text)[0]

    def start_consumer(self, queue, *flags):
        """One that goes on until it is ended; its lines come from `communicate`."""
        return subprocess.Popen([str(self.program), "consume", queue, *self.PLAIN, *flags], env={**os.environ, **self.env},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Peer:
    """The Rust crate, behind `rust-peer`."""
    name = "rust"

    def __init__(self, program, backend):
        self.program, self.backend = program, ["--backend", backend]

    def publish(self, queue, count, *flags, prefix="rust"):
        done = run([self.program, "publish", *self.backend, "--queue", queue, "--count", count, "--prefix", prefix, *flags])
        return json_lines(done.stdout)[0]["ids"]

    def consume(self, queue, count, *flags, timeout=20, codes=(0, 3)):
        done = run([self.program, "consume", *self.backend, "--queue", queue, "--count", count, "--timeout", timeout, *flags],
                   codes=codes)
        return [line for line in json_lines(done.stdout) if line["event"] in ("message", "dead")]

    def start_consumer(self, queue, count, *flags):
        return subprocess.Popen([str(self.program), "consume", *self.backend, "--queue", queue, "--count", str(count), *flags],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class AmqpTools:
    """Debian's amqp-publish, amqp-get and amqp-consume."""
    name = "amqp-tools"

    def __init__(self, url):
        self.at = ["--url", url + "/%2f"]

    def publish(self, queue, body, *flags):
        run(["amqp-publish", *self.at, "-r", queue, "-b", body, *flags])

    def get(self, queue):
        return run(["amqp-get", *self.at, "-q", queue], codes=(0, 2)).stdout

    def consume(self, queue, count):
        """The JSON of so many bodies; it prints them without anything between."""
        text, values = run(["amqp-consume", *self.at, "-q", queue, "-c", count, "cat"]).stdout, []
        while text:
            value, end = json.JSONDecoder().raw_decode(text)
            values.append(value)
            text = text[end:].lstrip()
        return values


def ids_of(lines):
    """The order ids in what either side has printed of its messages."""
    bodies = [line["payload"] if "payload" in line else line["body"] for line in lines]
    return [body["order_id"] for body in bodies]


def keys_of(lines):
    return [(line["payload"] if "payload" in line else line["body"])["key"] for line in lines]
