#!/usr/bin/env python3
"""Draws docs/guide/dashboard.svg: the panels of the Grafana dashboard, from a real Prometheus that scrapes a real worker.

    tools/dashboard_picture.py [--seconds N]

Needs build/release/bin/shove and the programs prometheus and shove's worker may run: sh, sleep. It is a picture of what the
dashboard shows, drawn without Grafana.
"""
import argparse
import html
import json
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOVE = ROOT / "build/release/bin/shove"
DASHBOARD = ROOT / "addons/prometheus/data/dashboard.json"
COLOURS = ["#3274d9", "#e0752d", "#56a64b", "#b877d9", "#e02f44", "#8f8f8f", "#f2cc0c"]
CELL, HEIGHT, GAP = 400, 190, 14
PROGRAM = 'read n; sleep 0.0$((n % 10)); case $n in *7) exit 75;; *99) exit 65;; esac'


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def work(folder, seconds):
    """Runs a worker and a server; gives the server's address when there is something to see, and what to end."""
    url = f"sqlite:{folder}/orders.db?durability=normal"
    port, api = free_port(), free_port()
    (folder / "prometheus.yml").write_text(
        f"global: {{scrape_interval: 1s}}\nscrape_configs: [{{job_name: shove, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [
        subprocess.Popen([SHOVE, "--url", url, "worker", "orders", "--dlq", "--hold", "1s", "--concurrency", "8", "--exec", PROGRAM,
                          "--metrics", f"127.0.0.1:{port}"], **quiet),
        subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                          f"--web.listen-address=127.0.0.1:{api}"], **quiet),
    ]
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        burst = 400 if int(time.monotonic()) % 20 == 0 else 60
        lines = "".join(f"{number + i}\n" for i in range(burst))
        number += burst
        subprocess.run([SHOVE, "--url", url, "publish", "orders", "--dlq", "--hold", "1s", "--quiet"], input=lines.encode(), **quiet)
        time.sleep(1)
    return f"http://127.0.0.1:{api}", running


def series(server, expression, seconds):
    plain = expression.replace("$__rate_interval", "10s").replace("$topic", ".*")
    now = time.time()
    words = urllib.parse.urlencode({"query": plain, "start": now - seconds, "end": now, "step": 1})
    with urllib.request.urlopen(f"{server}/api/v1/query_range?{words}", timeout=20) as answer:
        return json.load(answer)["data"]["result"]


def legend(text, labels):
    for name, value in labels.items():
        text = text.replace("{{%s}}" % name, value)
    return text


def short(value, unit):
    if unit == "s":
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def panel(x, y, title, unit, lines):
    """One panel: lines of (name, [(time, value)])."""
    out = [f'<g transform="translate({x},{y})"><rect width="{CELL}" height="{HEIGHT}" rx="3" fill="#fff" stroke="#d8d9da"/>',
           f'<text x="10" y="18" font-weight="bold">{html.escape(title)}</text>']
    points = [p for _, line in lines for p in line]
    if not points:
        return "".join(out) + f'<text x="{CELL // 2 - 25}" y="95" fill="#999">no data</text></g>'
    first, last = min(t for t, _ in points), max(t for t, _ in points)
    top = max(v for _, v in points) or 1
    left, width, base, high = 55, CELL - 70, HEIGHT - 45, HEIGHT - 75
    for part in (0, 0.5, 1):
        at = base - high * part
        out.append(f'<line x1="{left}" y1="{at:.0f}" x2="{left + width}" y2="{at:.0f}" stroke="#eee"/>'
                   f'<text x="{left - 6}" y="{at + 4:.0f}" text-anchor="end" fill="#777">{short(top * part, unit)}</text>')
    for i, (_, line) in enumerate(lines):
        path = " ".join(f"{left + width * (t - first) / max(last - first, 1):.0f},{base - high * v / top:.0f}" for t, v in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="1.5"/>')
    at = 10
    for i, (name, _) in enumerate(lines[:4]):
        out.append(f'<rect x="{at}" y="{HEIGHT - 20}" width="9" height="9" fill="{COLOURS[i % len(COLOURS)]}"/>'
                   f'<text x="{at + 13}" y="{HEIGHT - 12}" fill="#555">{html.escape(name)}</text>')
        at += 24 + 6 * len(name)
    return "".join(out) + "</g>"


def draw(server, seconds):
    board = json.loads(DASHBOARD.read_text())
    parts, y = [], GAP
    rows = {}
    for each in board["panels"]:
        rows.setdefault(each["gridPos"]["y"], []).append(each)
    for _, panels in sorted(rows.items()):
        if panels[0]["type"] == "row":
            parts.append(f'<text x="{GAP}" y="{y + 14}" font-size="14" font-weight="bold" fill="#333">{panels[0]["title"]}</text>')
            y += 24
            continue
        for i, each in enumerate(panels):
            lines = []
            for target in each["targets"]:
                for found in series(server, target["expr"], seconds):
                    points = [(float(t), float(v)) for t, v in found["values"] if v not in ("NaN", "+Inf")]
                    if points:
                        lines.append((legend(target["legendFormat"], found["metric"]), points))
            parts.append(panel(GAP + i * (CELL + GAP), y, each["title"], each["fieldConfig"]["defaults"]["unit"], lines))
        y += HEIGHT + GAP
    width = 3 * CELL + 4 * GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" font-family="sans-serif" font-size="11">'
            f'<rect width="{width}" height="{y}" fill="#f7f8fa"/>' + "\n".join(parts) + "</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="of work to show")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        server, running = work(pathlib.Path(folder), seconds)
        try:
            (ROOT / "docs/guide/dashboard.svg").write_text(draw(server, seconds))
        finally:
            for each in running:
                each.terminate()
                each.wait(30)


if __name__ == "__main__":
    main()
