#!/usr/bin/env python3
"""Compares how fast topi's schedules are in two commits, or in two files, and fails on a loss of 3 %.

ratchet.py [--base COMMIT] [--seed S] [--count N] [--threads N] [FAMILY...]
    Builds the benchmark `shapes` of COMMIT in build/ratchet and that of this tree, and runs both alternately,
    a few shapes at a time. The default COMMIT is the one that tests/bench/ratchet.json has for this
    kind of processor. If a family lost, looks for the commit that lost it, by bisection.
ratchet.py --files BEFORE AFTER
    Compares files that `shapes --json` wrote on one kind of processor, family by family.
ratchet.py --record
    Makes HEAD the base for this kind of processor.

Two figures of each family must not fall below 0.97: the geometric mean of the rows' speeds relative to the
base, and the quotient of the 5th percentiles of their shares of the machine's limit. A family that loses is
run again. The exit status is 1 if it loses again. Run as root, the benchmark has real-time priority, so that
other programs do not interrupt it.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import sources

FAMILIES = ["matmul", "batched", "conv", "depthwise", "pool", "softmax", "norm", "reduce", "transpose",
            "attention", "elementwise"]
BASES = sources.ROOT / "tests" / "bench" / "ratchet.json"
WORK = sources.ROOT / "build" / "ratchet"
LIMIT = 0.97
ROUNDS = 4
FIRST = ["chrt", "-r", "1"] if os.geteuid() == 0 and shutil.which("chrt") else []
SHAPES_AT_A_TIME = 8


def processor():
    """What kind of processor this is: "AMD EPYC, family 25, model 17"."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    values = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", text, re.MULTILINE))
    return f"{values.get('model name')}, family {values.get('cpu family')}, model {values.get('model')}"


def git(*arguments, root=sources.ROOT):
    result = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return result.stdout.strip()


def built(commit, name):
    """The program `shapes` of a commit, or of this tree if that is None. Worktrees in build/ratchet stay."""
    root = sources.ROOT
    if commit:
        root = WORK / name
        if not root.exists():
            git("worktree", "prune")
            git("worktree", "add", "--detach", str(root), commit)
        git("checkout", "--detach", commit, root=root)
    log = WORK / f"{name}.log"
    with open(log, "w", encoding="utf-8") as out:
        for command in (["cmake", "--preset", "release"],
                        ["cmake", "--build", "--preset", "release", "--target", "bench_shapes"]):
            if subprocess.run(command, cwd=root, stdout=out, stderr=out, check=False).returncode != 0:
                sys.exit(f"ratchet.py: {root} cannot be built, see {log}")
    return root / "build" / "bench" / "shapes"


def rows_in(file):
    """The rows of each family in a file of `shapes --json`, by name."""
    groups = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    return {group.removeprefix("shapes "): {row["name"]: row for row in rows}
            for group, rows in groups.items()}


def rows_of(program, family, seed, options):
    """The rows of one run."""
    file = WORK / "run.json"
    file.unlink(missing_ok=True)
    command = [*FIRST, program, "--family", family, "--seed", str(seed), "--count", str(SHAPES_AT_A_TIME),
               "--threads", str(options.threads), "--turns", "5", "--turn-ms", "10", "--alone", "--json", file]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return rows_in(file)[family]


def raced(before, after, family, options):
    """The rows of two programs, which run alternately in several rounds.

    Each row is the fastest of its rounds, because other programs and the places of arrays only slow it down.
    """
    runs = {before: {}, after: {}}
    for chunk in range(math.ceil(options.count / SHAPES_AT_A_TIME)):
        for turn in range(ROUNDS):
            for program in (before, after) if turn % 2 == 0 else (after, before):
                for name, row in rows_of(program, family, options.seed + chunk, options).items():
                    runs[program].setdefault(name, []).append(row)
    return [{name: min(rows, key=lambda row: row["milliseconds"]) for name, rows in runs[program].items()}
            for program in (before, after)]


def loses(family, before, after):
    """Prints a family's figures; returns whether one is below the limit."""
    names = before.keys() & after.keys()
    if not names:
        print(f"{family:<12} has no rows in common")
        return False
    speeds = {name: before[name]["milliseconds"] / after[name]["milliseconds"] for name in names}
    speed = statistics.geometric_mean(speeds.values())
    # Both shares are of the limit that was measured with the base.
    shares = [(before[name]["share_of_peak"], speeds[name]) for name in names]
    fifth = [sorted(values)[len(names) // 20]
             for values in ([share for share, _ in shares], [share * gain for share, gain in shares])]
    lost = min(speed, fifth[1] / fifth[0]) < LIMIT
    print(f"{family:<12} {len(names):4} rows: speed {speed:.3f}, 5th percentile of shares {fifth[0]:.3f} to "
          f"{fifth[1]:.3f}{'  LOST' if lost else ''}", flush=True)
    return lost


def culprit(base, family, options):
    """The first commit after the base with which the family loses, by bisection."""
    commits = git("rev-list", "--reverse", "--first-parent", f"{base}..HEAD").split()
    if not commits:
        return "changes that are not committed"
    low, high = 0, len(commits) - 1
    while low < high:
        middle = (low + high) // 2
        program = built(commits[middle], "middle")
        if loses(family, *raced(built(base, "base"), program, family, options)):
            high = middle
        else:
            low = middle + 1
    return git("log", "-1", "--format=%h %s", commits[high])


def race(options):
    """Compares the base with this tree, and returns how many families lost."""
    bases = json.loads(BASES.read_text(encoding="utf-8")) if BASES.exists() else {}
    base = options.base or bases.get(processor())
    if not base:
        sys.exit(f"ratchet.py: there is no base for {processor()}; make one with --record")
    WORK.mkdir(parents=True, exist_ok=True)
    before, after = built(base, "base"), built(None, "after")
    lost = [family for family in options.families or FAMILIES
            if all(loses(family, *raced(before, after, family, options)) for _ in range(2))]
    for family in lost:
        print(f"{family} lost with {culprit(base, family, options)}", flush=True)
    print(f"{len(lost)} families lost more than {100 * (1 - LIMIT):.0f} % since {base}")
    return len(lost)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="default: all")
    parser.add_argument("--base", metavar="COMMIT", help="default: that of ratchet.json")
    parser.add_argument("--seed", type=int, default=1, help="of the shapes")
    parser.add_argument("--count", type=int, default=48, help="shapes of a family")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--files", nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.families) - set(FAMILIES):
        parser.error(f"there is no family {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}")
    if options.record:
        bases = json.loads(BASES.read_text(encoding="utf-8")) if BASES.exists() else {}
        bases[processor()] = git("rev-parse", "HEAD")
        BASES.write_text(json.dumps(bases, indent=1) + "\n", encoding="utf-8")
        return 0
    if options.files:
        before, after = map(rows_in, options.files)
        both = [family for family in before if family in after]
        return int(any([loses(family, before[family], after[family]) for family in both]))
    return int(race(options) > 0)


if __name__ == "__main__":
    sys.exit(main())
