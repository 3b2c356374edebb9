#!/usr/bin/env python3
"""planted_faults.py [--only TEXT] [--from N] [--no-tests] [--quick] [--all-tests] [--no-fuzz] [--seconds N]
                  [--seed S] [--jobs J] [--resume] [--results FILE] [--table] [--worktree DIR]
                  [--ninja COMMAND]

Plants the faults of tests/planted/faults.toml in the compiler, one at a time, and reports for each which test
fails and whether fuzzing finds it. The exit status is 1 if a fault escapes both. The last commit is built and
run in a separate worktree (by default next to this one), which is kept so that further runs build little.

The programs that a fault lists under `tests` are built and run in order, followed by those that test several
rooms (golden, fuzz, ...), until a test fails. Fuzzing ends with its first finding. Each result is appended at
once to a file of JSON lines, one per fault and method, so that a run can be interrupted.

Each program first runs without a fault, once per commit. Tests that fail in this run are ignored. Likewise,
if fuzzing finds something without a fault, it starts after that seed. The lines of these runs name no fault.

--only TEXT       only faults with TEXT in their name; given more than once, with one of the texts
--from N          only from the N-th of the list on
--no-tests        only fuzzing
--quick           of the programs that test several rooms, only golden
--all-tests       run every test of the programs that a fault lists, and count how many fail
--no-fuzz         only tests
--seconds N       how long to fuzz for each of them (300)
--seed S          the first seed (1)
--jobs J          processes that build and fuzz (2)
--resume          skips faults that the results contain (for fuzzing: found, or fuzzed as long as requested)
--results FILE    where results are appended (build/planted.jsonl)
--table           plants nothing: prints the results as a table
--worktree DIR    the worktree to plant in
--ninja COMMAND   the build command ("ninja"), for instance "nice ninja"
"""

import argparse
import contextlib
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
# The programs that test several rooms, fastest first. If a fault lists one of them, it runs in this order
# too.
WHOLE = ["golden", "errors", "fuzz", "topi", "end_to_end"]
# A test program that takes longer is assumed to hang; one that takes more memory is stopped.
TEST_SECONDS = 900
TEST_BYTES = 12 << 30
FUZZ_LIMITS = ["--compile", "--stop-at-first"]
# Recorded in place of a test's name if a program ends before its first test.
BEFORE_TESTS = "the program"


def faults():
    with open(FAULTS, "rb") as table:
        return tomllib.load(table)["fault"]


def check(listed):
    """The faults whose text does not occur exactly once in its file, as sentences."""
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
    """The lines of a file: the last one of each fault and method, and of each run without a fault."""

    def __init__(self, path):
        self.path = path
        self.last = {}
        self.unplanted = {}
        if path.exists():
            for line in path.read_text().splitlines():
                self._take(json.loads(line))

    def _take(self, result):
        if result["fault"] is None:
            self.unplanted[result["commit"], result["way"], result["what"]] = result
        else:
            self.last[result["fault"], result["way"]] = result

    def find(self, fault, way):
        return self.last.get((fault["name"], way))

    def find_unplanted(self, commit, way, what):
        return self.unplanted.get((commit, way, what))

    def add(self, result):
        self._take(result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            file.write(json.dumps(result) + "\n")


def in_words(tests, fuzzing):
    """The results of both methods; None for a method that was not applied."""
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
        finding = fuzzing["finding"].replace("`", "'")
        found = f"after {fuzzing['after']:.0f} s, {fuzzing['cases']} cases: {finding}"
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
    """The faults that neither method found."""
    both = [(results.find(fault, "tests"), results.find(fault, "fuzz"), fault["name"]) for fault in listed]
    return [name for tests, fuzzing, name in both
            if tests and fuzzing and not tests["seen_by"] and not fuzzing["finding"]]


# ---- Planting ---------------------------------------------------------------------------------------------


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (TEST_BYTES, TEST_BYTES))


def run(command, where, seconds=None, limits=None):
    """(exit status, combined output); the status is None if the time limit was reached."""
    with subprocess.Popen(command, cwd=where, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limits) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except BaseException as reason:
            # Also ends the processes that it has started.
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
    alone = ";".join(sorted({str(where / fault["file"]) for fault in faults()}))
    must(["cmake", "--preset", "release", f"-DTENON_COMPILED_ALONE={alone}"], where)
    return commit


class DoesNotBuild(Exception):
    pass


@contextlib.contextmanager
def planted(fault, where):
    path = where / fault["file"]
    text = path.read_text()
    path.write_text(text.replace(fault["old"], fault["new"]))
    try:
        yield
    finally:
        path.write_text(text)


def failed_tests(status, output):
    """Names of the tests that fail; if the program crashed, the last test that began."""
    failed = sorted(set(re.findall(r"^\[  FAILED  \] ([\w./]+)(?: \(|,|$)", output, re.MULTILINE)))
    if failed or status == 0:
        return failed
    begun = re.findall(r"^\[ RUN      \] ([\w./]+)", output, re.MULTILINE)
    last = begun[-1] if begun else BEFORE_TESTS
    return [f"{last} (does not end)" if status is None else f"{last} (crashes)"]


