"""AMQP fields with their types, over pika: sent as any of them, and seen as they came.

pika chooses the type of an integer by its size, and tells no types of what it has read. Here a value is a `Typed`: the
letter of its type on the wire, and what it holds.
"""
import struct
from typing import Any, NamedTuple

import pika
import pika.data


class Typed(NamedTuple):
    letter: str
    value: Any


NUMBERS = {"b": ">b", "B": ">B", "s": ">h", "u": ">H", "I": ">i", "i": ">I", "l": ">q", "f": ">f", "d": ">d", "T": ">Q", "t": ">?"}


def encode(one):
    letter, value = one
    if letter in NUMBERS:
        content = struct.pack(NUMBERS[letter], value)
    elif letter in "Sx":
        content = struct.pack(">I", len(value)) + value
    elif letter == "D":
        content = struct.pack(">Bi", *value)
    elif letter == "V":
        content = b""
    elif letter == "A":
        items = b"".join(encode(item) for item in value)
        content = struct.pack(">I", len(items)) + items
    elif letter == "F":
        content = encode_table(value)
    else:
        raise ValueError(letter)
    return letter.encode() + content


def encode_table(table):
    pairs = b"".join(bytes([len(name.encode())]) + name.encode() + encode(value) for name, value in table.items())
    return struct.pack(">I", len(pairs)) + pairs


def decode(data, at):
    """The field that begins there, and where the next one does."""
    letter = data[at:at + 1].decode()
    at += 1
    if letter in NUMBERS:
        size = struct.calcsize(NUMBERS[letter])
        return Typed(letter, struct.unpack(NUMBERS[letter], data[at:at + size])[0]), at + size
    if letter == "D":
        return Typed(letter, struct.unpack(">Bi", data[at:at + 5])), at + 5
    if letter == "V":
        return Typed(letter, None), at
    size = struct.unpack(">I", data[at:at + 4])[0]
    end = at + 4 + size
    if letter in "Sx":
        return Typed(letter, data[at + 4:end]), end
    if letter == "F":
        return Typed(letter, decode_table(data, at)[0]), end
    if letter != "A":
        raise ValueError(letter)
    items, at = [], at + 4
    while at < end:
        item, at = decode(data, at)
        items.append(item)
    return Typed(letter, items), end


def decode_table(data, at):
    end = at + 4 + struct.unpack(">I", data[at:at + 4])[0]
    table, at = {}, at + 4
    while at < end:
        name = data[at + 1:at + 1 + data[at]].decode()
        table[name], at = decode(data, at + 1 + data[at])
    return table, end


class Client:
    """A connection on which headers are read and written as they are."""

    def __init__(self, url):
        self.connection = pika.BlockingConnection(pika.URLParameters(url + "/%2f"))
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()
        self.plain = plain, _ = pika.data.encode_table, pika.data.decode_table

        def encode_any(pieces, table):
            if not any(isinstance(value, Typed) for value in (table or {}).values()):
                return plain(pieces, table)
            pieces.append(encode_table(table))
            return len(pieces[-1])

        pika.data.encode_table, pika.data.decode_table = encode_any, decode_table

    def publish(self, queue, body, **properties):
        self.channel.basic_publish("", queue, body, pika.BasicProperties(**properties))

    def get(self, queue, patience=10):
        """The next message: properties and body; nothing if none comes in time."""
        for _ in range(patience * 10):
            method, properties, body = self.channel.basic_get(queue, auto_ack=True)
            if method:
                return properties, body
            self.connection.sleep(0.1)
        return None, None

    def close(self):
        pika.data.encode_table, pika.data.decode_table = self.plain
        self.connection.close()
