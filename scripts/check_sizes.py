#!/usr/bin/env python3
"""Checks that files, functions and lines stay short, and that nothing says it is unfinished.

Files and functions that are longer than they should be are listed with their length: they may become shorter,
and never longer.
"""

import re

import sources

MAX_FILE = 400
MAX_FUNCTION = 80
MAX_LINE = 110  # clang-format holds code to 100 columns; examples in comments may be a little wider
LONG_FILES = {
    "include/tenon/tir/expr.h": 426,
    "src/lower/passes/flatten_storage.cpp": 408,
    "src/lower/shared_uses.cpp": 419,
    "src/te/intrinsics/tensorize.cpp": 404,
    "src/tir/expr.cpp": 409,
    "tests/bench/unscheduled_loops.cpp": 444,
    "tests/end_to_end/intrinsic_tails_test.cpp": 443,
    "tests/end_to_end/intrinsics_test.cpp": 436,
    "tests/end_to_end/regressions_test.cpp": 483,
    "tests/errors/intrinsics_test.cpp": 454,
    "tests/errors/operations_test.cpp": 447,
    "tests/runtime/argument_check_test.cpp": 419,
}
LONG_FUNCTIONS = {
    # A line for each intrinsic, so that the compiler tells where a new one is missing.
    ("src/codegen/llvm/emit_call.cpp", "FunctionEmitter::call_intrin"): 115,
    ("tests/errors/random_misuse_test.cpp", "call"): 97,
}
# A definition of a function: it ends in `{`, has parameters, and is no type, namespace or statement.
# What stands in a namespace or in a class begins in column 0 or 2.
FUNCTION = re.compile(
    r"^(?P<indent>(?:  )?)(?!\s)"
    r"(?!(?:class|struct|namespace|enum|union|switch|if|for|while|else|do|case|return|extern)\b)"
    r"[^#/}].*\)[^;]*\{$")
KNOWN_TEXT = re.compile(r'"|@tir\.|\[ramp\(|primfn|cse_var|allocate\(|: Buffer\(')
# Written so that they do not match themselves.
UNFINISHED = re.compile(
    r"\bT[O]DO\b|\bF[I]XME\b|\bX[X]X\b|\bnot (yet )?implemente[d]\b|\bs[t]ub(s|bed)?\b", re.IGNORECASE)


def functions(lines):
    """(first line's number, number of lines, text of the first line) of each function, as far as the layout tells."""
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match:
            continue
        closing = match["indent"] + "}"
        for end in range(start + 1, len(lines)):
            if lines[end].startswith(closing):
                yield start + 1, end - start + 1, line.strip()
                break


def check_functions(path, lines, problems):
    for number, length, text in functions(lines):
        name = text.split("(")[0].split()[-1] if "(" in text else text
        limit = LONG_FUNCTIONS.get((str(path), name), MAX_FUNCTION)
        if length > limit:
            problems.append(f"{path}:{number}: {name}: {length} lines, at most {limit}")


def main():
    problems = []
    for path in sources.files(".h", ".cpp", ".py", ".sh"):
        lines = sources.text(path).splitlines()
        limit = LONG_FILES.get(str(path), MAX_FILE)
        if len(lines) > limit:
            problems.append(f"{path}: {len(lines)} lines, at most {limit}")
        if path.suffix in (".h", ".cpp"):
            check_functions(path, lines, problems)
        for number, line in enumerate(lines, 1):
            # Texts that a test compares or parses are given line by line, and in raw strings as they are.
            in_test = path.parts[0] == "tests"
            is_text = line.lstrip().startswith(('"', 'R"')) or in_test and KNOWN_TEXT.search(line)
            if len(line) > MAX_LINE and not is_text:
                problems.append(f"{path}:{number}: {len(line)} columns, at most {MAX_LINE}")
            if line != line.rstrip() or "\t" in line:
                problems.append(f"{path}:{number}: trailing space or tab")
            found = UNFINISHED.search(line)
            if found:
                problems.append(f"{path}:{number}: says that it is unfinished: {found[0]}")
    sources.report("check_sizes", problems)


if __name__ == "__main__":
    main()
