#!/usr/bin/env python3
"""Draws tests/bench/results/*.json as charts, each as an SVG file beside its data.

draw_charts.py [--ladder TABLE]

--ladder first replaces ladder.json by the table that `scripts/run.sh matmul_ladder --time` printed into the
file TABLE. Benchmarks write the other files themselves (scripts/bench.sh NAME --json FILE). A chart has a
background of its own and follows the reader's colour scheme, so that it is readable on light and dark pages.
"""

import argparse
import json
import math
import pathlib
import re
from xml.sax.saxutils import escape

import sources

RESULTS = sources.ROOT / "tests" / "bench" / "results"

STYLE = """
  svg { font: 12px system-ui, sans-serif }
  .page { fill: #ffffff } .text { fill: #24292f } .dim { fill: #57606a }
  .title { font-weight: 600; font-size: 14px }
  .grid { stroke: #d0d7de } .limit { stroke: #57606a; stroke-dasharray: 3 3 }
  .bar { fill: #2f6fb5 } .pale { fill: #9cc0e7 } .grey { fill: #8c959f }
  .mark { stroke: #ffffff; stroke-width: 1 } .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22 } .text { fill: #e6edf3 } .dim { fill: #9da7b1 }
    .grid { stroke: #30363d } .limit { stroke: #9da7b1 }
    .bar { fill: #4c94e0 } .pale { fill: #2d5f96 } .grey { fill: #6e7681 }
    .mark { stroke: #161b22 }
  }
"""
COLOURS = {
    "oneDNN": "#d9822b", "OpenBLAS": "#3f9b52", "BLIS": "#b04fa8", "Eigen": "#c0b02c", "LIBXSMM": "#d04545",
    "MKL": "#6a5acd", "oneDNN-gemm": "#e0a872", "oneDNN-sycl": "#a35f1c",
    "oneDNN-packed": "#8a6d3b", "Tenon-direct": "#17a2b8", "topi": "#17a2b8", "without": "#d9822b",
    "loop": "#d04545",
}
LINES = ["#4c94e0", "#d9822b", "#3f9b52", "#b04fa8", "#c0b02c", "#d04545", "#17a2b8"]

WIDTH = 960
MARGIN = 16
ROW = 17


class Picture:
    """Shapes of an SVG document, from which `write` makes a file."""

    def __init__(self, title, subtitle):
        self.shapes = []
        self.height = 0
        self.text(MARGIN, 24, title, "text title")
        self.text(MARGIN, 42, subtitle, "dim")

    def text(self, x, y, text, kind="text", anchor="start"):
        self.shapes.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
                           f'{escape(text)}</text>')

    def bar(self, x, y, width, height, kind):
        self.shapes.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" '
                           f'height="{height:.1f}" rx="2"/>')

    def line(self, x1, y1, x2, y2, kind):
        self.shapes.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" '
                           f'x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def mark(self, x, y, colour):
        self.shapes.append(f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>')

    def path(self, points, colour):
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(f'<polyline class="line" points="{joined}" stroke="{colour}"/>')

    def legend(self, y, names):
        """A bar for Tenon and a mark for each of the other names, in one line."""
        x = MARGIN
        self.bar(x, y - 9, 14, 10, "bar")
        self.text(x + 19, y, "Tenon")
        x += 80
        for name in names:
            self.mark(x + 5, y - 4, COLOURS[name])
            self.text(x + 14, y, name)
            x += 30 + 7 * len(name)

    def write(self, path):
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
            f'viewBox="0 0 {WIDTH} {self.height}">\n<style>{STYLE}</style>\n'
            f'<rect class="page" width="{WIDTH}" height="{self.height}" rx="6"/>\n'
            + "\n".join(self.shapes) + "\n</svg>\n", encoding="utf-8")


# ---- the matmul ladder ----------------------------------------------------------------------------------

def draw_ladder(data):
    picture = Picture(f"The matmul ladder: {data['problem']}",
                      f"GFLOPS on {data['machine']}; dashed: the peak of multiply-adds on as many threads")
    left, right, top = 130, WIDTH - 230, 60
    peaks, library = data["peak_gflops"], data.get("best_library")
    scale = (right - left) / max(peaks.values())
    for number, step in enumerate(data["ladder"]):
        y = top + number * 24
        threads = step["threads"]
        picture.text(left - 8, y + 14, step["name"], anchor="end")
        kind = "grey" if step["name"] == "no schedule" else "bar" if threads > 1 else "pale"
        picture.bar(left, y + 3, step["gflops"] * scale, 16, kind)
        limit = left + peaks[str(threads)] * scale
        picture.line(limit, y + 1, limit, y + 21, "limit")
        of = "1 thread" if threads == 1 else f"{threads} threads"
        picture.text(right + 12, y + 15, f"{step['gflops']:.1f} GFLOPS, {of}, {step['milliseconds']:.4g} ms")
    bottom = top + len(data["ladder"]) * 24
    if library:
        x = left + library["gflops"] * scale
        picture.line(x, top, x, bottom, "limit")
        picture.text(x, bottom + 14, f"{library['name']}, {library['gflops']}", "dim", "middle")
    picture.height = bottom + 26
    return picture


