"""What `make compare` measures, and what is to be reached."""
from dataclasses import dataclass
from typing import Callable, Optional

FOLDER = "{folder}"  # stands for a folder on the disk under test
BROKER = "{broker}"  # stands for the URL of the broker under test
SQLITE_ROUND_TRIPS = 300  # one fsync each: a second or more


def short(value):
    """1234567 as 1.23M; small numbers with a decimal."""
    for limit, divisor, letter in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= limit:
            return f"{value / divisor:.2f}{letter}" if letter == "M" else f"{value / divisor:.0f}{letter}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


@dataclass
class Side:
    """One side of a case. Each setting is a list of commands; `value` makes one number of their results."""
    settings: list
    value: Callable = lambda lines: lines[-1]["msgs_per_s"]
    rank: Optional[Callable] = None  # of the results: the setting where it is highest counts, whatever its `value`
    once: bool = False               # a command is run once a round, whichever cases ask for it


@dataclass
class Case:
    key: str
    title: str
    ours: Side
    peer: Optional[Side] = None
    target: Optional[float] = None  # ratio ours to peer, median
    limit: Optional[float] = None   # our best value, at most
    lower_is_better: bool = False
    unit: str = "messages/s"
    broker: Optional[str] = None    # needs that one, and is measured only if asked for by name

    def target_text(self):
        if self.limit is not None:
            return f"<= {self.limit:g} {self.unit}, best"
        return f">= {self.target:g} x" if self.target is not None else ""


def ours(*words):
    return ["shove", "bench", "--url", "memory:", "--json", *words]


def rust(*words):
    return ["rust-peer", "bench", "--backend", "inmemory", *words]


def settings(command, variants):
    return Side([[command + list(v)] for v in variants])


PEER_VARIANTS = ([], ["--concurrent"], ["--threads", "1"], ["--concurrent", "--threads", "1"])
OUR_VARIANTS = ([], ["--concurrent"])


def consume_words(messages, consumers):
    return ["--mode", "consume", "--messages", str(messages), "--consumers", str(consumers), "--prefetch", "200"]


def consuming(messages):
    def our_side(consumers):
        return settings(ours(*consume_words(messages, consumers)), OUR_VARIANTS)

    def peer_side(consumers):
        return settings(rust(*consume_words(messages, consumers)), PEER_VARIANTS)

    def raw_side(threads):
        return Side([[["shove-bench-raw-inprocess", threads, messages]]])

    return [
        Case("consume-1", "in process, consume, 1 consumer", our_side(1), peer_side(1), target=5),
        Case("consume-4", "in process, consume, 4 consumers", our_side(4), peer_side(4), target=8),
        Case("consume-8-falls", "in process, 8 consumers beside 4 of ours", our_side(8), our_side(4), target=0.9),
        Case("raw-consume-1", "in process, 1 consumer beside a bare loop", our_side(1), raw_side(1)),
        Case("raw-consume-4", "in process, 4 consumers beside 4 bare loops", our_side(4), raw_side(4)),
    ]


def batches(messages):
    """A batch of 500 for each handler call; the fill is the same on both sides."""
    def words(consumers):
        return ["--mode", "consume", "--messages", str(messages), "--consumers", str(consumers), "--batch", "500"]

    def pair(consumers):
        peer = settings(rust(*words(consumers)), ([], ["--threads", "1"]))
        return settings(ours(*words(consumers)), OUR_VARIANTS), peer

    return [
        Case("batch-1", "in process, batches of 500, 1 consumer", *pair(1), target=2),
        Case("batch-4", "in process, batches of 500, 4 consumers", *pair(4), target=2),
    ]


