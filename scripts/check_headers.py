#!/usr/bin/env python3
"""Checks the compile-time cost of the public headers.

Times are noisy, so three other quantities are checked: the number of Tenon's lines after preprocessing, which
may shrink; the expensive standard headers that a header must not include; and the memory that GCC reports,
which is proportional to its time, relative to that of the standard headers that most programs include anyway.
"""

import os
import re
import shutil
import subprocess
import sys

import sources

# header: maximum number of Tenon's lines, and standard headers that it must not include
COSTS = {
    "tenon/tenon.h": (3136, ("filesystem", "chrono", "ranges", "iostream", "regex", "thread", "format")),
    "tenon/runtime/module.h": (
        583, ("filesystem", "chrono", "ranges", "iostream", "functional", "unordered_map",
             "algorithm", "variant")),
}
# header: maximum memory, relative to that of the headers in STANDARD
MEMORY = {"tenon/tenon.h": 1.7, "tenon/runtime/module.h": 0.95}
STANDARD = ("array", "cstdint", "functional", "map", "memory", "optional", "ostream", "source_location",
            "span", "string", "string_view", "variant", "vector")
MARKER = re.compile(r'# \d+ "([^"]*)"')


def cost(compiler, header):
    """The number of Tenon's non-blank lines, and the names of the standard headers."""
    text = subprocess.run(
        [compiler, "-std=c++20", "-E", "-I", "include", "-x", "c++", "-"], input=f'#include "{header}"\n',
        capture_output=True, text=True, check=True).stdout
    lines, headers, ours = 0, set(), False
    for line in text.splitlines():
        marker = MARKER.match(line)
        if marker:
            ours = marker[1].startswith("include/tenon/")
            if re.search(r"/c\+\+/", marker[1]):
                headers.add(marker[1].rsplit("/", 1)[1])
        elif ours and line.strip():
            lines += 1
    return lines, headers


def memory(compiler, headers):
    """The megabytes that the compiler uses; None if it does not report them in GCC's form."""
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-ftime-report", "-I", "include", "-x", "c++", "-"],
        input="".join(f"#include <{header}>\n" for header in headers), capture_output=True, text=True,
        check=True)
    total = re.search(r"^ *TOTAL .* (\d+)M$", done.stderr, re.M)
    return int(total[1]) if total else None


def main():
    os.chdir(sources.ROOT)
    problems = []
    compiler = os.environ.get("CXX") or shutil.which("g++") or "c++"
    for header, (limit, forbidden) in COSTS.items():
        lines, headers = cost(compiler, header)
        if lines > limit:
            problems.append(f"{header} brings {lines} lines of ours, at most {limit}")
        problems += [f"{header} brings <{name}>" for name in forbidden if name in headers]
    standard = memory(compiler, STANDARD)
    for header, limit in MEMORY.items():
        taken = memory(compiler, (header,))
        if standard and taken and taken > limit * standard:
            problems.append(f"{header} takes {taken} MB to compile, the standard headers {standard}: more "
                            f"than {limit} times as much")
    return sources.report("check_headers", problems)


if __name__ == "__main__":
    sys.exit(main())