LADDER_HEAD = re.compile(r"^(?P<problem>\d+ x \d+ x \d+) in (?P<type>\w+) on \S+ (?P<machine>.*)$",
                         re.MULTILINE)
LADDER_PEAK = re.compile(r"^peak of multiply-adds: (?P<one>[\d.]+) GFLOPS on 1 thread"
                         r"(?:, (?P<all>[\d.]+) on (?P<threads>\d+))?", re.MULTILINE)
LADDER_STEP = re.compile(r"^(?P<name>\S.*?) +(?P<threads>\d+) +(?P<ms>[\d.]+) +(?P<gflops>[\d.]+) +[\d.]+ "
                         r"+[\d.]+ %", re.MULTILINE)
LADDER_LIBRARY = re.compile(r"times as fast as (?P<name>\w+), the best library here on (?P<threads>\d+) "
                            r"threads? \((?P<all>[^)]*) GFLOPS\)")


def ladder_of(table):
    """The data of the table that the ladder prints."""
    head, peak = LADDER_HEAD.search(table), LADDER_PEAK.search(table)
    steps = [{"name": step["name"], "threads": int(step["threads"]), "milliseconds": float(step["ms"]),
              "gflops": float(step["gflops"])} for step in LADDER_STEP.finditer(table)]
    if not head or not peak or not steps:
        raise SystemExit("draw_charts.py: this is not what `matmul_ladder --time` prints")
    peaks = {"1": float(peak["one"])}
    if peak["all"]:
        peaks[peak["threads"]] = float(peak["all"])
    data = {"machine": head["machine"], "command": "scripts/run.sh matmul_ladder --time",
            "problem": f"{head['problem']}, {head['type']}", "peak_gflops": peaks}
    if library := LADDER_LIBRARY.search(table):
        rates = dict(rate.rsplit(" ", 1) for rate in library["all"].split(", "))
        data["best_library"] = {"name": library["name"], "threads": int(library["threads"]),
                                "gflops": float(rates[library["name"]])}
    return data | {"ladder": steps}


# ---- Tenon beside libraries -----------------------------------------------------------------------------

def threads_of(count, name):
    return (name, lambda row: row["threads"] == count)


def works_of(names, title):
    return (title, lambda row: row["name"].split()[0] in names)


BY_THREADS = [threads_of(1, "1 thread"), threads_of(2, "2 threads")]
CONTESTS = {  # program: title, what 100 % is, panels
    "matmul": ("Products of matrices", "the peak of multiply-adds", BY_THREADS),
    "conv2d": ("Convolutions with a bias", "the peak of multiply-adds", BY_THREADS),
    "epilogues": ("Layers, compared with the same without bias and activation", "the peak of multiply-adds",
                  BY_THREADS),
    "attention": ("Attention, heads x length x width", "the peak of multiply-adds", BY_THREADS),
    "memory": ("Operators that are as fast as memory", "a copy of as many elements",
               [works_of({"chain", "relu", "transpose", "row_sums"}, "1 thread"),
                works_of({"column_sums", "softmax", "layer_norm", "cumsum"}, "1 thread, unless said")]),
    "tuning": ("What tuning finds", "the peak of multiply-adds", BY_THREADS),
}


def label_of(row):
    name = row["name"].removesuffix(" -").replace(" --", "").replace(" float32", "")
    return name + (", 2 threads" if name.startswith("cumsum") and row["threads"] == 2 else "")


def rate_of(row):
    return row.get("gbs", row.get("gflops"))


def draw_rows(picture, rows, left, right, top, limit):
    """Bars of Tenon's share of the peak, marks of the others', and the ratio to the best of these."""
    bottom = top + len(rows) * ROW
    step = 0.2 if limit <= 1.4 else 0.5 if limit <= 2 else 1
    scale = (right - left) / limit
    for number in range(int(limit / step + 1.001)):
        x = left + number * step * scale
        picture.line(x, top, x, bottom, "grid")
        picture.text(x, bottom + 14, f"{number * step * 100:.0f}%", "dim", "middle")
    for number, row in enumerate(rows):
        y = top + number * ROW
        rate, peers = rate_of(row), row.get("peers", {})
        full = rate / row["share_of_peak"]
        picture.text(left - 6, y + 12, label_of(row), anchor="end")
        picture.bar(left, y + 3, rate / full * scale, ROW - 6, "bar")
        for name, other in peers.items():
            picture.mark(left + other / full * scale, y + ROW / 2, COLOURS[name])
        if "ratio" in row:
            picture.text(right + 8, y + 12, f"{row['ratio']:.2f}", "dim")
    return bottom


