#!/usr/bin/env python3
"""Ours beside the peers, in interleaved rounds: prints one table, writes build/compare/results.{json,md}.

    bench/compare.py [--rounds N] [--only WORD[,WORD...]] [--quick] [--list]
    bench/compare.py --only rabbitmq      beside the Rust peer and rabbitmq-c, on a broker that is started
    bench/compare.py --only kafka         beside the Rust peer and librdkafka

Builds the peers once (5 to 35 minutes) into build/peers or $CARGO_TARGET_DIR. Each round runs every case on
both sides, so that what else runs on the machine meets both; a ratio is taken within a round.
"""
import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import compare_cases
import compare_brokers
import peer_programs
import real_broker

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
OUT = ROOT / "build/compare"
PROGRAMS = ["shove", "shove-bench-sqlite", "shove-bench-leases", "shove-bench-raw-inprocess", "shove-bench-raw-sqlite", "shove-bench-raw-rabbitmq",
            "shove-bench-raw-kafka"]


def run(command, **more):
    print("+", *command, file=sys.stderr)
    subprocess.run([str(word) for word in command], check=True, **more)


def build_ours(used):
    run(["cmake", "--preset", "release", "-DSHOVE_BUILD_BENCH=ON"], cwd=ROOT, stdout=subprocess.DEVNULL)
    run(["cmake", "--build", "build/release", "--target", *used], cwd=ROOT)


