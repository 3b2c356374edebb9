#!/usr/bin/env python3
"""check_exports.py LIBTENON LIBTENON_RUNTIME: checks the names that the shared libraries export.

- Every exported name is in Tenon's C interface or in namespace tenon. Instances of foreign templates (the
  standard library, Boost, LLVM) are not exported, so that they do not replace a program's own.
- No function or variable is in both libraries, except inline functions, which the loader unifies.
"""

import os
import re
import subprocess
import sys

OURS = re.compile(r"_Z(T[VISTWHC]|G[VR]Z?|Z|Th?n?\d+_|Tv.*_)*(N?K?St4hashI)?N[KORV]*5tenon")


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


def check(library):
    problems, count, short = [], 0, os.path.basename(library)
    for _, mangled, plain in symbols(library):
        count += 1
        if not re.fullmatch(r"tenon_\w+", mangled) and not OURS.match(mangled):
            problems.append(f"{short} exports a name that is not Tenon's: {plain}")
    if count < 100:
        problems.append(f"{library} exports only {count} names: it is the wrong library")
    print(f"{short}: {count} names")
    return problems


def main(compiler, runtime):
    problems = check(compiler) + check(runtime)
    strong = [{mangled for kind, mangled, _ in symbols(library) if kind in "TDBR"}
              for library in (compiler, runtime)]
    problems += [f"both libraries define {name}" for name in sorted(strong[0] & strong[1])]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
