#!/usr/bin/env python3
"""Throughput of a durable store over the number of publishers that wait, as a picture: build/compare/group_commit.svg.

    bench/group_commit.py [--rounds 3] [--folder DIR]

One line for leases on SQLite, one for rullst-messaging if its program is there, one for bare commits. Both axes are
logarithmic: what shares commits rises with the publishers, what does not stays at the disk's commits a second.
"""
import argparse
import json
import math
import statistics
import subprocess
from pathlib import Path

import peer_programs

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
OUT = ROOT / "build/compare"
PUBLISHERS = (1, 2, 4, 8, 16, 32, 64)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 70, 170, 40, 50


def rate(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, check=True)
    return json.loads(done.stdout.splitlines()[-1])["msgs_per_s"]


def measured(rounds, folder):
    """The median of each point: {line: {publishers: messages a second}}."""
    peer = peer_programs.target_folder(None) / "release" / "rullst-bench"
    lines = {"shove, leases": {}, "bare commits": {}}
    for count in PUBLISHERS:
        command = [BIN / "shove-bench-leases", "publish-32", 150 * count + 150, folder, "sqlite", 0, count]
        lines["shove, leases"][count] = statistics.median(rate(command) for _ in range(rounds))
        print(f"{count:3} publishers: {lines['shove, leases'][count]:.0f}/s", flush=True)
    bare = statistics.median(rate([BIN / "shove-bench-raw-sqlite", folder, 300, 1]) for _ in range(rounds))
    lines["bare commits"] = {count: bare for count in PUBLISHERS}
    if peer.exists():
        lines["rullst-messaging"] = {
            count: statistics.median(rate([peer, "case", f"publish-{count}", 300, folder, "sqlite"]) for _ in range(rounds))
            for count in (1, 32)}
    return lines


def scale(value, low, high, first, last):
    return first + (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) * (last - first)


def picture(lines):
    values = [v for points in lines.values() for v in points.values()]
    low, high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    x = lambda n: scale(n, PUBLISHERS[0], PUBLISHERS[-1], LEFT, WIDTH - RIGHT)
    y = lambda v: scale(v, low, high, HEIGHT - BOTTOM, TOP)
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="22" font-size="15">Messages a second, each publisher waits for its commit</text>']
    value = low
    while value <= high:
        text.append(f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                    f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end" fill="#555">{value:,.0f}</text>')
        value *= 10
    for count in PUBLISHERS:
        text.append(f'<text x="{x(count):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="#555">{count}</text>')
    text.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle" fill="#555">publishers</text>')
    for (name, points), color in zip(lines.items(), ("#0a7", "#888", "#c60")):
        path = "M" + "L".join(f"{x(n):.1f} {y(v):.1f}" for n, v in sorted(points.items()))
        last = points[max(points)]
        text.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        text += [f'<circle cx="{x(n):.1f}" cy="{y(v):.1f}" r="3" fill="{color}"/>' for n, v in points.items()]
        text.append(f'<text x="{x(max(points)) + 8:.1f}" y="{y(last) + 4:.1f}" fill="{color}">{name}: {last:,.0f}</text>')
    return "\n".join([*text, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=OUT, help="on the disk that is meant")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    lines = measured(options.rounds, options.folder)
    (OUT / "group_commit.svg").write_text(picture(lines))
    (OUT / "group_commit.json").write_text(json.dumps(lines, indent=1))
    print("written: build/compare/group_commit.svg, build/compare/group_commit.json")


if __name__ == "__main__":
    main()