def sequenced(messages, many):
    """Order per key. A shard has one consumer on both sides; the peer's prefetch says nothing to it in process."""
    def words(shards, keys, count):
        return ["--mode", "sequenced", "--messages", str(count), "--shards", str(shards), "--keys", str(keys)]

    def our_side(shards, keys=64, count=messages):
        return settings(ours(*words(shards, keys, count), "--prefetch", "200"), OUR_VARIANTS)

    def peer_side(shards):
        variants = [["--prefetch", p, *t] for p in ("20", "200") for t in ([], ["--threads", "1"])]
        return settings(rust(*words(shards, 64, messages)), variants)

    def plain_side(consumers):
        return settings(ours(*consume_words(messages, consumers)), OUR_VARIANTS)

    return [
        Case("sequenced-1", "in process, sequenced, 1 shard", our_side(1), peer_side(1), target=4),
        Case("sequenced-4", "in process, sequenced, 4 shards", our_side(4), peer_side(4), target=4),
        Case("sequenced-plain-1", "in process, sequenced with 1 shard beside 1 consumer without order", our_side(1),
             plain_side(1), target=0.7),
        Case("sequenced-plain-4", "in process, sequenced with 4 shards beside 4 consumers without order", our_side(4),
             plain_side(4), target=0.7),
        Case("sequenced-keys", "in process, sequenced, a million keys beside a hundred", our_side(4, 1_000_000, many),
             our_side(4, 100, many), target=0.9),
    ]


def metrics(messages):
    """What it costs to measure: the same work with a `shove::metrics` and without."""
    def pair(*words):
        return settings(ours(*words, "--metrics"), ([],)), settings(ours(*words), ([],))

    consume = ["--mode", "consume", "--messages", str(messages), "--prefetch", "200"]
    publish = ["--mode", "publish", "--messages", str(messages)]
    sequenced_words = ["--mode", "sequenced", "--messages", str(messages), "--shards", "4", "--prefetch", "200"]
    return [
        Case("metrics-consume-1", "metrics on beside off, consume, 1 consumer", *pair(*consume), target=0.9),
        Case("metrics-consume-4", "metrics on beside off, consume, 4 consumers", *pair(*consume, "--consumers", "4"),
             target=0.9),
        Case("metrics-sequenced", "metrics on beside off, sequenced, 4 shards", *pair(*sequenced_words), target=0.9),
        Case("metrics-batch", "metrics on beside off, batches of 500", *pair(*consume, "--batch", "500"), target=0.9),
        Case("metrics-publish", "metrics on beside off, publish, 1 publisher", *pair(*publish), target=0.9),
    ]


def publishing(messages):
    words = ["--mode", "publish", "--messages", str(messages)]
    four = [*words, "--publishers", "4"]
    threads = ([], ["--threads", "1"])
    return [
        Case("publish-1-memory", "in process, publish, 1 publisher", settings(ours(*words), ([],)),
             settings(rust(*words), threads), target=1),
        Case("publish-4-memory", "in process, publish, 4 publishers", settings(ours(*four), ([],)),
             settings(rust(*four), threads), target=1),
    ]


def latency(messages):
    words = ["--mode", "e2e", "--messages", str(messages), "--consumers", "1", "--rate", "20000"]
    p99 = lambda lines: lines[-1]["p99_us"]
    own = [[ours(*words, "--prefetch", p, "--concurrent")] for p in ("20", "200")]
    peer = [[rust(*words, "--prefetch", "20", "--concurrent", *t)] for t in ([], ["--threads", "1"])]
    return [Case("p99", "in process, p99 from publish to handler at 20,000/s, us", Side(own, p99), Side(peer, p99),
                 limit=100, lower_is_better=True, unit="us")]


def payload_bytes(messages):
    """The mean length of the JSON of a message with a body of 100 bytes."""
    digits = sum(len(str(i)) for i in range(0, messages, 1009)) / len(range(0, messages, 1009))
    empty = len('{"id":"m-","seq":,"sent_ns":,"body":""}')
    return empty + 2 * digits + 13 + 100  # sent_ns: 13 digits or more since a machine's start


def memory(messages):
    """Peak memory of a full queue against that of a small one, per message, without the payload."""
    def value(lines):
        few, many = lines
        growth = (many["rss_peak_kib"] - few["rss_peak_kib"]) * 1024
        return growth / (many["messages"] - few["messages"]) - payload_bytes(many["messages"])

    def pair(make):
        return [make("--mode", "publish", "--messages", str(n), "--pub-batch", "100") for n in (1000, messages)]

    return [Case("memory", f"in process, bytes per queued message above its payload, {short(messages)} messages",
                 Side([pair(ours)], value), Side([pair(rust)], value), limit=100, lower_is_better=True, unit="bytes")]


