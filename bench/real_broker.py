"""A real broker on loopback, for `make compare BACKEND=...` and `make interop BACKEND=...`."""
import base64
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools/brokers.sh"


class Started:
    """Runs while the `with` block does; one that ran before goes on."""
    kind = ""

    def __enter__(self):
        self.was_up = self._script("status", self.kind, check=False).returncode == 0
        self._script("up", self.kind)
        self.found(dict(re.findall(r"^export (\w+)=(.*)$", self._script("env", self.kind).stdout, re.M)))
        return self

    def __exit__(self, *_):
        if not self.was_up:
            self._script("down", self.kind, check=False)

    def found(self, exports):
        """Takes its address, and tells it the peers in their way."""
        raise NotImplementedError

    def remove(self, *prefixes):
        """Removes what programs that were measured left behind."""

    @staticmethod
    def _script(*words, check=True):
        done = subprocess.run([str(SCRIPT), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check and done.returncode != 0:
            sys.exit(f"tools/brokers.sh {' '.join(words)}: {done.stderr.strip()}")
        return done


class Kafka(Started):
    """Topics that were measured stay until it is wiped: each run has one of its own."""
    kind = "kafka"

    def found(self, exports):
        self.url = exports["SHOVE_TEST_KAFKA"]
        os.environ["KAFKA_BROKERS"] = urllib.parse.urlsplit(self.url).netloc


class RabbitMq(Started):
    kind = "rabbitmq"

    def found(self, exports):
        self.url = exports["SHOVE_TEST_RABBITMQ"]
        parts = urllib.parse.urlsplit(exports["SHOVE_TEST_RABBITMQ_MANAGEMENT"])
        self.user, self.password = parts.username, parts.password
        self.management = f"{parts.scheme}://{parts.hostname}:{parts.port}"
        # The peer's way to be told, and amqp-tools'.
        os.environ["RABBITMQ_URL"] = self.url + "/%2f"
        os.environ["RABBITMQ_MGMT"] = self.management

    def ask(self, path, method="GET", body=None):
        """The management API; nothing where it has no answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.management}/api/{path}", method=method, data=data)
        token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        request.add_header("Authorization", "Basic " + token)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def names(self, kind, prefixes):
        return [one["name"] for one in self.ask(f"{kind}/%2f?columns=name") if one["name"].startswith(tuple(prefixes))]

    def remove(self, *prefixes):
        """Removes the queues and exchanges whose names begin so."""
        for kind in ("queues", "exchanges"):
            for name in self.names(kind, prefixes):
                try:
                    self.ask(f"{kind}/%2f/{urllib.parse.quote(name, safe='')}", "DELETE")
                except urllib.error.HTTPError as e:
                    if e.code != 404:
                        raise


KINDS = {kind.kind: kind for kind in (RabbitMq, Kafka)}
