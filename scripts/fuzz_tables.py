#!/usr/bin/env python3
"""fuzz_tables.py FILE ...: adds up the tables of several runs of `fuzz --coverage-json` and prints them as text.

A cell has the number of times that it was met and, if that is less, the number of times that it was accepted;
"." was not met. Each table is followed by the rows that no run met, and the rows that were never accepted.
"""

import collections
import json
import sys


def added(paths):
    """{table: {(what, option): {column: [met, accepted]}}}, in the order of the files' rows."""
    tables = {}
    for path in paths:
        with open(path) as file:
            for name, rows in json.load(file).items():
                table = tables.setdefault(name, {})
                for row in rows:
                    cells = table.setdefault((row["what"], row["option"]),
                                             collections.defaultdict(lambda: [0, 0]))
                    for column, count in row["cells"].items():
                        cells[column][0] += count["met"]
                        cells[column][1] += count["accepted"]
    return tables


def text_of(met, accepted):
    return "." if met == 0 else str(met) if met == accepted else f"{met}/{accepted}"


def print_table(name, table):
    columns = list(next(iter(table.values())))
    print(f"### {name[0].upper() + name[1:]}\n\n```")
    names = [what + (f" {option}" if option else "") for what, option in table]
    lines = [["", *columns]] + [[row, *(text_of(*cells[column]) for column in columns)]
                                for row, cells in zip(names, table.values())]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns) + 1)]
    for line in lines:
        print((line[0].ljust(widths[0]) + "".join(
            "  " + cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))).rstrip())
    print("```\n")
    sums = [[sum(cell[n] for cell in cells.values()) for n in (0, 1)] for cells in table.values()]
    not_met = [row for row, (met, _) in zip(names, sums) if not met]
    refused = [row for row, (met, accepted) in zip(names, sums) if met and not accepted]
    if not_met:
        print(f"Not met: {', '.join(not_met)}.\n")
    if refused:
        print(f"Never accepted: {', '.join(refused)}.\n")
    if not not_met and not refused:
        print("Every ingredient was met and accepted.\n")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for name, table in added(sys.argv[1:]).items():
        print_table(name, table)


if __name__ == "__main__":
    main()
