#!/usr/bin/env python3
"""Checks the names of files, that each room introduces itself, and what the language would let pass.

Files are named in snake_case; every room has a README.md; every public header opens with a comment; macros
are defined nowhere but in the runtime's C interface.
"""

import re

import sources

TOP = {"CMakeLists.txt", "CMakePresets.json", "INSTALL.md", "LICENSE", "README.md",
       "include", "runtime", "scripts", "src", "tests", "tutorials"}
WITH_README = ("src", "runtime", "tests")  # and every room in src/
FILE_NAME = re.compile(r"^[a-z0-9]+(_[a-z0-9]+)*$")
DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)")


def check_folders():
    problems = []
    for folder in [*sorted((sources.ROOT / "src").iterdir()), *(sources.ROOT / name for name in WITH_README)]:
        if folder.is_dir() and not (folder / "README.md").is_file():
            problems.append(f"{folder.relative_to(sources.ROOT)}: has no README.md")
    for entry in sorted(sources.ROOT.iterdir()):
        if not entry.name.startswith((".", "build")) and entry.name not in TOP:
            problems.append(f"{entry.name}: does not belong at the top level")
    return problems


def check_file(path):
    problems = []
    if not FILE_NAME.match(path.stem):
        problems.append(f"{path}: name is not snake_case")
    if path.suffix not in (".h", ".cpp"):
        return problems
    text = sources.text(path)
    if path.parts[0] == "include" and not text.lstrip().startswith(("//", "/*")):
        problems.append(f"{path}: opens without saying what it is for")
    c_interface = path.parts[:3] == ("include", "tenon", "runtime") and 'extern "C"' in text
    for number, line in enumerate(text.splitlines(), 1):
        match = DEFINE.match(line)
        # A macro that is taken back in the same file is a way to write a table.
        if match and not c_interface and f"#undef {match[1]}\n" not in text:
            problems.append(f"{path}:{number}: macro {match[1]}")
    return problems


def main():
    problems = check_folders()
    for path in sources.files(".h", ".cpp", ".py", ".sh"):
        problems.extend(check_file(path))
    sources.report("check_names", problems)


if __name__ == "__main__":
    main()
