"""Writes the documentation comments of Tenon's public headers as a C++ table, for the docstrings of the module.

    header_docs.py INCLUDE_FOLDER OUTPUT

An entry is a qualified name without `tenon::`, such as `te::Stage::split`, and the text of the `///` comment
above the first declaration of that name.
"""

import pathlib
import re
import sys

SCOPE = re.compile(r"\b(namespace|class|struct|enum class|enum)\s+(?:\[\[\w+\]\]\s*)?([\w:]*)[^;{}()]*$")
IGNORED = re.compile(r"\b(?:public|private|protected):|^\s*#[^\n]*$", re.MULTILINE)
TOKENS = re.compile(
    r"""///[^\n]*|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|[{};]|[^{};/"']+|.""", re.DOTALL)


def name_of(declaration):
    """Returns the name that a declaration declares, or None if it has none or is an operator."""
    scope = SCOPE.search(declaration)
    if scope:
        return scope[2]
    head = re.sub(r"<[^<>()]*>", "", re.sub(r"<[^<>()]*>", "", declaration))
    found = re.search(r"(\w+)\s*(?:\(|=|$)", head)
    return None if not found or "operator" in head else found[1]


def entries(text):
    """Yields the qualified names and comments of a header."""
    scopes, comment, declaration = [], [], ""
    for token in TOKENS.findall(text):
        if token.startswith("///"):
            comment.append(token[3:].removeprefix(" "))
        elif token.startswith("//"):
            continue
        elif token in "{;":
            name = name_of(declaration.strip())
            if comment and name:
                yield "::".join([*filter(None, scopes), name]), comment
            if token == "{":
                scope = SCOPE.search(declaration)
                scopes.append(scope[2].removeprefix("tenon").removeprefix("::") if scope else None)
            comment, declaration = [], ""
        elif token == "}":
            if scopes:
                scopes.pop()
            comment, declaration = [], ""
        else:
            declaration += IGNORED.sub("", token)


def paragraphs(lines):
    """Joins the lines of a paragraph. Indented lines are code and stay as they are."""
    text = ""
    for line in lines:
        is_code = line.startswith("  ")
        text += "\n" if is_code or text.endswith("\n") else " " if text else ""
        text += line + ("\n" if is_code else "")
    return text.strip()


def main(include, output):
    found = {}
    for header in sorted(pathlib.Path(include).rglob("*.h")):
        for name, comment in entries(header.read_text(encoding="utf-8")):
            found.setdefault(name, paragraphs(comment))
    escape = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    lines = [f'    {{"{name}", "{text.translate(escape)}"}},\n' for name, text in sorted(found.items())]
    pathlib.Path(output).write_text(
        "struct HeaderComment {\n  std::string_view name;\n  const char* text;\n};\n\n"
        f"constexpr HeaderComment kHeaderComments[] = {{\n{''.join(lines)}}};\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
