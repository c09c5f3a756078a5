"""Exchanges with the Rust peer. Each function is a case: it gives the rows of the table that it has filled."""
import json
import time

from checks import Row, fresh, per_key
from sides import ids_of, keys_of, order

COUNT = 20


def orders(count, prefix="cpp", keys=1):
    return [order(prefix, i, f"k{i % keys}") for i in range(count)]


def message_id(line):
    """As each side shows it."""
    return line["id"] if "id" in line else line["headers"].get("x-message-id")


def plain(ours, peer):
    there, back = Row("plain", "shove -> rust", COUNT), Row("plain", "rust -> shove", COUNT)
    queue = fresh("plain")
    sent = ours.publish(queue, orders(COUNT))
    got = peer.consume(queue, COUNT)
    there.received = len(got)
    there.expect("ids, in order", ids_of(got), sent)
    there.expect("message ids", len({message_id(line) for line in got} - {None}), COUNT)
    queue = fresh("plain")
    sent = peer.publish(queue, COUNT)
    lines = ours.consume(queue, COUNT)
    back.received = len(lines)
    back.expect("ids, in order", ids_of(lines), sent)
    back.expect("message ids", len({line["id"] for line in lines} - {""}), COUNT)
    back.expect("attempts", {line["attempt"] for line in lines}, {1})
    return [there, back]


def with_headers(ours, peer):
    wanted = {"source": "import", "x-trace-id": "Zürich ☃", "empty": ""}
    there, back = Row("headers", "shove -> rust", 1), Row("headers", "rust -> shove", 1)
    flags = [word for name, value in wanted.items() for word in ("--header", f"{name}={value}")]
    queue = fresh("headers")
    ours.publish(queue, orders(1), *flags)
    got = peer.consume(queue, 1)
    there.received = len(got)
    there.expect("headers", {k: v for k, v in got[0]["headers"].items() if k in wanted}, wanted)
    queue = fresh("headers")
    peer.publish(queue, 1, *flags)
    lines = ours.consume(queue, 1)
    back.received = len(lines)
    back.expect("headers", lines[0]["headers"], wanted)
    return [there, back]


HELD = ["--header", "x-trace-id=t-1", "--header", "colour=red"]


def retried_by_peer(ours, peer):
    """The peer parks a copy in the hold queue; it comes back to us. It keeps x-trace-… and x-request-… only."""
    row = Row("retry", "shove -> rust (retry) -> shove", 1)
    queue = fresh("retry")
    ours.publish(queue, orders(1), *HELD)
    first = peer.consume(queue, 1, "--outcome", "retry")
    lines = ours.consume(queue, 1)
    row.received = len(lines)
    row.expect("attempt", [line["attempt"] for line in lines], [2])
    row.expect("message id", message_id(lines[0]), message_id(first[0]))
    row.expect("x-trace-id", lines[0]["headers"].get("x-trace-id"), "t-1")
    row.note = "the peer drops other headers: " + ("yes" if "colour" not in lines[0]["headers"] else "no")
    return [row]


def retried_by_us(ours, peer):
    row = Row("retry", "rust -> shove (retry) -> rust", 1)
    queue = fresh("retry")
    peer.publish(queue, 1, *HELD)
    first = ours.consume(queue, 1, "--outcome", "retry", "--reason", "not now")
    got = peer.consume(queue, 1)
    row.received = len(got)
    row.expect("retry_count", [line["retry_count"] for line in got], [1])
    row.expect("message id", message_id(got[0]), message_id(first[0]))
    row.expect("headers", {k: got[0]["headers"].get(k) for k in ("x-trace-id", "colour")}, {"x-trace-id": "t-1", "colour": "red"})
    return [row]


