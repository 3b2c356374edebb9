"""Finds the comments of C++ sources: shared by check_prose.py and sample_comments.py."""

import pathlib
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = (".h", ".c", ".cpp", ".cu")


class Comment(NamedTuple):
    """A block of adjacent comment lines of one column, or a comment that follows code on its line."""
    path: pathlib.Path  # relative to the root, if it lies below it
    line: int  # of the first line, from 1
    lines: list[str]  # without markers and the blank that follows them
    trails_code: bool


def sources_below(folders):
    """The C++ files below the folders (or the files themselves), sorted, without build outputs."""
    found = set()
    for folder in folders:
        start = ROOT / folder
        if not start.exists():
            raise SystemExit(f"{folder}: no such folder or file")
        for path in [start] if start.is_file() else start.rglob("*"):
            if path.suffix in SUFFIXES and path.is_file():
                found.add(path)
    return sorted(found)


def comment_start(line):
    """The index of the `//` or `/*` that opens a comment outside of string and character literals, or -1."""
    quote = None
    index = 0
    while index < len(line):
        char = line[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = None
        elif char == '"' or (char == "'" and not (index and line[index - 1].isalnum())):
            quote = char
        elif line.startswith(("//", "/*"), index):
            return index
        index += 1
    return -1


def comments_in(path):
    """The comments of a file in order. Raw string literals are skipped only if they open and close on other lines."""
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    column = None  # of the block that the last line belongs to
    raw_end = None
    index = 0
    while index < len(lines):
        line = lines[index]
        if raw_end:
            raw_end = None if raw_end in line else raw_end
            index += 1
            column = None
            continue
        start = comment_start(line)
        opening = line.rfind('R"', 0, start if start >= 0 else len(line))
        if opening >= 0 and "(" in line[opening:]:
            delimiter = ")" + line[opening + 2:line.index("(", opening)] + '"'
            if delimiter not in line[opening:]:
                raw_end = delimiter
                index += 1
                column = None
                continue
        if start < 0:
            column = None
            index += 1
            continue
        trails = bool(line[:start].strip())
        if line.startswith("/*", start):
            text = []
            first = index
            rest = line[start + 2:]
            while "*/" not in rest and index + 1 < len(lines):
                text.append(rest.strip())
                index += 1
                rest = lines[index].strip()
                rest = rest if rest.startswith("*/") else rest.removeprefix("*")
            text.append(rest.split("*/")[0].strip())
            found.append(Comment(name, first + 1, text, trails))
            column = None
        else:
            text = line[start:].lstrip("/").removeprefix("!").removeprefix("<").removeprefix(" ").rstrip()
            if not trails and column == start:
                found[-1].lines.append(text)
            else:
                found.append(Comment(name, index + 1, [text], trails))
                column = start
        index += 1
    return found
