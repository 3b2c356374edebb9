#!/usr/bin/env python3
"""planted_faults.py [--only TEXT] [--from N] [--no-tests] [--quick] [--all-tests] [--no-fuzz] [--seconds N]
                  [--seed S] [--jobs J] [--resume] [--results FILE] [--table] [--worktree DIR]
                  [--ninja COMMAND]

Plants the faults of tests/planted/faults.toml in the compiler, one at a time, and tells for each which test
sees it and whether fuzzing finds it. The exit status is 1 if a fault escapes both. What is built and run is
the last commit, in a worktree of its own (by default beside this one) that is kept, so that a further run
builds little.

Of the programs that a fault names under `tests`, each is built and run only if those before it saw nothing,
then those that test the whole (golden, fuzz, ...); the first test that fails ends it. Fuzzing ends with its
first finding. What is found goes at once into a file of JSON lines, one for each fault and way to look, so
that a run can be interrupted.

--only TEXT       only faults with TEXT in their name
--from N          only from the N-th of the list on
--no-tests        only fuzzing
--quick           of what tests the whole, only the known texts (golden)
--all-tests       every test of the programs that a fault names, to the end: how many see it
--no-fuzz         only tests
--seconds N       how long to fuzz for each of them (300)
--seed S          the first seed (1)
--jobs J          processes that build and fuzz (2)
--resume          leaves out what the results have; of fuzzing, what was found or fuzzed for as long
--results FILE    where results are appended (build/planted.jsonl)
--table           plants nothing: prints the results as a table, as in tests/planted/README.md
--worktree DIR    where to plant
--ninja COMMAND   how to build ("ninja"), for instance "nice ninja"
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "planted" / "faults.toml"
# What tests the whole, in the order of how long it takes; those of a fault's programs that are among
# them wait for their turn.
WHOLE = ["golden", "errors", "fuzz", "topi", "end_to_end"]
# A test program that takes longer hangs, and one that takes more memory will not end well.
TEST_SECONDS = 900
TEST_BYTES = 12 << 30
FUZZ_LIMITS = ["--compile", "--stop-at-first"]


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


# ---- Results ----------------------------------------------------------------------------------------------


class Results:
    """The lines of a file, the last one of each fault and way to look; `find` gives that."""

    def __init__(self, path):
        self.path = path
        self.last = {}
        if path.exists():
            for line in path.read_text().splitlines():
                self._take(json.loads(line))

    def _take(self, result):
        self.last[result["fault"], result["way"]] = result

    def find(self, fault, way):
        return self.last.get((fault["name"], way))

    def add(self, result):
        self._take(result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            file.write(json.dumps(result) + "\n")


def in_words(tests, fuzzing):
    """What the two ways to look gave, each None if nobody looked."""
    if tests is None:
        seen = "not asked"
    elif not tests["seen_by"]:
        seen = "none of " + ", ".join(f"`{name}`" for name in tests["asked"])
    else:
        seen = f"`{tests['program']}`: {tests['seen_by'][0]}"
        if len(tests["seen_by"]) > 1:
            seen += f" and {len(tests['seen_by']) - 1} more"
    if fuzzing is None:
        found = "not asked"
    elif not fuzzing["finding"]:
        found = f"nothing in {fuzzing['seconds']} s"
    else:
        found = f"after {fuzzing['after']:.0f} s, {fuzzing['cases']} cases: {fuzzing['finding']}"
    return seen, found


def print_table(listed, results):
    print("| fault | planted in | test that sees it | fuzzing |\n| --- | --- | --- | --- |")
    for fault in listed:
        seen, found = in_words(results.find(fault, "tests"), results.find(fault, "fuzz"))
        print(f"| {fault['name']} | `{fault['file']}` | {seen} | {found} |")
    print("\n" + summary(listed, results))


def summary(listed, results):
    def of(way, key):
        asked = [found for fault in listed if (found := results.find(fault, way))]
        return asked, [found for found in asked if found[key]]

    tested, seen = of("tests", "seen_by")
    fuzzed, found = of("fuzz", "finding")
    return (f"{len(listed)} faults: {len(seen)} of {len(tested)} seen by tests, "
            f"{len(found)} of {len(fuzzed)} by fuzzing, {len(escaped(listed, results))} by neither")


def escaped(listed, results):
    """Those that were looked for in both ways, in vain."""
    both = [(results.find(fault, "tests"), results.find(fault, "fuzz"), fault["name"]) for fault in listed]
    return [name for tests, fuzzing, name in both
            if tests and fuzzing and not tests["seen_by"] and not fuzzing["finding"]]


# ---- Planting ---------------------------------------------------------------------------------------------


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (TEST_BYTES, TEST_BYTES))


def run(command, where, seconds=None, limits=None):
    """(exit status, output of both kinds); a status of None is no end within the time."""
    with subprocess.Popen(command, cwd=where, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limits) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except BaseException as reason:
            # What it has started goes with it.
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            if isinstance(reason, subprocess.TimeoutExpired):
                return None, output
            raise


def must(command, where):
    status, output = run(command, where)
    if status != 0:
        sys.exit(f"planted_faults.py: {' '.join(map(str, command))} failed:\n{output[-3000:]}")


def make_worktree(where):
    """The commit that is checked out there."""
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    if where.exists():
        must(["git", "checkout", "--quiet", "--force", "--detach", commit], where)
    else:
        must(["git", "worktree", "add", "--detach", where, commit], ROOT)
    must(["cmake", "--preset", "release"], where)
    return commit


class DoesNotBuild(Exception):
    pass


def build(target, where, options):
    status, output = run([*shlex.split(options.ninja), "-C", "build", f"-j{options.jobs}", target], where)
    if status != 0:
        raise DoesNotBuild(output[-3000:])


def failed_tests(status, output):
    """Names of tests that fail; the last one that was begun if it never ended."""
    failed = sorted(set(re.findall(r"^\[  FAILED  \] ([\w./]+)(?: \(|,|$)", output, re.MULTILINE)))
    if failed or status == 0:
        return failed
    begun = re.findall(r"^\[ RUN      \] ([\w./]+)", output, re.MULTILINE)
    last = begun[-1] if begun else "the program"
    return [f"{last} (does not end)" if status is None else f"{last} (crashes)"]


def run_tests(fault, where, options):
    """The first program that sees the fault, with its tests that do."""
    own = [name for name in fault["tests"] if name not in WHOLE]
    programs = fault["tests"] if options.all_tests else own + (WHOLE[:1] if options.quick else WHOLE)
    found = {"program": None, "seen_by": [], "asked": programs}
    for name in programs:
        build(f"test_{name}", where, options)
        how = [] if options.all_tests else ["--gtest_fail_fast"]
        program = where / "build/tests" / f"test_{name}"
        failed = failed_tests(*run([program, *how], where, TEST_SECONDS, limit_memory))
        if failed and not found["program"]:
            found["program"] = name
        found["seen_by"] += failed
        if failed and not options.all_tests:
            break
    return found


def fuzz(fault, where, options):
    """The first finding, with the time to it."""
    build("fuzz", where, options)
    command = [where / "build/fuzz/fuzz", "--seed", str(options.seed), "--seconds", str(options.seconds),
               "--jobs", str(options.jobs), *FUZZ_LIMITS, *fault.get("fuzz_options", [])]
    status, output = run(command, where, options.seconds + 600)
    found = {"seconds": options.seconds, "finding": None, "after": None, "cases": None}
    if status == 0:
        return found
    kinds = re.findall(r"^  \d+x (.*); seeds (\d+)", output, re.MULTILINE)
    cases = re.search(r"^(\d+) cases in ([\d.]+) s", output, re.MULTILINE)
    found["finding"] = f"{kinds[0][0][:60]} (seed {kinds[0][1]})" if kinds else f"ends with {status}"
    found["cases"], found["after"] = (int(cases[1]), float(cases[2])) if cases else (0, 0.0)
    return found


def is_known(fault, way, results, options):
    found = results.find(fault, way)
    if found is None:
        return False
    return way == "tests" or bool(found["finding"]) or found["seconds"] >= options.seconds


def plant(fault, where, options, commit, results):
    """Looks for it in the ways that are asked for, and adds what is found to the results."""
    ways = [] if options.no_tests else [("tests", run_tests)]
    ways += [] if options.no_fuzz else [("fuzz", fuzz)]
    if options.resume:
        ways = [(way, look) for way, look in ways if not is_known(fault, way, results, options)]
    if not ways:
        return
    path = where / fault["file"]
    text = path.read_text()
    path.write_text(text.replace(fault["old"], fault["new"]))
    try:
        for way, look in ways:
            start = time.monotonic()
            found = look(fault, where, options)
            results.add({"fault": fault["name"], "way": way, "commit": commit, **found,
                         "took": round(time.monotonic() - start)})
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--all-tests", action="store_true")
    parser.add_argument("--no-fuzz", action="store_true")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "planted.jsonl")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--worktree", type=pathlib.Path, default=ROOT.parent / (ROOT.name + "-planted"))
    parser.add_argument("--ninja", default="ninja")
    options = parser.parse_args()

    listed = [fault for fault in faults()[options.first - 1:] if options.only in fault["name"]]
    results = Results(options.results)
    if options.table:
        print_table(listed, results)
        return 0
    problems = check(listed)
    for problem in problems:
        print(problem)
    if problems:
        return 1

    commit = make_worktree(options.worktree)
    unbuilt = []
    for number, fault in enumerate(listed, options.first):
        start = time.monotonic()
        try:
            plant(fault, options.worktree, options, commit, results)
        except DoesNotBuild as reason:
            unbuilt.append(fault["name"])
            print(f"{number:2} {fault['name']}: does not build\n{reason}", flush=True)
            continue
        seen, found = in_words(results.find(fault, "tests"), results.find(fault, "fuzz"))
        print(f"{number:2} {fault['name']}\n     tests: {seen}\n     fuzz:  {found}\n"
              f"     {time.monotonic() - start:.0f} s", flush=True)
    print(summary(listed, results))
    return 1 if unbuilt or escaped(listed, results) else 0


if __name__ == "__main__":
    sys.exit(main())
