"""Messages of clients that know nothing of us: Debian's amqp-tools, and pika for types that those cannot send."""
import json

from checks import Row, fresh
from sides import order

SIMPLE = {"content_type": "text/x-mine", "content_encoding": "identity", "correlation_id": "c-1", "reply_to": "answers",
          "app_id": "legacy", "type": "order.paid", "message_id": "m-77", "timestamp": 1_700_000_000, "priority": 3}


def typed_headers():
    from typed_headers import Typed
    t = Typed
    inner = {"deep": t("F", {"deeper": t("A", [t("S", b"a"), t("I", -1), t("F", {})])}), "no": t("V", None)}
    return {
        "int8": t("b", -7), "uint8": t("B", 200), "int16": t("s", -30_000), "uint16": t("u", 60_000), "int32": t("I", -5),
        "uint32": t("i", 4_000_000_000), "int64": t("l", -(1 << 62)), "small int64": t("l", 5), "float": t("f", 0.5),
        "double": t("d", 0.1), "yes": t("t", True), "no": t("t", False), "decimal": t("D", (2, 12_345)),
        "time": t("T", 1_700_000_000), "nothing": t("V", None), "text": t("S", "Zürich ☃".encode()),
        "not a text": t("S", b"\xff\xfe"), "binary": t("x", bytes(range(256))), "empty binary": t("x", b""),
        "list": t("A", [t("I", 1), t("S", b"two"), t("A", []), t("l", 3)]), "table": t("F", inner),
    }


def tools_to_us(ours, tools):
    row = Row("foreign client", "amqp-publish -> shove", 2)
    queue = fresh("tools")
    ours.declare(queue)
    tools.publish(queue, json.dumps(order("tool", 0)), "-C", "application/json", "-H", "colour: red", "-p")
    tools.publish(queue, "not JSON \u2603")
    lines = ours.consume(queue, 2)
    row.received = len(lines)
    row.expect("body", lines[0]["body"], order("tool", 0))
    row.expect("header", lines[0]["headers"].get("colour"), "red")
    row.expect("id", [line["id"] for line in lines], ["", ""])
    row.expect("bare body", "body_base64" in lines[1], True)
    return [row]


def tools_to_peer(ours, tools, peer):
    row = Row("foreign client", "amqp-publish -> shove (retry) -> rust", 1)
    queue = fresh("tools")
    ours.declare(queue)
    tools.publish(queue, json.dumps(order("tool", 0)))
    ours.consume(queue, 1, "--outcome", "retry")
    got = peer.consume(queue, 1)
    row.received = len(got)
    row.expect("body", [line["payload"]["order_id"] for line in got], ["tool-0"])
    row.expect("retry_count", [line["retry_count"] for line in got], [1])
    return [row]


def us_to_tools(ours, tools):
    get_row, consume_row = Row("foreign client", "shove -> amqp-get", 1), Row("foreign client", "shove -> amqp-consume", 5)
    queue = fresh("tools")
    ours.publish(queue, [order("cpp", 0)])
    text = tools.get(queue)
    get_row.received = int(bool(text))
    get_row.expect("body", json.loads(text), order("cpp", 0))
    wanted = [order("cpp", i) for i in range(5)]
    ours.publish(queue, wanted)
    got = tools.consume(queue, 5)
    consume_row.received = len(got)
    consume_row.expect("bodies", got, wanted)
    return [get_row, consume_row]


def dead_to_tools(ours, tools):
    row = Row("foreign client", "amqp-publish -> shove (reject) -> amqp-get", 1)
    queue = fresh("tools")
    ours.declare(queue)
    tools.publish(queue, "\u0001 raw \u2603")
    ours.consume(queue, 1, "--outcome", "reject")
    text = tools.get(queue + "-dlq")
    row.received = int(bool(text))
    row.expect("body", text, "\u0001 raw \u2603")
    return [row]


def is_shoves(name):
    return name.startswith(("x-shove-", "x-death", "x-first-death-", "x-last-death-")) or name in ("x-retry-count", "x-message-id")


def expect_kept(row, properties, headers, simple):
    found = {name: value for name, value in (properties.headers or {}).items() if not is_shoves(name)}
    for name in headers.keys() | found.keys():
        row.expect(f"header '{name}'", found.get(name), headers.get(name))
    for name, value in simple.items():
        row.expect(f"property {name}", getattr(properties, name), value)


def typed(ours, url):
    """Every AMQP type and property, through our hold queue and through our dead letter."""
    from typed_headers import Client
    rows = []
    headers = typed_headers()
    for way, outcome, place in (("pika -> shove (retry) -> pika", "retry", ""), ("pika -> shove (reject) -> pika", "reject", "-dlq")):
        for kind, given, simple in (("all AMQP types", headers, SIMPLE), ("bare message", {}, {})):
            row = Row(f"{kind}", way, 1)
            queue = fresh("typed")
            ours.declare(queue)
            client = Client(url)
            try:
                body = bytes(range(256))
                client.publish(queue, body, **({"headers": given} if given else {}), **simple)
                ours.consume(queue, 1, "--outcome", outcome)
                properties, got = client.get(queue + place)
            finally:
                client.close()
            row.received = int(got is not None)
            row.expect("body", got, body)
            if properties:
                expect_kept(row, properties, given, simple)
            rows.append(row)
    return rows


def typed_twice(ours, url):
    """Retried twice, then dead-lettered by the broker's own hand, as the peer does it."""
    from typed_headers import Client
    row = Row("all AMQP types", "pika -> shove (retry, retry, reject) -> pika", 1)
    queue = fresh("typed")
    ours.declare(queue)
    headers = typed_headers()
    client = Client(url)
    try:
        client.publish(queue, b"{}", headers=headers, **SIMPLE)
        for outcome in ("retry", "retry", "reject"):
            ours.consume(queue, 1, "--outcome", outcome)
        properties, got = client.get(queue + "-dlq")
    finally:
        client.close()
    row.received = int(got is not None)
    if properties:
        expect_kept(row, properties, headers, SIMPLE)
    return [row]