def durable(scale):
    """SQLite with synchronous FULL, both in the same folder."""
    plan = [
        ("publish-1", "publish, 1 publisher that waits", SQLITE_ROUND_TRIPS, 1),
        ("publish-32", "publish, 32 publishers that wait", 20_000, 10),
        ("publish-100", "publish, batches of 100", 20_000, 10),
        ("cycle-1", "publish + handle + ack, 1 publisher that waits", SQLITE_ROUND_TRIPS, 1),
        ("cycle-32", "publish + handle + ack, 32 publishers that wait", 20_000, 10),
        ("cycle-100", "publish + handle + ack, batches of 100", 20_000, 10),
    ]
    for name, title, messages, target in plan:
        own = ["shove-bench-sqlite", name, max(messages // scale, 100), FOLDER]
        peer = ["rullst-bench", "case", name, SQLITE_ROUND_TRIPS, FOLDER]
        yield Case("sqlite-" + name, "SQLite, " + title, Side([[own]]), Side([[peer]]), target=target)


def durable_alone(scale):
    def retained(count):
        return Side([[["shove-bench-sqlite", "publish-100", 20_000 // scale, FOLDER, count]]])

    def raw(rows):
        return Side([[["shove-bench-raw-sqlite", FOLDER, SQLITE_ROUND_TRIPS, rows]]])

    many = 1_000_000 // scale
    return [
        Case("sqlite-retained", f"SQLite, publish with {short(many)} retained beside 1000", retained(many), retained(1000),
             target=0.9),
        Case("raw-sqlite-1", "SQLite, publish, 1 publisher beside bare commits",
             Side([[["shove-bench-sqlite", "publish-1", SQLITE_ROUND_TRIPS, FOLDER]]]), raw(1)),
        Case("raw-sqlite-100", "SQLite, publish, batches of 100 beside bare commits of 100",
             Side([[["shove-bench-sqlite", "publish-100", 20_000 // scale, FOLDER]]]), raw(100)),
    ]


def leases(scale):
    """Leases by hand, beside rullst-messaging's; and a store with itself."""
    def own(case, messages, *more):
        return Side([[["shove-bench-leases", case, max(messages // scale, 100), FOLDER, *more]]])

    def peer(case, messages, store):
        return Side([[["rullst-bench", "case", case, messages, FOLDER, store]]])

    in_turn = [("1", "one that waits"), ("32", "32 that wait"), ("100", "batches of 100")]
    works = [(kind, name, f"{title}, {how}") for kind, title in (("publish", "publish"), ("cycle", "publish + receive + ack"))
             for name, how in in_turn]
    found = []
    for kind, name, title in works:
        case = f"{kind}-{name}"
        waits = name == "1"
        durable_count = SQLITE_ROUND_TRIPS if waits else 20_000
        found.append(Case(f"leases-{case}", f"leases on SQLite, {title}", own(case, durable_count),
                          peer(case, SQLITE_ROUND_TRIPS, "sqlite"), target=1 if waits else 10))
        found.append(Case(f"leases-memory-{case}", f"leases in memory, {title}", own(case, 50_000, "memory"),
                          peer(case, 50_000 // scale, "memory"), target=3))
        if not waits:
            found.append(Case(f"leases-sealed-{case}", f"sealed beside plain, {title}", own(case, 20_000, "sealed"),
                              own(case, 20_000), target=0.7))
    many = 1_000_000 // scale
    retained = [own("publish-100", 20_000, "sqlite", count) for count in (many, 1000)]
    found.append(Case("leases-retained", f"leases on SQLite, publish with {short(many)} retained beside 1000", *retained, target=0.9))
    return found


def cases(quick):
    scale = 10 if quick else 1
    found = consuming(500_000 // scale) + sequenced(500_000 // scale, 1_000_000 // scale)
    found += batches(500_000 // scale) + metrics(500_000 // scale)
    found += publishing(500_000 // scale) + latency(40_000 // scale)
    return found + memory(1_000_000 // scale) + list(durable(scale)) + durable_alone(scale) + leases(scale)
