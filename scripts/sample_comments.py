#!/usr/bin/env python3
"""Draws random comments, to be judged without the code below them.

    sample_comments.py [--seed N] [--count 60] [FOLDER or FILE]...

The folders are src, include and runtime unless some are named. The seed comes from the clock unless it is
given. Headings, comments of tools (`// NOLINT`, `// namespace x`) and names of arguments
(`/*name=*/`) are not drawn.
"""

import argparse
import random
import re
import time

import comments

FOLDERS = ["src", "include", "runtime"]
NOT_PROSE = re.compile(
    r"-{3,}|namespace\b|NOLINT|clang-format (?:on|off)|IWYU|NOLINTNEXTLINE|\w+=$")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else time.time_ns() % 1_000_000

    found = [comment for path in comments.sources_below(args.folders)
             for comment in comments.comments_in(path)
             if any(comment.lines) and not NOT_PROSE.match(comment.lines[0])]
    drawn = random.Random(seed).sample(found, min(args.count, len(found)))
    print(f"seed {seed}: {len(drawn)} of {len(found)} comments below {' '.join(args.folders)}")
    for number, comment in enumerate(drawn, 1):
        print(f"\n{number}. {comment.path}:{comment.line}")
        for line in comment.lines:
            print(f"    {line}".rstrip())


if __name__ == "__main__":
    main()
