"""What `make compare BACKEND=...` measures: each work beside the Rust peer and beside a bare loop over the client library.

RabbitMQ's queues are classic, as the peer makes them. CPU and memory are those of the client process, at the setting that
is the fastest.
"""
from dataclasses import dataclass

from compare_cases import BROKER, Case, Side

BATCH = 100  # published at a time where it is handled at once


@dataclass(frozen=True)
class Broker:
    """How one is measured."""
    key: str
    title: str
    library: str                # the bare loop's
    options: str                # of our URL
    sizes: tuple                # bytes of a body
    consumers: tuple
    connections: bool           # the bare loop's consumers are on one connection, or on two
    waiting: float              # to reach, beside the peer: one publisher that waits for each message
    plenty: int                 # messages of a drain and in batches, for each one of the other works
    transactional: str = ""     # our URL's option, and what it is beside none
    transactional_target: float = 0.5


RABBITMQ = Broker("rabbitmq", "RabbitMQ", "rabbitmq-c", "queues=classic", (64, 1024), (1, 4, 16), True, 1, 1, "transactional=true")
KAFKA = Broker("kafka", "Kafka", "librdkafka", "", (100, 1024), (1, 4), False, 10, 4, "transactional=true")
ALL = (RABBITMQ, KAFKA)


def rate(lines):
    return lines[-1]["msgs_per_s"]


def cpu(lines):
    return lines[-1]["cpu_us_per_msg"]


def memory(lines):
    return lines[-1]["rss_peak_kib"] / 1024


class Work:
    """One work: what each side runs for it, one list of words for each setting."""

    def __init__(self, broker, key, title, messages, size, ours, peer, raw, target):
        self.broker, self.key, self.title = broker, f"{broker.key}-{key}-{size}", f"{broker.title}, {title}, {size} B"
        count = ["--messages", str(messages), "--payload-bytes", str(size)]
        shove = ["shove", "bench", "--url", url(broker), "--json", *count]
        rust = ["rust-peer", "bench", "--backend", broker.key, *count]
        self.ours = [[[*shove, *words]] for words in ours]
        self.peer = [[[*rust, *words]] for words in peer]
        mode, *rest = raw
        plain = [f"shove-bench-raw-{broker.key}", mode, BROKER, messages, size]
        self.raw = [[[*plain, *words]] for words in (rest or [[]])]
        self.target = target

    @staticmethod
    def side(settings, value):
        return Side(settings, value, rank=rate, once=True)

    def cases(self):
        def case(what, title, other, value=rate, **more):
            return Case(f"{self.key}-{what}", f"{self.title}{title}", self.side(self.ours, value), self.side(other, value),
                        broker=self.broker.key, **more)

        beside = ", beside " + self.broker.library
        yield case("peer", "", self.peer, target=self.target)
        yield case("raw", beside, self.raw, target=0.8)
        less = {"lower_is_better": True}
        yield case("cpu", ", CPU us a message", self.peer, cpu, target=2, unit="us", **less)
        yield case("raw-cpu", ", CPU us a message" + beside, self.raw, cpu, unit="us", **less)
        if "-consume-" in self.key:
            yield case("rss", ", peak MiB", self.peer, memory, unit="MiB", **less)


def url(broker, *options):
    words = [option for option in (broker.options, *options) if option]
    return BROKER + ("?" + "&".join(words) if words else "")


def publishing(broker, messages, waiting, size):
    """The bare loop has as many messages unconfirmed as ours can have, and waits for a batch as ours does."""
    def work(key, title, count, raw, target, *more):
        words = [["--mode", "publish", *more]]
        return Work(broker, key, "publish, " + title, count, size, words + [[*words[0], "--async"]], words, raw, target)

    many = broker.plenty * messages
    return [
        work("publish-1", "1 publisher that waits", waiting, ["publish", [1]], broker.waiting),
        work("publish-32", "32 publishers that wait", messages, ["publish", [32]], 2, "--publishers", "32"),
        work("publish-100", "batches of 100", many, ["publish-batches", [100]], 1.5, "--pub-batch", "100"),
        work("publish-1000", "batches of 1000", many, ["publish-batches", [1000]], 1.5, "--pub-batch", "1000"),
    ]


def raw_settings(broker, consumers, prefetch):
    """All consumers on one connection, or on two: there are few cores."""
    if not broker.connections:
        return [[BATCH, consumers, prefetch]]
    return [[BATCH, consumers, prefetch, connections] for connections in sorted({1, min(2, consumers)})]


def handling(broker, messages, size, consumers):
    flow = ["--consumers", str(consumers)]
    one = [*flow, "--prefetch", "200", "--concurrent"]
    plural = f"{consumers} consumer" + ("s" if consumers > 1 else "")
    raw = raw_settings(broker, consumers, 200)
    drain = [["--mode", "consume", *one]]
    live = [["--mode", "e2e", "--publishers", str(n), "--pub-batch", str(BATCH // n), *one] for n in (1, 2)]
    many = [["--mode", "consume", *flow, "--batch", "500"]]
    plenty = broker.plenty * messages
    return [
        Work(broker, f"consume-{consumers}", f"drain, {plural}", plenty, size, drain, drain, ["consume", *raw], 2),
        Work(broker, f"e2e-{consumers}", f"publish and handle, {plural}", plenty, size, live, live, ["e2e", *raw], 2),
        # The last batches wait for their age: of few messages that would be much of the time.
        Work(broker, f"batch-{consumers}", f"drain in batches of 500, {plural}", 3 * plenty, size, many, many,
             ["consume", *raw_settings(broker, consumers, 1000)], 1.5),
    ]


def sequenced(broker, messages, size):
    words = ["--mode", "sequenced", "--shards", "4", "--keys", "64"]
    settings = [[*words, "--prefetch", "200"]]
    return [Work(broker, "sequenced", "drain in order, 4 shards", broker.plenty * messages, size, settings,
                 [*settings, [*words, "--prefetch", "20"]], ["consume", *raw_settings(broker, 4, 200)], 2)]


def transactional(broker, messages):
    """Settling in transactions, beside ours without. A round has both."""
    works = [("consume", "drain, 4 consumers", ["--prefetch", "200", "--concurrent"]),
             ("batch", "drain in batches of 500, 4 consumers", ["--batch", "500"])]
    size = broker.sizes[0]

    def side(option, words):
        return Side([[["shove", "bench", "--url", url(broker, option), "--json", "--mode", "consume",
                       "--messages", str(broker.plenty * messages), "--payload-bytes", str(size), "--consumers", "4", *words]]],
                    rate, once=True)

    return [Case(f"{broker.key}-transactional-{key}", f"{broker.title}, {title}, {size} B, in transactions beside without",
                 side(broker.transactional, words), side("", words), target=broker.transactional_target, broker=broker.key)
            for key, title, words in works]


def cases_of(broker, quick):
    messages, waiting = (15_000, 300) if quick else (50_000, 2_000)
    works = []
    for size in broker.sizes[:1] if quick else broker.sizes:
        works += publishing(broker, messages, waiting, size)
        for consumers in broker.consumers:
            works += handling(broker, messages, size, consumers)
        works += sequenced(broker, messages, size)
    return [case for work in works for case in work.cases()] + (transactional(broker, messages) if broker.transactional else [])


def cases(quick):
    return [case for broker in ALL for case in cases_of(broker, quick)]
