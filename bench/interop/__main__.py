#!/usr/bin/env python3
"""Exchanges messages with the Rust peer and with foreign clients on one topology, both ways; prints a table.

    python3 bench/interop [--backend rabbitmq] [--only WORD[,WORD...]] [--list] [--no-build]

Starts the broker if it does not run, builds the peer if it is missing, and makes a virtual environment with pika in
build/interop once. Needs Debian's amqp-tools. Exit code 1 if anything does not come as it should.
"""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases  # noqa: E402
import foreign  # noqa: E402
import peer_programs  # noqa: E402
from checks import Row, print_table  # noqa: E402
from real_broker import RabbitMq  # noqa: E402
from sides import AmqpTools, Ours, Peer  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "build/interop/venv"


def with_pika():
    """Makes pika importable, and says whether it is."""
    try:
        if not ENVIRONMENT.exists():
            subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
            subprocess.run([str(ENVIRONMENT / "bin/pip"), "install", "--quiet", "pika==1.4.4"], check=True)
        sys.path += [str(folder) for folder in ENVIRONMENT.glob("lib/python3*/site-packages")]
        import pika  # noqa: F401
        return True
    except (subprocess.CalledProcessError, ImportError) as e:
        print(f"interop: no pika: {e}", file=sys.stderr)
        return False


def all_cases(ours, peer, broker):
    """Each with its name, and what it is called with."""
    listed = [(case, (ours, peer)) for case in cases.cases()]
    tools = AmqpTools(broker.url if broker else "")
    listed += [(case, (ours, tools)) for case in (foreign.tools_to_us, foreign.us_to_tools, foreign.dead_to_tools)]
    listed.append((foreign.tools_to_peer, (ours, tools, peer)))
    listed += [(case, (ours, broker.url if broker else "")) for case in (foreign.typed, foreign.typed_twice)]
    return [(case.__name__, case, words) for case, words in listed]


def exchange(chosen):
    rows = []
    for name, case, words in chosen:
        print(f"interop: {name}", file=sys.stderr)
        try:
            rows += case(*words)
        except Exception as e:  # a case that ends early is a failed one; the others go on
            row = Row(name, "-")
            row.faults.append(f"{type(e).__name__}: {e}")
            rows.append(row)
    return rows


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=["rabbitmq"], default="rabbitmq", help="on which broker")
    parser.add_argument("--only", default="", help="cases whose name contains one of these words")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--no-build", action="store_true", help="take the peer as it is")
    return parser.parse_args()


def main():
    options = arguments()
    words = [word for word in options.only.split(",") if word]

    def chosen(listed):
        return [one for one in listed if not words or any(word in one[0] for word in words)]

    if options.list:
        print("\n".join(name for name, _, _ in chosen(all_cases(None, None, None))))
        return 0
    if not shutil.which("amqp-publish"):
        sys.exit("interop: amqp-tools are missing; they are a Debian package of that name")
    if not with_pika():
        return 1
    peers = peer_programs.find(["rust-peer"], options.backend, not options.no_build)
    with RabbitMq() as broker:
        ours = Ours(ROOT / "build/release/bin/shove", broker.url, broker.management)
        rows = exchange(chosen(all_cases(ours, Peer(peers["rust-peer"], options.backend), broker)))
        broker.remove("interop-")
    print_table(rows)
    bad = sum(bool(row.faults) for row in rows)
    print(f"\n{len(rows) - bad} of {len(rows)} as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
