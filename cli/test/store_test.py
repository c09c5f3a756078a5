"""`shove store`: looks after a file, also one that queues use."""

import json
import sqlite3
import unittest

from shove_case import ShoveCase

RULLST = """
CREATE TABLE rullst_messaging_brokers (namespace TEXT PRIMARY KEY, schema_version, max_retained_messages,
    max_subscriptions, max_attempts, max_payload_bytes);
CREATE TABLE rullst_messaging_storage_profiles (namespace TEXT PRIMARY KEY, profile, key_probe);
CREATE TABLE rullst_messaging_topics (namespace, topic, next_sequence);
CREATE TABLE rullst_messaging_messages (namespace, topic, sequence, message_id, event_kind, content_type, headers_json,
    payload, published_at_ms, idempotency_key, fingerprint);
CREATE TABLE rullst_messaging_subscriptions (namespace, topic, group_name, start_sequence);
CREATE TABLE rullst_messaging_deliveries (namespace, topic, group_name, sequence, state, available_at_ms, attempt,
    ack_token, consumer_name, lease_expires_at_ms, failure_code, dead_lettered_at_ms);
INSERT INTO rullst_messaging_brokers VALUES ('billing', 1, 10000, 128, 5, 1048576);
INSERT INTO rullst_messaging_topics VALUES ('billing', 'events', 2);
INSERT INTO rullst_messaging_messages VALUES ('billing', 'events', 1, 'msg_0123456789abcdef0123456789abcdef', 'event.created',
    'application/json', '{}', CAST('{"id":42}' AS BLOB), 1, 'k',
    x'1516748c475ee84071cc7fef0f1fe61f3764a4e7aac5266a57840a108d5fc38e');
INSERT INTO rullst_messaging_subscriptions VALUES ('billing', 'events', 'mailers', 1);
INSERT INTO rullst_messaging_deliveries VALUES ('billing', 'events', 'mailers', 1, 'pending', 1, 0, NULL, NULL, NULL, NULL, NULL);
"""


class StoreTest(ShoveCase):
    def ask(self, *arguments, code=0):
        done = self.run_shove("store", *arguments, "--json", code=code)
        return [json.loads(line) for line in done.stdout.splitlines()], done

    def imported(self):
        with sqlite3.connect(self.folder / "rullst.db") as file:
            file.executescript(RULLST)
        file.close()
        (report,), _ = self.ask("import", "rullst.db")
        self.assertEqual(report, {"namespaces": 1, "topics": 1, "groups": 1, "messages": 1, "deliveries": 1})

    def test_a_queues_file(self):
        self.publish("orders", b"1", b"2")
        (report,), _ = self.ask("check")
        self.assertEqual(report, {"problems": 0, "messages": 0, "sealed": 0})
        (version,), _ = self.ask("migrate")
        self.assertEqual(version["schema_before"], version["schema_after"])
        (size,), _ = self.ask("compact")
        self.assertGreater(size["bytes_after"], 0)
        self.assertEqual(self.bodies("orders", 2), [1, 2])
        self.assertEqual(self.ask("stats")[0], [])

    def test_an_imported_file(self):
        self.imported()
        (space,), _ = self.ask("stats")
        self.assertEqual((space["namespace"], space["profile"], space["retained"]), ("billing", "plaintext-v1", 1))
        self.assertEqual(space["topics"][0]["groups"], [{"group": "mailers", "pending": 1, "leased": 0, "dead": 0}])
        self.assertIn(b"mailers", self.run_shove("store", "stats").stdout)
        _, done = self.ask("import", "rullst.db", code=1)
        self.assertIn("billing", self.error_of(done)["message"])

    def test_limits(self):
        self.imported()
        (limits,), _ = self.ask("set-limit", "--namespace", "billing", "--retained", "7", "--payload", "100")
        self.assertEqual(limits, {"max_retained": 7, "max_subscriptions": 128, "max_attempts": 5, "max_payload_bytes": 100})
        self.ask("set-limit", "--namespace", "billing", "--attempts", "101", code=1)
        self.ask("set-limit", "--namespace", "nobody", "--attempts", "1", code=1)
        self.run_shove("store", "set-limit", code=2)

    def test_rekey_wants_keys_that_only_their_owner_may_read(self):
        self.imported()
        keys = self.folder / "lease.keys"
        keys.write_text("2026-11:" + "ab" * 32)
        keys.chmod(0o640)
        done = self.run_shove("store", "rekey", "--keys", str(keys), code=2)
        self.assertIn(b"chmod 600", done.stderr)
        self.assertNotIn(b"abab", done.stderr)
        keys.chmod(0o600)
        (report,), _ = self.ask("rekey", "--keys", str(keys))
        self.assertEqual(report, {"namespaces": 0, "records": 0}, "a plain namespace is passed over")
        self.run_shove("store", "rekey", code=2)

    def test_damage(self):
        self.imported()
        with sqlite3.connect(self.folder / "shove.db") as file:
            file.execute("UPDATE lease_message SET content = ?", (b"\0\0\0\2{}SECRET-other",))
        file.close()
        (report,), done = self.ask("check", code=1)
        self.assertEqual(report["problems"], 2)  # its size is not what was counted, either
        self.assertIn("message 1", done.stderr.decode())
        self.assertNotIn("SECRET", done.stderr.decode())

    def test_mistakes(self):
        self.run_shove("store", "check", code=1)  # there is no file
        self.run_shove("store", "check", "--url", "memory:", code=2)
        self.run_shove("store", "import", code=2)
        (self.folder / "text.db").write_text("this is no database, and longer than a header of one would be" * 20)
        self.run_shove("store", "check", "--url", "sqlite:text.db", code=1)
        self.run_shove("store", "import", "text.db", code=1)


if __name__ == "__main__":
    unittest.main()
