#!/usr/bin/env python3
"""Prints the size of the product (src, include and runtime), room by room, as a table.

count_lines.py [--headers]

  code      lines without blank lines, comments and #include lines
  files     sources and headers
  types     distinct names of classes, structs, unions and enums that are defined
  headers   private headers with exactly one user that lies in another folder; the .cpp of the header's own
            name is not counted as a user. --headers lists them.
"""

import collections
import re
import sys

import sources

PRODUCT = ("src", "include", "runtime")
SUFFIXES = (".h", ".cpp", ".c", ".inc")
COMMENT_OR_LITERAL = re.compile(
    r'(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)'
    r'|R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
TYPE = re.compile(
    r"^\s*(?:template\s*<[^;{]*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum(?:\s+class)?)\s+"
    r"(?:\[\[[^\]]*\]\]\s*)?(\w[\w:]*)(?:<[^;{}]*>)?(?:\s+final)?\s*(?::[^:;{][^;{]*)?\{",
    re.MULTILINE)


def without_comments(text):
    """The text without comments. The line breaks of comments stay, so that line numbers do not change."""
    def replacement(match):
        comment = match["comment"]
        return match[0] if comment is None else "\n" * comment.count("\n")
    return COMMENT_OR_LITERAL.sub(replacement, text)


def room_of(path):
    """The room of a product file: src/te/loops/loop_nest.cpp and include/tenon/te/stage.h are of te."""
    if path.parts[0] == "runtime":
        return "runtime"
    below = path.parts[1:] if path.parts[0] == "src" else path.parts[2:]
    return below[0] if len(below) > 1 else "(top)"


def users_of_headers(texts):
    """The product files that include each private header, except the .cpp of the header's name."""
    private = {path for path in texts if path.suffix == ".h" and path.parts[0] != "include"}
    users = collections.defaultdict(set)
    for path, text in texts.items():
        for name in INCLUDE.findall(text):
            for base in (path.parent, "src", "."):
                header = (sources.ROOT / base / name).resolve()
                header = header.relative_to(sources.ROOT) if header.is_relative_to(sources.ROOT) else None
                if header in private:
                    if (path.parent, path.stem) != (header.parent, header.stem):
                        users[header].add(path)
                    break
    return users


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--headers"]):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    texts = {path: without_comments(sources.text(path))
             for path in sources.files(*SUFFIXES) if path.parts[0] in PRODUCT}
    alone = {header: user for header, users in users_of_headers(texts).items()
             for user in users if len(users) == 1 and user.parent != header.parent}
    rows = collections.defaultdict(lambda: [0, 0, set(), 0])
    for path, text in texts.items():
        lines = [line for line in text.splitlines() if line.strip() and not INCLUDE.match(line)]
        for room in (room_of(path), "all"):
            code, files, types, headers = rows[room]
            rows[room] = [code + len(lines), files + 1, types | set(TYPE.findall(text)),
                          headers + (path in alone)]
    print(f"{'room':<10} {'code':>8} {'files':>6} {'types':>6} {'headers':>8}")
    for room in sorted(rows, key=lambda name: (name == "all", name)):
        code, files, types, headers = rows[room]
        print(f"{room:<10} {code:>8,} {files:>6,} {len(types):>6,} {headers:>8}")
    outside = [path for path in sources.files(*SUFFIXES) if path.parts[0] not in PRODUCT]
    print(f"In addition, {len(outside):,} files in tests and tutorials.")
    if arguments:
        for header, user in sorted(alone.items()):
            print(f"{header} <- {user}")


if __name__ == "__main__":
    main()
