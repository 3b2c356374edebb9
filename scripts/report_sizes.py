#!/usr/bin/env python3
"""Prints files and functions that are long. The exit status is always 0.

A long file is a hint to look at it, not a fault: a file is about one thing, however long that makes it.
"""

import re

import sources

LONG_FILE = 600
LONG_FUNCTION = 80
# The first line of a function's definition: it ends in `{`, has parameters, and does not begin a type, a
# namespace or a statement. Functions in a namespace or a class begin in column 0 or 2.
FUNCTION = re.compile(
    r"^(?P<indent>(?:  )?)(?!\s)"
    r"(?!(?:class|struct|namespace|enum|union|switch|if|for|while|else|do|case|return|extern)\b)"
    r"[^#/}].*\)[^;]*\{$")


def functions(lines):
    """Yields the first line's number, the number of lines and the first line's text of each function."""
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match:
            continue
        closing = match["indent"] + "}"
        for end in range(start + 1, len(lines)):
            if lines[end].startswith(closing):
                yield start + 1, end - start + 1, line.strip()
                break


def main():
    for path in sources.files(".h", ".cpp", ".py", ".sh"):
        lines = sources.text(path).splitlines()
        if len(lines) > LONG_FILE:
            print(f"{path}: {len(lines)} lines")
        if path.suffix in (".h", ".cpp"):
            for number, length, text in functions(lines):
                if length > LONG_FUNCTION:
                    print(f"{path}:{number}: {text.split('(')[0].split()[-1]}: {length} lines")


if __name__ == "__main__":
    main()