def draw_contest(program, data):
    title, limit_name, panels = CONTESTS[program]
    rows = data[program]
    machine = data["machine"].split(":")[0]
    picture = Picture(title, f"{machine}; 100% is {limit_name}; "
                      "at the right: the speed relative to the fastest other")
    others = list(dict.fromkeys(name for row in rows for name in row.get("peers", {})))
    picture.legend(64, others)
    shown = [(name, [row for row in rows if chosen(row)]) for name, chosen in panels]
    shown = [(name, chosen) for name, chosen in shown if chosen]
    limit = max(max([rate_of(row), *row.get("peers", {}).values()]) / rate_of(row) * row["share_of_peak"]
                for row in rows)
    limit = math.ceil(max(limit, 1) * 5) / 5 if limit <= 1.4 else math.ceil(limit * 2) / 2
    width = (WIDTH - 2 * MARGIN) / len(shown)
    bottom = 0
    for number, (name, chosen) in enumerate(shown):
        x = MARGIN + number * width
        left = x + 15 + 6.6 * max(len(label_of(row)) for row in rows)
        picture.text(left, 88, name, "text")
        bottom = max(bottom, draw_rows(picture, chosen, left, x + width - 45, 94, limit))
    picture.height = math.ceil(bottom + 26)
    return picture


def draw_tuning(data):
    rows = []
    for row in data["tuned_programs"]:
        peers = row.get("peers", {})
        rows.append({"name": row["name"], "threads": 1, "gflops": row["tuned"], "peers": peers,
                     "share_of_peak": row["tuned"] / row["peak"]})
        if peers:
            rows[-1]["ratio"] = row["tuned"] / max(peers.values())
    return draw_contest("tuning", {"machine": data["machine"], "tuning": rows})


# ---- how long the compiler takes ------------------------------------------------------------------------

def draw_compile_time(data):
    picture = Picture("How long the compiler takes", f"milliseconds on {data['machine']}")
    rows = [(row["name"], row["milliseconds"], row["llvm"]) for row in data["build_ladder"]]
    rows += [(f"{row['name']} (mean)", row["mean"], row["llvm"]) for row in data["build_golden"]]
    left, right, top = 180, 400, 90
    scale = (right - left) / max(total for _, total, _ in rows)
    picture.text(left, 64, "Building: LLVM (pale) and all before it")
    for number, (name, total, llvm) in enumerate(rows):
        y = top - 14 + number * 22
        picture.text(left - 6, y + 13, name, anchor="end")
        picture.bar(left, y + 3, (total - llvm) * scale, 14, "bar")
        picture.bar(left + (total - llvm) * scale, y + 3, llvm * scale, 14, "pale")
        picture.text(left + total * scale + 6, y + 14, f"{total:.1f}", "dim")

    left, right, bottom = 530, 740, top - 14 + len(rows) * 22
    picture.text(left, 64, "Lowering, by the number of stages, axes or statements")
    low, high = -2, 4  # decades of milliseconds
    def place(count, milliseconds):
        return (left + (right - left) * math.log10(count) / 4,
                bottom - (bottom - top) * (math.log10(milliseconds) - low) / (high - low))
    for decade in range(low, high + 1):
        y = place(1, 10 ** decade)[1]
        picture.line(left, y, right, y, "grid")
        picture.text(left - 6, y + 4, f"{10 ** decade:g}", "dim", "end")
    for decade in range(5):
        x = place(10 ** decade, 1)[0]
        picture.line(x, top, x, bottom, "grid")
        picture.text(x, bottom + 14, f"{10 ** decade:,}", "dim", "middle")
    order = sorted(data["lower_scaling"], key=lambda row: -max(row["milliseconds"].values()))
    for number, row in enumerate(order):
        colour = LINES[number % len(LINES)]
        picture.path([place(int(count), ms) for count, ms in row["milliseconds"].items()], colour)
        y = top + 10 + number * 20
        picture.mark(right + 20, y - 4, colour)
        picture.text(right + 30, y, f"{row['name']} (exponent {row['growth_exponent']:.2f})")
    picture.height = bottom + 26
    return picture


# ---- all of them ----------------------------------------------------------------------------------------

DRAWINGS = {"ladder": draw_ladder, "tuned_programs": draw_tuning, "build_ladder": draw_compile_time}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ladder", type=pathlib.Path, metavar="TABLE", help=argparse.SUPPRESS)
    if table := parser.parse_args().ladder:
        data = ladder_of(table.read_text(encoding="utf-8"))
        (RESULTS / "ladder.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for path in sorted(RESULTS.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for key in data:
            if key in DRAWINGS:
                DRAWINGS[key](data).write(path.with_suffix(".svg"))
            elif key in CONTESTS:
                draw_contest(key, data).write(path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
