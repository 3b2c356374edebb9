#!/usr/bin/env python3
"""Checks the width and the ends of lines, and that no text is marked as unfinished."""

import re

import sources

MAX_LINE = 110  # clang-format holds code to 100 columns; examples in comments may be a little wider
KNOWN_TEXT = re.compile(r'"|@tir\.|\[ramp\(|primfn|cse_var|allocate\(|: Buffer\(')
# Written so that they do not match themselves.
UNFINISHED = re.compile(
    r"\bT[O]DO\b|\bF[I]XME\b|\bX[X]X\b|\bnot (yet )?implemente[d]\b|\bs[t]ub(s|bed)?\b", re.IGNORECASE)


def check_line(path, line):
    """Yields what is wrong with a line."""
    # Tests give texts to compare or parse line by line, and raw strings contain them unchanged.
    is_text = line.lstrip().startswith(('"', 'R"')) or path.parts[0] == "tests" and KNOWN_TEXT.search(line)
    if len(line) > MAX_LINE and not is_text:
        yield f"{len(line)} columns, at most {MAX_LINE}"
    if line != line.rstrip() or "\t" in line:
        yield "trailing space or tab"
    if found := UNFINISHED.search(line):
        yield f"says that it is unfinished: {found[0]}"


def main():
    sources.report("check_lines", [
        f"{path}:{number}: {problem}"
        for path in sources.files(".h", ".cpp", ".py", ".sh")
        for number, line in enumerate(sources.text(path).splitlines(), 1)
        for problem in check_line(path, line)])


if __name__ == "__main__":
    main()
