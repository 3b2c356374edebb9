#!/usr/bin/env python3
"""Checks that files and lines stay short, and that nothing says it is unfinished.

Files over 700 lines fail; those over 400 are listed, as a hint that they may be about two things.
"""

import re

import sources

MAX_FILE = 700
LONG_FILE = 400
MAX_LINE = 110
KNOWN_TEXT = re.compile(r'"|@tir\.|\[ramp\(|primfn|cse_var|allocate\(|: Buffer\(')
# Written so that they do not match themselves.
UNFINISHED = re.compile(
    r"\bT[O]DO\b|\bF[I]XME\b|\bX[X]X\b|\bnot (yet )?implemente[d]\b|\bs[t]ub(s|bed)?\b", re.IGNORECASE)


def main():
    problems = []
    for path in sources.files(".h", ".cpp", ".py", ".sh"):
        lines = sources.text(path).splitlines()
        if len(lines) > MAX_FILE:
            problems.append(f"{path}: {len(lines)} lines, at most {MAX_FILE}")
        elif len(lines) > LONG_FILE:
            print(f"long: {path}: {len(lines)} lines")
        for number, line in enumerate(lines, 1):
            # Texts that a test compares or parses are given line by line, and in raw strings as they are.
            in_test = path.parts[0] == "tests"
            is_text = line.lstrip().startswith(('"', 'R"')) or in_test and KNOWN_TEXT.search(line)
            if len(line) > MAX_LINE and not is_text:
                problems.append(f"{path}:{number}: {len(line)} columns, at most {MAX_LINE}")
            if line != line.rstrip() or "\t" in line:
                problems.append(f"{path}:{number}: trailing space or tab")
            found = UNFINISHED.search(line)
            if found:
                problems.append(f"{path}:{number}: says that it is unfinished: {found[0]}")
    sources.report("check_sizes", problems)


if __name__ == "__main__":
    main()