def retried_in_turn(ours, peer):
    """Two copies by each side in turn: the count goes on, and so does the id."""
    row = Row("retry", "rust, shove, rust, shove", 1)
    queue = fresh("retry")
    peer.publish(queue, 1)
    seen = []
    for turn in range(2):
        got = peer.consume(queue, 1, "--outcome", "retry")
        seen += [(line["retry_count"] + 1, message_id(line)) for line in got]
        lines = ours.consume(queue, 1, "--outcome", "retry" if turn == 0 else "ack")
        seen += [(line["attempt"], message_id(line)) for line in lines]
    row.received = len(seen)
    row.expect("attempts", [attempt for attempt, _ in seen], [1, 2, 3, 4])
    row.expect("ids", len({one for _, one in seen}), 1)
    return [row]


def deferred(ours, peer):
    rows = []
    for way, sides in (("shove -> rust (defer) -> shove", "rust"), ("rust -> shove (defer) -> rust", "shove")):
        row = Row("defer", way, 1)
        queue = fresh("defer")
        if sides == "rust":
            ours.publish(queue, orders(1))
            peer.consume(queue, 1, "--outcome", "defer")
            lines = ours.consume(queue, 1)
            row.expect("attempt", [line["attempt"] for line in lines], [1])
        else:
            peer.publish(queue, 1)
            ours.consume(queue, 1, "--outcome", "defer")
            lines = peer.consume(queue, 1)
            row.expect("retry_count", [line["retry_count"] for line in lines], [0])
        row.received = len(lines)
        rows.append(row)
    return rows


def dead_by_peer(ours, peer):
    row = Row("dead letter", "shove -> rust (reject) -> shove --dead", 1)
    queue = fresh("dead")
    sent = ours.publish(queue, orders(1), "--header", "colour=red")
    peer.consume(queue, 1, "--outcome", "reject")
    lines = ours.consume(queue, 1, "--dead")
    row.received = len(lines)
    row.expect("id", ids_of(lines), sent)
    death = lines[0]["death"]
    row.expect("death", (death["reason"], death["original_queue"], death["count"]), ("rejected", queue, 1))
    row.expect("header", lines[0]["headers"].get("colour"), "red")
    return [row]


def dead_by_us(ours, peer):
    row = Row("dead letter", "rust -> shove (reject) -> rust --dlq", 1)
    queue = fresh("dead")
    sent = peer.publish(queue, 1, "--header", "colour=red")
    ours.consume(queue, 1, "--outcome", "reject", "--reason", "bad record")
    got = peer.consume(queue, 1, "--dlq")
    row.received = len(got)
    row.expect("id", ids_of(got), sent)
    row.expect("death", tuple(got[0][name] for name in ("reason", "original_queue", "death_count")), ("rejected", queue, 1))
    row.expect("header", got[0]["headers"].get("colour"), "red")
    return [row]


def replayed(ours, peer):
    """Dead letters of the peer are listed and published again: the peer reads them, with a count that begins anew."""
    listed, row = Row("dlq list", "shove -> rust (reject) -> shove dlq list", 2), Row("dlq replay", "rust -> rust (reject) -> shove dlq replay -> rust", 2)
    queue = fresh("replay")
    sent = ours.publish(queue, orders(2), "--header", "colour=red")
    peer.consume(queue, 2, "--outcome", "reject")
    letters = ours.dead_letters(queue)
    listed.received = len(letters)
    listed.expect("ids", ids_of(letters), sent)
    listed.expect("deaths", {(one["death"]["reason"], one["death"]["original_queue"]) for one in letters}, {("rejected", queue)})
    listed.expect("headers", {one["headers"].get("colour") for one in letters}, {"red"})
    listed.expect("they stay", len(ours.dead_letters(queue)), 2)
    queue = fresh("replay")
    sent = peer.publish(queue, 2)
    first = peer.consume(queue, 2, "--outcome", "reject")
    row.expect("replayed", ours.replay(queue), 2)
    got = peer.consume(queue, 2)
    row.received = len(got)
    row.expect("ids, in order", ids_of(got), sent)
    row.expect("message ids", [message_id(line) for line in got], [message_id(line) for line in first])
    row.expect("retry counts", {line["retry_count"] for line in got}, {0})
    row.expect("none is left", ours.dead_letters(queue), [])
    return [listed, row]


