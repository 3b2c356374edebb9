#!/usr/bin/env python3
"""Checks that lines stay short and that nothing says it is unfinished.

Long files and functions are reported, not refused: a file is about one thing, however long that makes it.
"""

import re

import sources

LONG_FILE = 600
LONG_FUNCTION = 80
MAX_LINE = 110  # clang-format holds code to 100 columns; examples in comments may be a little wider
# A definition of a function: it ends in `{`, has parameters, and is no type, namespace or statement.
# What stands in a namespace or in a class begins in column 0 or 2.
FUNCTION = re.compile(
    r"^(?P<indent>(?:  )?)(?!\s)"
    r"(?!(?:class|struct|namespace|enum|union|switch|if|for|while|else|do|case|return|extern)\b)"
    r"[^#/}].*\)[^;]*\{$")
KNOWN_TEXT = re.compile(r'"|@tir\.|\[ramp\(|primfn|cse_var|allocate\(|: Buffer\(')
# Written so that they do not match themselves.
UNFINISHED = re.compile(
    r"\bT[O]DO\b|\bF[I]XME\b|\bX[X]X\b|\bnot (yet )?implemente[d]\b|\bs[t]ub(s|bed)?\b", re.IGNORECASE)


def functions(lines):
    """(first line's number, number of lines, text of the first line) of each function, as far as the layout tells."""
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match:
            continue
        closing = match["indent"] + "}"
        for end in range(start + 1, len(lines)):
            if lines[end].startswith(closing):
                yield start + 1, end - start + 1, line.strip()
                break


def report_sizes(path, lines):
    if len(lines) > LONG_FILE:
        print(f"{path}: {len(lines)} lines")
    if path.suffix in (".h", ".cpp"):
        for number, length, text in functions(lines):
            if length > LONG_FUNCTION:
                print(f"{path}:{number}: {text.split('(')[0].split()[-1]}: {length} lines")


def main():
    problems = []
    for path in sources.files(".h", ".cpp", ".py", ".sh"):
        lines = sources.text(path).splitlines()
        report_sizes(path, lines)
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
