"""What `make compare BACKEND=rabbitmq` measures: each work beside the Rust peer and beside a bare loop over rabbitmq-c.

All queues are classic, as the peer makes them. CPU and memory are those of the client process, at the setting that is
the fastest.
"""
from compare_cases import BROKER, Case, Side

SIZES = (64, 1024)
CONSUMERS = (1, 4, 16)
BATCH = 100  # published at a time where it is handled at once


def rate(lines):
    return lines[-1]["msgs_per_s"]


def cpu(lines):
    return lines[-1]["cpu_us_per_msg"]


def memory(lines):
    return lines[-1]["rss_peak_kib"] / 1024


class Work:
    """One work: what each side runs for it, one list of words for each setting."""

    def __init__(self, key, title, messages, size, ours, peer, raw, target):
        self.key, self.title = f"rabbitmq-{key}-{size}", f"RabbitMQ, {title}, {size} B"
        count = ["--messages", str(messages), "--payload-bytes", str(size)]
        shove = ["shove", "bench", "--url", BROKER + "?queues=classic", "--json", *count]
        rust = ["rust-peer", "bench", "--backend", "rabbitmq", *count]
        self.ours = [[[*shove, *words]] for words in ours]
        self.peer = [[[*rust, *words]] for words in peer]
        mode, *rest = raw
        plain = ["shove-bench-raw-rabbitmq", mode, BROKER, messages, size]
        self.raw = [[[*plain, *words]] for words in (rest or [[]])]
        self.target = target

    @staticmethod
    def side(settings, value):
        return Side(settings, value, rank=rate, once=True)

    def cases(self):
        def case(what, title, other, value=rate, **more):
            return Case(f"{self.key}-{what}", f"{self.title}{title}", self.side(self.ours, value), self.side(other, value),
                        broker="rabbitmq", **more)

        yield case("peer", "", self.peer, target=self.target)
        yield case("raw", ", beside rabbitmq-c", self.raw, target=0.8)
        less = {"lower_is_better": True}
        yield case("cpu", ", CPU us a message", self.peer, cpu, target=2, unit="us", **less)
        yield case("raw-cpu", ", CPU us a message, beside rabbitmq-c", self.raw, cpu, unit="us", **less)
        if "-consume-" in self.key:
            yield case("rss", ", peak MiB", self.peer, memory, unit="MiB", **less)


def publishing(messages, waiting, size):
    """The bare loop has as many messages unconfirmed as ours can have, and waits for a batch as ours does."""
    def work(key, title, count, raw, target, *more):
        words = [["--mode", "publish", *more]]
        return Work(key, "publish, " + title, count, size, words + [[*words[0], "--async"]], words, raw, target)

    return [
        work("publish-1", "1 publisher that waits", waiting, ["publish", [1]], 1),
        work("publish-32", "32 publishers that wait", messages, ["publish", [32]], 2, "--publishers", "32"),
        work("publish-100", "batches of 100", messages, ["publish-batches", [100]], 1.5, "--pub-batch", "100"),
        work("publish-1000", "batches of 1000", messages, ["publish-batches", [1000]], 1.5, "--pub-batch", "1000"),
    ]


def raw_settings(consumers, prefetch):
    """All consumers on one connection, or on two: there are few cores."""
    return [[BATCH, consumers, prefetch, connections] for connections in sorted({1, min(2, consumers)})]


def handling(messages, size, consumers):
    flow = ["--consumers", str(consumers)]
    one = [*flow, "--prefetch", "200", "--concurrent"]
    plural = f"{consumers} consumer" + ("s" if consumers > 1 else "")
    raw = raw_settings(consumers, 200)
    drain = [["--mode", "consume", *one]]
    live = [["--mode", "e2e", "--publishers", str(n), "--pub-batch", str(BATCH // n), *one] for n in (1, 2)]
    many = [["--mode", "consume", *flow, "--batch", "500"]]
    return [
        Work(f"consume-{consumers}", f"drain, {plural}", messages, size, drain, drain, ["consume", *raw], 2),
        Work(f"e2e-{consumers}", f"publish and handle, {plural}", messages, size, live, live, ["e2e", *raw], 2),
        # The last batches wait for their age: of few messages that would be much of the time.
        Work(f"batch-{consumers}", f"drain in batches of 500, {plural}", 3 * messages, size, many, many,
             ["consume", *raw_settings(consumers, 1000)], 1.5),
    ]


def sequenced(messages, size):
    words = ["--mode", "sequenced", "--shards", "4", "--keys", "64"]
    settings = [[*words, "--prefetch", "200"]]
    return [Work("sequenced", "drain in order, 4 shards", messages, size, settings, [*settings, [*words, "--prefetch", "20"]],
                 ["consume", *raw_settings(4, 200)], 2)]


def transactional(messages):
    """Settling in transactions, beside ours without. A round has both."""
    works = [("consume", "drain, 4 consumers", ["--prefetch", "200", "--concurrent"]),
             ("batch", "drain in batches of 500, 4 consumers", ["--batch", "500"])]

    def side(options, words):
        return Side([[["shove", "bench", "--url", BROKER + "?queues=classic" + options, "--json", "--mode", "consume",
                       "--messages", str(messages), "--payload-bytes", "64", "--consumers", "4", *words]]], rate, once=True)

    return [Case(f"rabbitmq-transactional-{key}", f"RabbitMQ, {title}, 64 B, in transactions beside without",
                 side("&transactional=true", words), side("", words), target=0.5, broker="rabbitmq")
            for key, title, words in works]


def cases(quick):
    messages, waiting = (15_000, 300) if quick else (50_000, 2_000)
    works = []
    for size in SIZES[:1] if quick else SIZES:
        works += publishing(messages, waiting, size)
        for consumers in CONSUMERS:
            works += handling(messages, size, consumers)
        works += sequenced(messages, size)
    return [case for work in works for case in work.cases()] + transactional(messages)