class Search:
    """Both methods of finding a fault, in a worktree at a commit."""

    def __init__(self, where, commit, options, results):
        self.where, self.commit, self.options, self.results = where, commit, options, results

    # ---- tests ----

    def tests(self, fault):
        """The first program that sees the fault, with its tests that do."""
        own = [name for name in fault["tests"] if name not in WHOLE]
        whole = WHOLE[:1] if self.options.quick else WHOLE
        programs = fault["tests"] if self.options.all_tests else own + whole
        found = {"program": None, "seen_by": [], "asked": programs}
        how = [] if self.options.all_tests else ["--gtest_fail_fast"]
        for name in programs:
            alone = self._failing_alone(name)
            with planted(fault, self.where):
                failed = self._run_program(name, alone, how)
            if failed and not found["program"]:
                found["program"] = name
            found["seen_by"] += failed
            if failed and not self.options.all_tests:
                break
        return found

    def _failing_alone(self, name):
        """The tests of a program that fail without a fault."""
        known = self.results.find_unplanted(self.commit, "tests", name)
        if known:
            return known["fails"]
        start = time.monotonic()
        fails = []
        # A crash hides the tests after it, so they run again without the test that crashes.
        while failed := self._run_program(name, fails, []):
            print(f"without a fault, test_{name} fails: {', '.join(failed)}", flush=True)
            if failed[0].startswith(BEFORE_TESTS):
                sys.exit("planted_faults.py: it cannot see anything")
            fails += [test.split()[0] for test in failed]
            if not any(test.endswith(")") for test in failed):
                break
        self._add_unplanted("tests", name, {"fails": fails}, start)
        return fails

    def _run_program(self, name, left_out, how):
        self._build(f"test_{name}")
        if left_out:
            how = [*how, f"--gtest_filter=-{':'.join(left_out)}"]
        program = self.where / "build/tests" / f"test_{name}"
        return failed_tests(*run([program, *how], self.where, TEST_SECONDS, limit_memory))

    # ---- fuzzing ----

    def fuzz(self, fault):
        """The first finding, with the time to it."""
        own = fault.get("fuzz_options", [])
        first = self._seed_behind_findings(own)
        with planted(fault, self.where):
            return self._fuzz(own, first)

    def _seed_behind_findings(self, own):
        """The first from which on nothing is found without a fault."""
        seed = self.options.seed
        while True:
            what = " ".join([*own, f"--seed {seed}"])
            known = self.results.find_unplanted(self.commit, "fuzz", what)
            if not known or (known["seconds"] < self.options.seconds and not known["finding"]):
                start = time.monotonic()
                known = self._fuzz(own, seed)
                self._add_unplanted("fuzz", what, known, start)
                if known["finding"]:
                    print(f"without a fault, fuzz {what} finds: {known['finding']}", flush=True)
            if not known["finding"]:
                return seed
            found_at = re.search(r"\(seed (\d+)\)$", known["finding"])
            if not found_at:
                sys.exit("planted_faults.py: it cannot find anything else")
            seed = int(found_at[1]) + 1

    def _fuzz(self, own, seed):
        options = self.options
        self._build("fuzz")
        command = [self.where / "build/fuzz/fuzz", "--seed", str(seed), "--seconds", str(options.seconds),
                   "--jobs", str(options.jobs), *FUZZ_LIMITS, *own]
        status, output = run(command, self.where, options.seconds + 600)
        cases = re.search(r"^(\d+) cases in ([\d.]+) s", output, re.MULTILINE)
        found = {"seconds": options.seconds, "finding": None, "after": None,
                 "cases": int(cases[1]) if cases else 0}
        if status == 0:
            return found
        kinds = re.findall(r"^  \d+x (.*); seeds (\d+)", output, re.MULTILINE)
        found["finding"] = f"{kinds[0][0][:60]} (seed {kinds[0][1]})" if kinds else f"ends with {status}"
        found["after"] = float(cases[2]) if cases else 0.0
        return found

    # ---- both ----

    def _build(self, target):
        command = [*shlex.split(self.options.ninja), "-C", "build", f"-j{self.options.jobs}", target]
        status, output = run(command, self.where)
        if status != 0:
            raise DoesNotBuild(output[-3000:])

    def _add_unplanted(self, way, what, found, start):
        self.results.add({"fault": None, "way": way, "what": what, "commit": self.commit, **found,
                          "took": round(time.monotonic() - start)})

    def _is_known(self, fault, way):
        found = self.results.find(fault, way)
        if found is None:
            return False
        return way == "tests" or bool(found["finding"]) or found["seconds"] >= self.options.seconds

    def look(self, fault):
        """Looks in the ways that are asked for, and adds what is found to the results."""
        ways = [] if self.options.no_tests else [("tests", self.tests)]
        ways += [] if self.options.no_fuzz else [("fuzz", self.fuzz)]
        for way, find in ways:
            if self.options.resume and self._is_known(fault, way):
                continue
            start = time.monotonic()
            found = find(fault)
            self.results.add({"fault": fault["name"], "way": way, "commit": self.commit, **found,
                              "took": round(time.monotonic() - start)})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append")
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

    listed = [fault for fault in faults()[options.first - 1:]
              if any(text in fault["name"] for text in options.only or [""])]
    results = Results(options.results)
    if options.table:
        print_table(listed, results)
        return 0
    problems = check(listed)
    for problem in problems:
        print(problem)
    if problems:
        return 1

    search = Search(options.worktree, make_worktree(options.worktree), options, results)
    unbuilt = []
    for number, fault in enumerate(listed, options.first):
        start = time.monotonic()
        try:
            search.look(fault)
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
