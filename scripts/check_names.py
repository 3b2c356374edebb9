#!/usr/bin/env python3
"""Checks the names of files, READMEs and opening comments, macros, and functions that would hide others.

Files are named in snake_case; every room has a README.md; every public header opens with a comment; only the
runtime's C interface defines macros. No function of a room has the name and parameter types of a function of
a room that all others use: files of a room are compiled in groups, where the wrong one would be called
silently.
"""

import re

import sources

TOP = {"CMakeLists.txt", "CMakePresets.json", "INSTALL.md", "LICENSE", "README.md",
       "include", "runtime", "scripts", "src", "tests", "tutorials"}
WITH_README = ("src", "runtime", "tests")  # and every room in src/
FILE_NAME = re.compile(r"^[a-z0-9]+(_[a-z0-9]+)*$")
DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)")


PYTHON_NAMES = ("__init__.py", "__main__.py")  # the names that Python asks for
FUNCTION = re.compile(r"^(?:inline |constexpr |static )*[A-Za-z_][\w:<>,&* ]*?[ &*](\w+)"
                      r"\(([^;{()]*)\)\s*(?:\{|;)", re.M)
# Overloads with other argument types are allowed: the compiler considers both, and reports an ambiguity.
FOREIGN_TYPE = re.compile(r"^(const )?(std::[\w:<>, ]+|bool|char|int|unsigned|float|double)( ?const)?"
                          r" ?[&*]*$")


def functions(path):
    """(name, parameter types) of the functions whose parameters are all types of the standard library."""
    for name, parameters in FUNCTION.findall(re.sub(r"//.*", "", sources.text(path))):
        declared = [re.sub(r"\s*=.*$", "", one.strip()) for one in parameters.split(",") if one.strip()]
        types = tuple(re.sub(r"\s+\w+$|(?<=[&*])\w+$", "", one) for one in declared)
        if types and all(FOREIGN_TYPE.match(one) for one in types):
            yield name, types


def check_hidden_functions():
    used_by_all = {}
    for room in ("support", "tir", "interp", "arith"):
        for path in (sources.ROOT / "include/tenon" / room).glob("*.h"):
            for function in functions(path.relative_to(sources.ROOT)):
                used_by_all[function] = (room, path.relative_to(sources.ROOT))
    problems = []
    for path in sources.files(".h", ".cpp"):
        if path.parts[0] not in ("include", "src") or path.name in ("tenon.h",):
            continue
        for function in functions(path):
            room, header = used_by_all.get(function, (None, None))
            if room and room not in path.parts:
                problems.append(f"{path}: `{function[0]}` hides that of {header}: call that one, or use "
                                "another name")
    return problems


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
    if not FILE_NAME.match(path.stem) and path.name not in PYTHON_NAMES:
        problems.append(f"{path}: name is not snake_case")
    if path.suffix not in (".h", ".cpp"):
        return problems
    text = sources.text(path)
    if path.parts[0] == "include" and not text.lstrip().startswith(("//", "/*")):
        problems.append(f"{path}: opens without saying what it is for")
    c_interface = path.parts[:3] == ("include", "tenon", "runtime") and 'extern "C"' in text
    for number, line in enumerate(text.splitlines(), 1):
        match = DEFINE.match(line)
        # A macro that the same file undefines again is a way to write a table.
        if match and not c_interface and f"#undef {match[1]}\n" not in text:
            problems.append(f"{path}:{number}: macro {match[1]}")
    return problems


def main():
    problems = check_folders() + check_hidden_functions()
    for path in sources.files(".h", ".cpp", ".py", ".sh"):
        problems.extend(check_file(path))
    sources.report("check_names", problems)


if __name__ == "__main__":
    main()
