#!/usr/bin/env python3
"""planted_faults.py [--only TEXT] [--from N] [--seconds N] [--seed S] [--jobs J] [--worktree DIR] [--no-fuzz] [--no-tests]
                  [--rows]

Plants the faults of tests/planted/faults.toml in the compiler, one at a time, and tells for each which tests
fail and whether fuzzing finds it. The exit status is 1 if a fault escapes both. What is built and run is the
last commit, in a worktree of its own (by default beside this one) that is kept, so that a further run builds
little.

--only TEXT   only faults with TEXT in their name
--from N      only from the N-th of the list on
--seconds N   how long to fuzz for each of them (300)
--seed S      the first seed (1)
--jobs J      processes that build and fuzz (2)
--no-fuzz     only the tests
--no-tests    only fuzzing
--rows        rows of a table in Markdown, as in tests/planted/README.md, instead of lines
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "planted" / "faults.toml"
# A test program that takes longer hangs.
TEST_SECONDS = 1200
FUZZ_LIMITS = ["--compile", "--shrink-seconds", "0"]


def faults():
    with open(FAULTS, "rb") as table:
        return tomllib.load(table)["fault"]


def check(listed):
    """The faults whose text does not stand in its file exactly once, as sentences."""
    problems = []
    for fault in listed:
        path = ROOT / fault["file"]
        count = path.read_text().count(fault["old"]) if path.exists() else 0
        if count != 1:
            problems.append(f"'{fault['name']}': its text stands {count} times in {fault['file']}")
        if fault["old"] == fault["new"]:
            problems.append(f"'{fault['name']}' changes nothing")
    return problems


def run(command, where, seconds=None):
    """(exit status, output of both kinds); a status of None is no end within the time."""
    try:
        done = subprocess.run(command, cwd=where, timeout=seconds, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
        return None, output.decode(errors="replace") if isinstance(output, bytes) else output


def must(command, where):
    status, output = run(command, where)
    if status != 0:
        sys.exit(f"planted_faults.py: {' '.join(map(str, command))} failed:\n{output[-3000:]}")


def make_worktree(where):
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    if where.exists():
        must(["git", "checkout", "--quiet", "--force", "--detach", commit], where)
    else:
        must(["git", "worktree", "add", "--detach", where, commit], ROOT)
    must(["cmake", "--preset", "release"], where)


def failed_tests(output):
    return re.findall(r"^\[  FAILED  \] ([\w./]+)(?: \(|,|$)", output, re.MULTILINE)


def run_tests(fault, where):
    """The names of tests that fail, or what else tells of the fault."""
    found = []
    for name in fault["tests"]:
        program = where / "build/tests" / f"test_{name}"
        status, output = run([program, "--gtest_brief=1"], where, TEST_SECONDS)
        if status is None:
            found.append(f"test_{name} does not end")
        elif status != 0:
            found += sorted(set(failed_tests(output))) or [f"test_{name} ends with {status}"]
    return found


def fuzz(fault, where, options):
    """The first kind of finding, or None."""
    command = [where / "build/fuzz/fuzz", "--seed", str(options.seed), "--seconds", str(options.seconds),
               "--jobs", str(options.jobs), *FUZZ_LIMITS, *fault.get("fuzz_options", [])]
    status, output = run(command, where, options.seconds + 600)
    if status == 0:
        return None
    kinds = re.findall(r"^  \d+x (.*); seeds (\d+)", output, re.MULTILINE)
    return f"{kinds[0][0][:60]} (seed {kinds[0][1]})" if kinds else f"ends with {status}"


def plant(fault, where, options):
    """What the tests see and what fuzzing sees."""
    path = where / fault["file"]
    text = path.read_text()
    path.write_text(text.replace(fault["old"], fault["new"]))
    try:
        targets = [] if options.no_tests else [f"test_{name}" for name in fault["tests"]]
        targets += [] if options.no_fuzz else ["fuzz"]
        status, output = run(["ninja", "-C", "build", f"-j{options.jobs}", *targets], where)
        if status != 0:
            sys.exit(f"planted_faults.py: with '{fault['name']}' it does not build:\n{output[-3000:]}")
        return ([] if options.no_tests else run_tests(fault, where),
                None if options.no_fuzz else fuzz(fault, where, options))
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worktree", type=pathlib.Path, default=ROOT.parent / (ROOT.name + "-planted"))
    parser.add_argument("--no-fuzz", action="store_true")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()

    listed = [fault for fault in faults()[options.first - 1:] if options.only in fault["name"]]
    problems = check(listed)
    for problem in problems:
        print(problem)
    if problems:
        return 1

    make_worktree(options.worktree)
    escaped = by_tests = by_fuzz = 0
    for number, fault in enumerate(listed, 1):
        start = time.monotonic()
        tests, finding = plant(fault, options.worktree, options)
        by_tests += bool(tests)
        by_fuzz += finding is not None
        escaped += not tests and finding is None
        seen = "not asked" if options.no_tests else f"{len(tests)}: {tests[0]}" if tests else "none"
        fuzzed = "not asked" if options.no_fuzz else finding or "nothing"
        if options.rows:
            print(f"| {fault['name']} | `{fault['file']}` | {seen} | {fuzzed} |", flush=True)
        else:
            print(f"{number:2} {fault['name']}\n     tests: {seen}\n     fuzz:  {fuzzed}\n"
                  f"     {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(listed)} faults: "
          + ("" if options.no_tests else f"{by_tests} seen by the tests, ")
          + ("" if options.no_fuzz else f"{by_fuzz} by {options.seconds} s of fuzzing each, ")
          + f"{escaped} by neither")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