class Runner:
    """Runs the programs and reads their JSON lines."""

    def __init__(self, peers, broker):
        self.programs = {name: BIN / name for name in PROGRAMS} | peers
        self.broker = broker
        self.runs = []
        self.kept = {}  # results of this round, by command

    def begin_round(self):
        self.kept.clear()

    def measure(self, command):
        name, *words = command
        words = [str(word).replace(compare_cases.FOLDER, str(OUT)) for word in words]
        if self.broker:
            words = [word.replace(compare_cases.BROKER, self.broker.url) for word in words]
        done = subprocess.run([str(self.programs[name]), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=900)
        if self.broker:
            self.broker.remove("shove-bench-", "peer-bench-", "raw-bench-")
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not lines:
            raise RuntimeError(f"{name} {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
        line = json.loads(lines[-1])
        self.runs.append({"command": [name, *words], "result": line})
        return line

    def measure_once(self, command):
        key = tuple(command)
        if key not in self.kept:
            try:
                self.kept[key] = self.measure(command)
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                self.kept[key] = e
        if isinstance(self.kept[key], Exception):
            raise self.kept[key]
        return self.kept[key]

    def best(self, side, lower_is_better):
        """The value of a side in this round: its best setting."""
        measure = self.measure_once if side.once else self.measure
        found = [[measure(c) for c in commands] for commands in side.settings]
        if side.rank:
            return side.value(max(found, key=side.rank))
        values = [side.value(lines) for lines in found]
        return min(values) if lower_is_better else max(values)


def spread(values):
    if not values:
        return "-"
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{compare_cases.short(middle)} [{compare_cases.short(low)}..{compare_cases.short(high)}]"


class Tally:
    """What the rounds of one case gave."""

    def __init__(self, case):
        self.case, self.ours, self.peer, self.errors = case, [], [], []

    def round(self, runner):
        try:
            ours = runner.best(self.case.ours, self.case.lower_is_better)
            peer = runner.best(self.case.peer, self.case.lower_is_better) if self.case.peer else None
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            self.errors.append(str(e))
            print("  failed:", e, file=sys.stderr)
            return
        self.ours.append(ours)
        if peer is not None:
            self.peer.append(peer)

    def ratios(self):
        flip = self.case.lower_is_better
        return [(p / o if flip else o / p) for o, p in zip(self.ours, self.peer) if o > 0 and p > 0]

    def reached(self):
        """The figure that the target is about."""
        if self.case.limit is not None:
            return min(self.ours, default=None)
        return statistics.median(self.ratios()) if self.ratios() else None

    def met(self):
        reached = self.reached()
        if self.case.limit is None and self.case.target is None:
            return "-"
        if reached is None:
            return "not measured"
        good = reached <= self.case.limit if self.case.limit is not None else reached >= self.case.target
        return "met" if good else "NOT MET"

    def row(self):
        ratios = self.ratios()
        ratio = f"{statistics.median(ratios):.2f}" if ratios else "-"
        return [self.case.title, spread(self.ours), spread(self.peer), ratio, self.case.target_text(), self.met()]

    def as_json(self):
        return {
            "case": self.case.key, "title": self.case.title, "unit": self.case.unit, "ours": self.ours, "peer": self.peer,
            "ratios": self.ratios(), "target": self.case.target_text(), "met": self.met(), "errors": self.errors,
        }


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "commit": commit,
            "date": time.strftime("%Y-%m-%d %H:%M"), "load_at_start": os.getloadavg()[0]}


def table(tallies):
    head = ["case", "ours: median [min..max]", "peer: median [min..max]", "ratio", "target", ""]
    return [head] + [t.row() for t in tallies]


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def markdown(rows, about, rounds):
    lines = [f"Commit {about['commit']}, {about['date']}; {about['cores']} cores, {about['cpu']}; {rounds} interleaved rounds; "
             f"load average {about['load_at_start']:.1f} at the start, {os.getloadavg()[0]:.1f} at the end. "
             "Each side at its best setting; ratios within a round, their median.", ""]
    lines += ["| " + " | ".join(rows[0]) + " |", "|---|--:|--:|--:|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows[1:]]
    return "\n".join(lines) + "\n"


def write_results(tallies, about, rounds, runner):
    """Writes both files; gives the line that says what was measured where."""
    done = max((len(t.ours) for t in tallies), default=rounds)
    text = markdown(table(tallies), about, done)
    (OUT / "results.md").write_text(text)
    found = {"about": about, "cases": [t.as_json() for t in tallies], "runs": runner.runs}
    (OUT / "results.json").write_text(json.dumps(found, indent=1))
    return text.splitlines()[0]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, help="interleaved rounds (5; with --quick 1)")
    parser.add_argument("--only", default="", help="cases whose key contains one of these words")
    parser.add_argument("--quick", action="store_true", help="a tenth of the messages, one round: to see that it works")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--no-build", action="store_true", help="take all programs as they are")
    return parser.parse_args()


def chosen_cases(options):
    """Those that are asked for; of a broker's only if its name is among the words."""
    words = [w for w in options.only.split(",") if w]
    all_cases = compare_cases.cases(options.quick) + compare_brokers.cases(options.quick)
    return [c for c in all_cases
            if (any(w in c.key for w in words) if words else not c.broker) and (not c.broker or any(w.startswith(c.broker) for w in words))]


def measure_all(cases, rounds, runner):
    about = machine()
    tallies = [Tally(case) for case in cases]
    try:
        for number in range(rounds):
            runner.begin_round()
            for tally in tallies:
                print(f"round {number + 1} of {rounds}: {tally.case.title}", file=sys.stderr)
                tally.round(runner)
            write_results(tallies, about, number + 1, runner)
    except KeyboardInterrupt:
        print("interrupted: what is there so far", file=sys.stderr)
    print_table(table(tallies))
    print(f"\n{write_results(tallies, about, rounds, runner)}\nwritten: build/compare/results.md, build/compare/results.json")
    return 1 if any(t.errors for t in tallies) else 0


def main():
    options = arguments()
    cases = chosen_cases(options)
    if options.list:
        for case in cases:
            print(f"{case.key:24} {case.title}")
        return 0
    sides = [side for case in cases for side in (case.ours, case.peer) if side]
    used = {command[0] for side in sides for commands in side.settings for command in commands}
    if not options.no_build:
        build_ours(sorted(used & set(PROGRAMS)))
    broker = next((case.broker for case in cases if case.broker), None)
    peers = peer_programs.find(sorted(used & set(peer_programs.PEERS)), broker, not options.no_build)
    OUT.mkdir(parents=True, exist_ok=True)
    rounds = options.rounds or (1 if options.quick else 5)
    with real_broker.KINDS[broker]() if broker else contextlib.nullcontext() as started:
        return measure_all(cases, rounds, Runner(peers, started))


if __name__ == "__main__":
    sys.exit(main())
