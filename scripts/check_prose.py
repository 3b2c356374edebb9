#!/usr/bin/env python3
"""Checks comments for phrases that have to be read twice, and names of limits.

    check_prose.py [FOLDER or FILE]...

Prints `file:line: found: write instead` for each finding and exits with 1 if there is any. Without arguments
it checks the product, its tests and the tutorials (`CLEAN`).
"""

import re
import sys

import comments
import sources

CLEAN = ("include", "runtime", "src", "tests", "tutorials")

# The first word of a comment, and what to write instead. These openings leave out the noun that is described.
NOUN_FIRST = "begin with a noun phrase or a third-person verb (\"The stage that ...\", \"Returns ...\")"
OPENING = re.compile(r"(?:So|As) (?:many|long|much|few)\b|(?:Of|What|Which|Those|Where|By)\b|As\b(?! if\b)")
# A comment that follows code often begins in lower case. `as`, `by` and `where` are plain there.
TRAILING_OPENING = re.compile(r"(?:so many|so long|as many|as long|of|what|which|those)\b", re.IGNORECASE)

PHRASES = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in (
    (r"\b(?:is|are|was|were|be) (?-i:none)\b",
     "negate the verb: \"is not ...\", \"does not ...\", or \"is empty\""),
    (r"\b(?:that|which|who) (?:is|are) no\b"
     r"(?! (?:longer|more|later|earlier|larger|smaller|wider|less)\b)",
     "negate the verb: \"that is not ...\""),
    (r"\breaders know\b|\bknown texts?\b", "\"TVM 0.9 text\""),
    (r"\bsurely\b", "\"provably\", \"always\" or \"certainly\""),
    (r"\bst(?:and|ands|ood|anding) behind\b", "\"follow\", \"back\" or \"implement\""),
    (r"\bin front of\b", "\"before\", \"precedes\" or \"hoisted above\""),
    (r"\bleft over\b", "\"tail\" or \"remainder\""),
    (r"\bst(?:and|ands|ood|anding) still\b", "\"loop-invariant\" or \"constant\""),
    (r"\bwritten out\b", "\"unrolled\", \"expanded\" or \"in full\""),
    (r"\b(?:at most so many|so many times|as many times as|waits so long)\b", "name the quantity"),
)]
LIMIT = re.compile(r"\bk(Most|Least)(?=[A-Z0-9_]|\b)\w*")


def check_comment(comment):
    problems = []

    def report(line, found, instead):
        problems.append(f"{comment.path}:{line}: \"{found}\": {instead}")

    first = next((text for text in comment.lines if text), "")
    opening = (TRAILING_OPENING if comment.trails_code else OPENING).match(first.lstrip())
    if opening:
        report(comment.line, opening[0], NOUN_FIRST)
    # Phrases may break across lines. A match is reported at the line that it begins on.
    text = "\n".join(comment.lines)
    spaced = text.replace("\n", " ")
    for pattern, instead in PHRASES:
        for match in pattern.finditer(spaced):
            report(comment.line + text.count("\n", 0, match.start()), match[0], instead)
    return problems


def check_file(path):
    problems = []
    for comment in comments.comments_in(path):
        problems.extend(check_comment(comment))
    name = path.relative_to(comments.ROOT) if path.is_relative_to(comments.ROOT) else path
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for match in LIMIT.finditer(line):
            better = "kMax" if match[1] == "Most" else "kMin"
            problems.append(f"{name}:{number}: {match[0]}: name limits {better}...")
    return problems


def main():
    problems = []
    for path in comments.sources_below(sys.argv[1:] or CLEAN):
        problems.extend(check_file(path))
    sources.report("check_prose", problems)


if __name__ == "__main__":
    main()
