#!/usr/bin/env python3
"""Checks that all C++ is formatted according to .clang-format, by the version that setup.sh installs.

Other versions break lines differently. `check_format.py --fix` formats instead of checking.
"""

import shutil
import subprocess
import sys

import sources

TOOL = "clang-format-14"
FILES_PER_CALL = 50


def main():
    if not shutil.which(TOOL):
        sources.report("check_format", [f"{TOOL} is not installed: scripts/setup.sh installs it"])
    files = [str(path) for path in sources.files(".h", ".cpp")]
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    problems = []
    for start in range(0, len(files), FILES_PER_CALL):
        call = [TOOL, *mode, *files[start:start + FILES_PER_CALL]]
        result = subprocess.run(call, cwd=sources.ROOT, capture_output=True, text=True)
        problems += [line for line in result.stderr.splitlines() if "-Wclang-format" in line]
        if result.returncode and not problems:
            problems.append(f"{TOOL} failed: {result.stderr.strip()}")
    sources.report("check_format", problems)


if __name__ == "__main__":
    main()