def replayed_after_retries(ours, peer):
    """One that had used up its retries with us, and one of a batch of the peer, which has no id."""
    row = Row("dlq replay", "rust -> shove (retry, dead) -> dlq replay -> rust", 3)
    queue = fresh("replay")
    sent = peer.publish(queue, 1) + peer.publish(queue, 2, "--batch", "2", prefix="batch")
    ours.consume(queue, 3, "--outcome", "retry", "--max-retries", "0")
    row.expect("reasons", {one["death"]["reason"] for one in ours.dead_letters(queue)}, {"max_retries_exceeded"})
    row.expect("replayed", ours.replay(queue), 3)
    got = peer.consume(queue, 3)
    row.received = len(got)
    row.expect("ids", sorted(ids_of(got)), sorted(sent))
    row.expect("retry counts", {line["retry_count"] for line in got}, {0})
    return [row]


def worker(ours, peer):
    """`shove worker` on messages of the peer: its exit codes, and what the peer makes of the results."""
    row = Row("worker", "rust -> shove worker (ack, retry, reject) -> rust --dlq", 6)
    queue = fresh("worker")
    sent = peer.publish(queue, 6)
    program = 'read -r body; echo "$SHOVE_ATTEMPT $body" >> "$NOTES"; case "$SHOVE_ATTEMPT $body" in *-0\\"*) exit 65;; "1 "*-1\\"*) exit 75;; esac'
    lines, counts = ours.work(queue, program, 7)
    seen = sorted((int(line.split(" ", 1)[0]), json.loads(line.split(" ", 1)[1])["order_id"]) for line in lines)
    row.received = len(seen)
    row.expect("calls", seen, sorted([(1, one) for one in sent] + [(2, sent[1])]))
    row.expect("counts", (counts["acked"], counts["retried"], counts["dead_lettered"]), (5, 1, 1))
    row.expect("dead letter", ids_of(peer.consume(queue, 1, "--dlq")), sent[:1])
    return [row]


def worker_sequenced(ours, peer):
    row = Row("worker, sequenced", "rust, 3 keys -> shove worker", 12)
    queue = fresh("worker")
    sent = peer.publish(queue, 12, "--sequenced", "3")
    program = 'read -r body; echo "$SHOVE_KEY $body" >> "$NOTES"'
    lines, counts = ours.work(queue, program, 12, sequenced=True)
    pairs = [line.split(" ", 1) for line in lines]
    row.received = len(pairs)
    row.expect("order of each key", per_key([json.loads(body)["order_id"] for _, body in pairs], [key for key, _ in pairs]),
               per_key(sent, [f"k{i % 3}" for i in range(12)]))
    row.expect("counts", (counts["calls"], counts["acked"]), (12, 12))
    return [row]


def exhausted_by_us(ours, peer):
    """A retry by the peer counts with us: of one retry allowed none is left. The peer knows the broker's reasons only."""
    row = Row("exhausted", "rust (retry) -> shove (retry) -> rust --dlq", 1)
    queue = fresh("spent")
    sent = peer.publish(queue, 1)
    peer.consume(queue, 1, "--outcome", "retry")
    ours.consume(queue, 1, "--outcome", "retry", "--max-retries", "1")
    got = peer.consume(queue, 1, "--dlq")
    row.received = len(got)
    row.expect("id", ids_of(got), sent)
    row.expect("reason", [line["reason"] for line in got], ["rejected"])
    row.expect("retry_count", [line["retry_count"] for line in got], [1])
    return [row]


def exhausted_by_peer(ours, peer):
    """The peer looks before it calls: with one retry allowed, ours has used it up."""
    row = Row("exhausted", "shove (retry) -> rust (budget) -> shove --dead", 1)
    queue = fresh("spent")
    sent = ours.publish(queue, orders(1))
    ours.consume(queue, 1, "--outcome", "retry")
    peer.consume(queue, 1, "--max-retries", "1", timeout=4)
    lines = ours.consume(queue, 1, "--dead")
    row.received = len(lines)
    row.expect("id", ids_of(lines), sent)
    row.expect("retries", [line["death"]["retries"] for line in lines], [1])
    return [row]


