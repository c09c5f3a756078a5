"""What a case has found, and how it is told."""
import secrets
from dataclasses import dataclass, field


@dataclass
class Row:
    """One line of the table."""
    case: str
    way: str
    sent: int = 0
    received: int = 0
    faults: list = field(default_factory=list)
    note: str = ""

    def expect(self, what, found, wanted):
        if found != wanted:
            self.faults.append(f"{what}: {short(found)} instead of {short(wanted)}")

    def verdict(self):
        return "FAILED: " + "; ".join(self.faults) if self.faults else "ok" + (f" ({self.note})" if self.note else "")

    def cells(self):
        return [self.case, self.way, str(self.sent), str(self.received), self.verdict()]


def short(value):
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."


def fresh(word):
    return f"interop-{word}-{secrets.token_hex(4)}"


def per_key(ids, keys):
    """The ids of each key, in the order of their coming."""
    lists = {}
    for one, key in zip(ids, keys):
        lists.setdefault(key, []).append(one)
    return lists


def print_table(rows):
    head = ["case", "direction", "sent", "received", "verdict"]
    cells = [head] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(4)]
    for line in cells:
        print("  ".join([cell.ljust(width) for cell, width in zip(line, widths)] + [line[4]]).rstrip())
