"""Runs TVM 0.9's tutorials and tests of tensor expressions, unchanged, under tenon.compat.tvm.

    python tvm_material.py FOLDER

FOLDER is a checkout of TVM at the tag v0.9.0, of which `gallery` and `tests` suffice. Prints each tutorial
and the number of tests that pass. Nothing of TVM is part of this repository."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TUTORIALS = [
    "how_to/work_with_schedules/extern_op.py",
    "how_to/work_with_schedules/intrin_math.py",
    "how_to/work_with_schedules/reduction.py",
    "how_to/work_with_schedules/scan.py",
    "how_to/work_with_schedules/schedule_primitives.py",
    "how_to/work_with_schedules/tedd.py",
    "how_to/work_with_schedules/tensorize.py",
    "how_to/work_with_schedules/tuple_inputs.py",
    "how_to/optimize_operators/opt_gemm.py",
    "tutorial/intro_topi.py",
    "tutorial/tensor_expr_get_started.py",
    "tutorial/tensor_ir_blitz_course.py",
]
FAILURES = Path(__file__).with_name("tvm_failures.tsv")


def run_tutorial(folder, name):
    """Returns "" if a tutorial runs, or the last line of its error."""
    with tempfile.TemporaryDirectory() as scratch:
        result = subprocess.run(
            [sys.executable, "-m", "tenon.compat.tvm", str(folder / "gallery" / name)],
            cwd=scratch,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    return "" if result.returncode == 0 else result.stderr.strip().split("\n")[-1]


def run_tests(folder, pattern):
    """Runs test files and returns the outcome of each test by name."""
    tests = folder / "tests" / "python" / "unittest"
    files = sorted(str(path) for path in tests.glob(pattern))
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tenon.compat.tvm", "-p", "no:cacheprovider"]
        + ["-q", "-rA", "--continue-on-collection-errors", f"--rootdir={folder}", *files],
        cwd=tests,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    outcomes = {}
    for line in result.stdout.split("\n"):
        found = re.match(r"(PASSED|FAILED|ERROR|XFAIL) (?:\S*/)?(\S+?)(?: - .*)?$", line)
        if found:
            outcomes[found[2]] = found[1]
    return outcomes


def known_failures():
    """Returns the tests of tensor expressions that fail, each with its reason."""
    lines = FAILURES.read_text(encoding="utf-8").strip().split("\n")
    return dict(line.split("\t") for line in lines)


def main():
    folder = Path(sys.argv[1]).resolve()
    for name in TUTORIALS:
        print(f"{name}: {run_tutorial(folder, name) or 'runs'}", flush=True)
    for pattern in ("test_te_*.py", "test_tir_schedule_*.py", "test_tvmscript_*.py"):
        outcomes = run_tests(folder, pattern)
        passed = sum(outcome == "PASSED" for outcome in outcomes.values())
        print(f"{pattern}: {passed} of {len(outcomes)} pass", flush=True)


if __name__ == "__main__":
    main()
