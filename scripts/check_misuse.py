#!/usr/bin/env python3
"""Checks the tables of misuse in tests/errors/*.md, and those of tests/lessons.md: that every row names a test,
and that every test is there.

A table of misuse has the columns misuse, error and test, one of lessons what broke, here and test; the last
names the tests that state the fact, as `Suite.Test`, separated by commas. Other tables are not looked at.
"""

import re

import sources

TESTS = sources.ROOT / "tests"
FILES = {TESTS / "lessons.md": ["what broke", "here", "test"],
         **{path: ["misuse", "error", "test"] for path in sorted((TESTS / "errors").glob("*.md"))}}
TEST = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
NAME = re.compile(r"^`(\w+\.\w+)`$")
SEPARATOR = re.compile(r"(?<!\\)\|")  # a bar with a backslash before it is one of the text's


def tests():
    return {f"{suite}.{test}" for path in sources.files(".cpp") if path.parts[0] == "tests"
            for suite, test in TEST.findall(sources.text(path))}


def cells(line):
    return [cell.strip() for cell in SEPARATOR.split(line.strip().strip("|"))]


def check_row(row, columns, known):
    if len(row) != len(columns):
        return [f"{len(row)} columns instead of {len(columns)}"]
    problems = [f"the column {name} is empty" for name, cell in zip(columns, row) if not cell]
    for cell in filter(None, (part.strip() for part in row[-1].split(","))):
        name = NAME.match(cell)
        if not name:
            problems.append(f"{cell} is no `Suite.Test`")
        elif name[1] not in known:
            problems.append(f"there is no test {name[1]}")
    return problems


def check_file(path, columns, known):
    problems, in_table, rows = [], False, 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("|"):
            in_table = False
        elif cells(line) == columns:
            in_table = True
        elif in_table and set(line) - set("|-: "):
            rows += 1
            problems += [f"{path.relative_to(sources.ROOT)}:{number}: {problem}"
                         for problem in check_row(cells(line), columns, known)]
    return problems, rows


def main():
    known, problems, rows = tests(), [], 0
    for path, columns in FILES.items():
        found, count = check_file(path, columns, known)
        problems += found
        rows += count
    if rows == 0:
        problems.append("tests/errors: no table of misuse")
    sources.report("check_misuse", problems)


if __name__ == "__main__":
    main()
