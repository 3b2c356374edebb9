#!/usr/bin/env python3
"""check_exports.py LIBTENON LIBTENON_RUNTIME: they export what the public headers declare, and no more.

- Every exported name is of Tenon's C interface, or in namespace tenon, and every part of it is a word of
  a public header.
- Nothing is there that instances of foreign templates bring: of the standard library, Boost, LLVM.
- No function or datum is in both, but what inline functions are: those the loader makes one.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What the demangler says of a symbol before its name.
KINDS = re.compile(
    r"^(vtable|VTT|typeinfo name|typeinfo|guard variable|reference temporary #\d+|construction vtable"
    r"|TLS (init|wrapper) function|(non-)?virtual thunk) (for|to) ")
OURS = re.compile(r"_Z(T[VISTWHC]|G[VR]Z?|Z|Th?n?\d+_|Tv.*_)*(N?K?St4hashI)?N[KORV]*5tenon")
# Words of the demangler's.
OTHERS = {"operator"}


def symbols(library):
    """(type of nm, mangled name, demangled name) of what the library exports."""
    raw, plain = (
        subprocess.run(["nm", "-D", "--defined-only", *demangle, library], capture_output=True, text=True,
                       check=True).stdout.splitlines() for demangle in ([], ["-C"]))
    for line, demangled in zip(raw, plain):
        kind, mangled = line.split()[1:3]
        # Lower case: the linker's table names it, and nobody can bind to it.
        if kind in "uvw" or kind.isupper():
            yield kind, mangled.split("@")[0], demangled.split(" ", 2)[2]


def without_template_arguments(text):
    out, depth = [], 0
    for character in text:
        depth += (character == "<") - (character == ">")
        if depth == 0 and character != ">":
            out.append(character)
    return "".join(out)


def qualified_name(plain):
    """`tenon::te::Stage::split` of a demangled symbol, without what it returns and takes; None if it has none."""
    plain = KINDS.sub("", plain).split("::{lambda")[0]
    plain = re.sub(r"operator *(\(\)|->|<=>|<<=?|>>=?|[<>]=?|\[\]|[^\w\s(]+)", "operator", plain)
    plain = without_template_arguments(plain)
    names = re.findall(r"(?:^|[\s(*&])(tenon::[\w:~]*)", plain.split("(")[0])
    return names[-1] if names else None


def words_of_headers():
    words = set()
    for folder, _, files in os.walk(os.path.join(ROOT, "include/tenon")):
        for file in files:
            with open(os.path.join(folder, file), encoding="utf-8") as header:
                words |= set(re.findall(r"\w+", re.sub(r"//.*", "", header.read())))
    return words


def check(library, words):
    problems, count, short = [], 0, os.path.basename(library)
    for _, mangled, plain in symbols(library):
        count += 1
        name = mangled if re.fullmatch(r"tenon_\w+", mangled) else qualified_name(plain)
        if name is None or not (name == mangled or OURS.match(mangled)):
            problems.append(f"{short} exports a name that is not Tenon's: {plain}")
        else:
            problems += [f"{short} exports `{plain}`, and no public header has `{part}`"
                         for part in re.split(r"\W+", name) if part and part not in words | OTHERS]
    if count < 100:
        problems.append(f"{library} exports {count} names: not the library that is meant")
    print(f"{short}: {count} names")
    return problems


def main(compiler, runtime):
    words = words_of_headers()
    problems = check(compiler, words) + check(runtime, words)
    strong = [{mangled for kind, mangled, _ in symbols(library) if kind in "TDBR"}
              for library in (compiler, runtime)]
    problems += [f"both libraries define {name}" for name in sorted(strong[0] & strong[1])]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