def sequenced(ours, peer):
    there, back = Row("sequenced, 4 keys", "shove -> rust", 40), Row("sequenced, 4 keys", "rust -> shove", 40)
    queue = fresh("order")
    mine = orders(40, keys=4)
    sent = ours.publish(queue, mine, sequenced=True)
    got = peer.consume(queue, 40, "--sequenced")
    there.received = len(got)
    there.expect("order of each key", per_key(ids_of(got), keys_of(got)), per_key(sent, [one["key"] for one in mine]))
    queue = fresh("order")
    sent = peer.publish(queue, 40, "--sequenced", "4")
    lines = ours.consume(queue, 40, sequenced=True)
    back.received = len(lines)
    back.expect("order of each key", per_key(ids_of(lines), keys_of(lines)), per_key(sent, [f"k{i % 4}" for i in range(40)]))
    back.expect("keys", [line["key"] for line in lines], keys_of(lines))
    return [there, back]


def sequenced_mixed(ours, peer):
    """Both publish keys of their own to one topology; each reads the half that the other left."""
    row = Row("sequenced, both at once", "shove + rust -> rust, then shove", 40)
    queue = fresh("order")
    mine = [order("cpp", i, f"c{i % 3}") for i in range(20)]
    ours.publish(queue, mine, sequenced=True)
    theirs = peer.publish(queue, 20, "--sequenced", "3")
    first = peer.consume(queue, 15, "--sequenced")
    rest = ours.consume(queue, 40 - len(first), sequenced=True, timeout=8)
    all_of = first + rest
    row.received = len(all_of)
    wanted = per_key([one["order_id"] for one in mine], [one["key"] for one in mine]) | per_key(theirs, [f"k{i % 3}" for i in range(20)])
    row.expect("order of each key", per_key(ids_of(all_of), keys_of(all_of)), wanted)
    return [row]


def sequenced_retry(ours, peer):
    """The peer's copy comes back without its key: its routing key is the shard's name then. Ours stays in its place."""
    there, back = Row("sequenced retry", "shove -> rust (retry) -> shove", 1), Row("sequenced retry", "rust -> shove (retry) -> rust", 3)
    queue = fresh("order")
    sent = ours.publish(queue, orders(1), sequenced=True)
    peer.consume(queue, 1, "--sequenced", "--outcome", "retry")
    lines = ours.consume(queue, 1, sequenced=True)
    there.received = len(lines)
    there.expect("id", ids_of(lines), sent)
    there.expect("attempt", [line["attempt"] for line in lines], [2])
    there.note = f"its key as we see it: {lines[0]['key'] if lines else None!r}"
    queue = fresh("order")
    sent = peer.publish(queue, 3, "--sequenced", "1")
    ours.consume(queue, 1, "--outcome", "retry", sequenced=True)
    got = peer.consume(queue, 3, "--sequenced")
    back.received = len(got)
    back.expect("order", ids_of(got), sent)
    back.note = f"retry counts as the peer sees them: {[line['retry_count'] for line in got]}"
    return [there, back]


def sequenced_dead(ours, peer):
    there = Row("sequenced dead letter", "shove -> rust (reject) -> shove --dead", 1)
    back = Row("sequenced dead letter", "rust -> shove (reject) -> rust --dlq", 1)
    queue = fresh("order")
    sent = ours.publish(queue, orders(1), sequenced=True)
    peer.consume(queue, 1, "--sequenced", "--outcome", "reject")
    lines = ours.consume(queue, 1, "--dead", sequenced=True)
    there.received = len(lines)
    there.expect("id", ids_of(lines), sent)
    there.expect("reason", [line["death"]["reason"] for line in lines], ["rejected"])
    queue = fresh("order")
    sent = peer.publish(queue, 1, "--sequenced", "1")
    ours.consume(queue, 1, "--outcome", "reject", sequenced=True)
    got = peer.consume(queue, 1, "--sequenced", "--dlq")
    back.received = len(got)
    back.expect("id", ids_of(got), sent)
    back.expect("reason", [line["reason"] for line in got], ["rejected"])
    return [there, back]


