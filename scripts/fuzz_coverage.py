#!/usr/bin/env python3
"""fuzz_coverage.py [--seconds N] [--seed S] [--show FILE] [--no-run] [FUZZ OPTION ...]

Measures the share of the compiler's lines that random programs alone reach: builds the fuzzer with counters
for every line (preset `coverage`, build-coverage/), runs it, and prints a row for each folder of src/te,
src/arith, src/lower and src/codegen, and the files that are reached least.

--seconds N   how long to run (300)
--seed S      the first seed (1)
--show FILE   print the unreached lines of a file, such as src/te/relations/split.cpp
--no-run      use the counters of the last run
Further options are passed to the fuzzer, for instance --blocks; --compile is always on.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"
ROOMS = ("src/te/", "src/arith/", "src/lower/", "src/codegen/")
SHOWN = 20


def run_fuzzer(options, further):
    subprocess.run(["cmake", "--preset", "coverage"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "coverage", "--target", "fuzz"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()
    # The counters take additional time and memory.
    subprocess.run([BUILD / "fuzz/fuzz", "--compile", "--seconds", str(options.seconds), "--seed",
                    str(options.seed), "--limit", "120", "--shrink-seconds", "0", *further], cwd=ROOT)


def counted_lines():
    """{file: {line: number of executions}}; lines of templates and headers count in every user."""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    files = [str(path) for path in BUILD.rglob("*.gcda") if "CMakeFiles/tenon_" in str(path)]
    for first in range(0, len(files), 40):
        output = subprocess.run(["gcov", "--json-format", "--stdout", *files[first:first + 40]], cwd=BUILD,
                                check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for text in output.splitlines():
            for file in json.loads(text)["files"]:
                path = (BUILD / file["file"]).resolve()
                name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
                if not name.startswith(ROOMS):
                    continue
                for line in file["lines"]:
                    lines[name][line["line_number"]] += line["count"]
    return lines


def print_table(lines):
    def share(files):
        counts = [count for file in files for count in lines[file].values()]
        reached = sum(count > 0 for count in counts)
        return f"{reached:7} of {len(counts):6}  {100 * reached / max(len(counts), 1):5.1f} %"

    folders = collections.defaultdict(list)
    for file in sorted(lines):
        folders[str(pathlib.PurePath(file).parent)].append(file)
    for folder, files in folders.items():
        print(f"{folder:30} {share(files)}")
    for room in ROOMS:
        print(f"{'all of ' + room:30} {share([f for f in lines if f.startswith(room)])}")
    missed = {file: sum(count == 0 for count in lines[file].values()) for file in lines}
    print(f"\nlines that were not reached, in the {SHOWN} files that have most of them:")
    for file in sorted(missed, key=missed.get, reverse=True)[:SHOWN]:
        print(f"{missed[file]:6}  {file}")


def show(lines, file):
    for number, text in enumerate((ROOT / file).read_text().splitlines(), 1):
        if lines[file].get(number) == 0:
            print(f"{number:5} {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show")
    parser.add_argument("--no-run", action="store_true")
    options, further = parser.parse_known_args()
    if not options.no_run:
        run_fuzzer(options, further)
    lines = counted_lines()
    if not lines:
        sys.exit("fuzz_coverage.py: nothing was counted; was the fuzzer built in build-coverage?")
    if options.show:
        show(lines, options.show)
    else:
        print_table(lines)


if __name__ == "__main__":
    main()
