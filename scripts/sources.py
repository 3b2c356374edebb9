"""The project's own source files, and which room each belongs to: shared by the check_*.py scripts."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "runtime", "tests", "tutorials", "scripts")
NOT_OURS = (pathlib.PurePath("tests/golden/data"),)  # texts to reproduce, as they were given


def files(*suffixes):
    """All files below the source folders with one of the suffixes, as paths relative to the root, sorted."""
    found = []
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            relative = path.relative_to(ROOT)
            ours = not any(folder in relative.parents for folder in NOT_OURS)
            if ours and path.suffix in suffixes and path.is_file():
                found.append(relative)
    return sorted(found)


def text(relative):
    return (ROOT / relative).read_text(encoding="utf-8")


def report(name, problems):
    """Prints the problems and ends the program: 1 if there are any, else 0."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s)" if problems else f"{name}: fine")
    sys.exit(1 if problems else 0)