def batch(ours, peer):
    """A batch of the peer has no headers at all, and so no id: through our retry and our dead letter all the same."""
    plain_row, retry_row, dead_row = (Row("batch without ids", way, COUNT) for way in (
        "rust -> shove", "rust -> shove (retry) -> rust", "rust -> shove (reject) -> rust --dlq"))
    queue = fresh("batch")
    sent = peer.publish(queue, COUNT, "--batch", "7")
    lines = ours.consume(queue, COUNT)
    plain_row.received = len(lines)
    plain_row.expect("ids, in order", ids_of(lines), sent)
    plain_row.note = f"our id of them: {lines[0]['id']!r}" if lines else ""
    queue = fresh("batch")
    sent = peer.publish(queue, COUNT, "--batch", "7")
    ours.consume(queue, COUNT, "--outcome", "retry")
    got = peer.consume(queue, COUNT)
    retry_row.received = len(got)
    retry_row.expect("ids", sorted(ids_of(got)), sorted(sent))
    retry_row.expect("retry counts", {line["retry_count"] for line in got}, {1})
    queue = fresh("batch")
    sent = peer.publish(queue, COUNT, "--batch", "7")
    ours.consume(queue, COUNT, "--outcome", "reject")
    got = peer.consume(queue, COUNT, "--dlq")
    dead_row.received = len(got)
    dead_row.expect("ids", sorted(ids_of(got)), sorted(sent))
    dead_row.expect("reasons", {line["reason"] for line in got}, {"rejected"})
    return [plain_row, retry_row, dead_row]


def competing(ours, peer):
    """Both consume one queue at the same time: each message once."""
    row = Row("one queue, both consume", "shove + rust -> shove + rust", 200)
    queue = fresh("share")
    ours.declare(queue)
    theirs = peer.start_consumer(queue, 100_000, "--timeout", "6")
    mine = ours.start_consumer(queue, "--timeout", "8s")
    time.sleep(1.0)  # real time: both attach; that is not to be seen from outside
    sent = ours.publish(queue, orders(100)) + peer.publish(queue, 100)
    their_text, _ = theirs.communicate(timeout=60)
    our_text, _ = mine.communicate(timeout=60)
    got = [json.loads(line) for text in (their_text, our_text) for line in text.splitlines() if line.startswith("{")]
    row.received = len(got)
    row.expect("ids", sorted(ids_of(got)), sorted(sent))
    row.note = f"rust {len(their_text.splitlines())}, shove {len(our_text.splitlines())}"
    return [row]


def same_topology(ours, peer):
    """Each declares what the other has declared, and finds it equal; and what differs is told."""
    rows = []
    for is_sequenced in (False, True):
        row = Row("topology", f"rust, shove, rust declare{' (sequenced)' if is_sequenced else ''}", 2)
        queue = fresh("layout")
        flags = ["--sequenced", "2"] if is_sequenced else []
        sent = peer.publish(queue, 1, *flags)
        sent += ours.publish(queue, orders(1), sequenced=is_sequenced)
        got = peer.consume(queue, 2, *(["--sequenced"] if is_sequenced else []))
        row.received = len(got)
        row.expect("ids", sorted(ids_of(got)), sorted(sent))
        rows.append(row)
    told = Row("topology", "rust declares classic, shove asks for quorum")
    queue = fresh("layout")
    peer.publish(queue, 1)
    refused = ours.declare(queue, quorum=True, codes=(1,)).stderr
    told.expect("says what differs", "queues=classic" in refused, True)
    rows.append(told)
    return rows


def cases():
    return [plain, with_headers, retried_by_peer, retried_by_us, retried_in_turn, deferred, dead_by_peer, dead_by_us,
            replayed, replayed_after_retries, worker, worker_sequenced, exhausted_by_us, exhausted_by_peer, sequenced, sequenced_mixed, sequenced_retry, sequenced_dead, batch, competing,
            same_topology]
