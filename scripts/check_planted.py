#!/usr/bin/env python3
"""Checks that the faults of tests/planted/faults.toml can still be planted: that the text which each of them
replaces occurs exactly once in its file."""

import sys

import planted_faults


def main():
    problems = planted_faults.check(planted_faults.faults())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
