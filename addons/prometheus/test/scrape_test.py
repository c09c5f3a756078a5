"""A real Prometheus scrapes a worker: scrape_test.py WORKER PROMETHEUS PROMTOOL"""
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

WORKER, SERVER, PROMTOOL = sys.argv[1:4]
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "guide" / "metrics.md"


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def documented():
    """Name to labels, of the guide's table."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w, ]+) \|", GUIDE.read_text(), re.M)
    return {"shove_" + name: (kind, labels.split(", ")) for name, kind, labels in rows}


class Scrape(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = subprocess.Popen([WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.port = int(cls.worker.stdout.readline())
        cls.folder = tempfile.TemporaryDirectory()
        config = pathlib.Path(cls.folder.name) / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s}\n"
            f"rule_files: ['{DATA}/alerts.yml']\n"
            "scrape_configs:\n"
            "  - job_name: shove\n"
            f"    static_configs: [{{targets: ['127.0.0.1:{cls.port}']}}]\n")
        cls.api_port = free_port()
        cls.server = subprocess.Popen(
            [SERVER, f"--config.file={config}", f"--storage.tsdb.path={cls.folder.name}/data",
             f"--web.listen-address=127.0.0.1:{cls.api_port}", "--log.level=error"])
        cls.ledger = json.loads(cls.worker.stdout.readline())
        cls.text = fetch(f"http://127.0.0.1:{cls.port}/metrics")

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait(20)
        cls.worker.communicate(timeout=20)
        assert cls.worker.returncode == 0, cls.worker.returncode
        cls.folder.cleanup()

    def query(self, expression):
        url = f"http://127.0.0.1:{self.api_port}/api/v1/query?query=" + urllib.parse.quote(expression)
        return json.loads(fetch(url))["data"]["result"]

    def wait_value(self, expression, wanted):
        """Until the server has scraped that."""
        seen = None
        for _ in range(100):
            try:
                result = self.query(expression)
            except OSError:
                result = []
            seen = float(result[0]["value"][1]) if result else None
            if seen == wanted:
                return
            time.sleep(0.2)  # real time: the server scrapes each second
        self.fail(f"{expression} is {seen}, the ledger says {wanted}")

    def test_promtool_accepts_the_text(self):
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=self.text, text=True, capture_output=True)
        told = [line for line in (done.stdout + done.stderr).splitlines() if "shove" in line]
        self.assertEqual((done.returncode, told), (0, []))

    def test_every_family_is_there_with_its_labels(self):
        for name, (kind, labels) in documented().items():
            self.assertIn(f"# TYPE {name} {kind}\n", self.text)
            sample = re.search(rf"^{name}(?:_count)?\{{(.*?)\}} ", self.text, re.M)
            self.assertIsNotNone(sample, name)
            names = re.findall(r'(\w+)="', sample[1])
            self.assertEqual([n for n in names if n != "le"], labels, name)

    def test_the_server_counts_as_the_ledger_does(self):
        of = 'topic="orders",consumer_group="default"'
        book = self.ledger
        self.wait_value(f'shove_messages_consumed_total{{{of},outcome="ack"}}', book["acked"])
        self.wait_value(f'shove_messages_consumed_total{{{of},outcome="retry"}}', book["retried"])
        self.wait_value(f'shove_messages_consumed_total{{{of},outcome="reject"}}', book["rejected"])
        self.wait_value(f'shove_messages_consumed_total{{{of},outcome="defer"}}', book["deferred"])
        self.wait_value(f'shove_messages_failed_total{{{of},reason="rejected"}}', book["rejected"])
        self.wait_value('shove_messages_discarded_total{topic="lossy",consumer_group="default",reason="rejected"}',
                        book["discarded"])
        self.wait_value('shove_messages_published_total{topic="orders",outcome="success"}', book["published"])
        self.wait_value(f'shove_message_processing_duration_seconds_count{{{of},outcome="ack"}}', book["acked"])
        calls = book["acked"] + book["retried"] + book["rejected"] + book["deferred"]
        self.wait_value(f"shove_message_size_bytes_count{{{of}}}", calls)
        self.wait_value('shove_queue_dead_letters{topic="orders"}', book["rejected"])
        self.wait_value('shove_queue_backlog{topic="orders"}', 0)
        self.wait_value(f"shove_messages_inflight{{{of}}}", 0)
        self.wait_value('shove_audit_records_total{backend="inprocess",result="written"}', book["audited"])
        self.assertEqual(book["audited"], calls + book["discarded"])

    def test_rules_and_dashboard_name_what_is_there(self):
        done = subprocess.run([PROMTOOL, "check", "rules", str(DATA / "alerts.yml")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        known = set()
        for name, (kind, _) in documented().items():
            known |= {name + s for s in ("_bucket", "_count", "_sum")} if kind == "histogram" else {name}
        dashboard = json.loads((DATA / "dashboard.json").read_text())
        expressions = [t["expr"] for p in dashboard["panels"] for t in p.get("targets", [])]
        self.assertGreater(len(expressions), 20)
        for text in [*expressions, (DATA / "alerts.yml").read_text()]:
            for name in re.findall(r"\bshove_\w+", text):
                self.assertIn(name, known)
        for expression in expressions:
            plain = expression.replace("$__rate_interval", "1m").replace("$topic", ".*")
            self.query(plain)  # an error of syntax raises


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
