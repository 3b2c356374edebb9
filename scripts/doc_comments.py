#!/usr/bin/env python3
"""Prints a header with its comments in Doxygen's form.

- The opening comment documents the file; its indented lines are an example, which is copied verbatim. It is
  also the contract of the names that it mentions, unless they have comments of their own.
- A comment above a declaration, or after it on its line, documents that declaration and all that follow up to
  the next blank line or comment. After the opening brace of a type, it documents the type.
- If the opening comment describes all functions of the file ("Each ..."), or a heading describes those of a
  section, it documents every function there.
- The comment of a type also documents its plain members, constructors, operators, type names and functions
  that only return a member, unless they have comments of their own.
- Defaulted (`= default`) and deleted functions need no comment.

Where a comment documents other declarations too, the reference links to it. Doxygen reports every declaration
that has no comment after this.
"""

import pathlib
import re
import sys

SECTION = re.compile(r"^\s*(?://|/\*) ?-{3,} (.*?) -{3,}")
C_COMMENT = re.compile(r"^(\s*)/\*(?!\*)(.*)")
PLAIN_COMMENT = re.compile(r"^(\s*)//(?!/)(.*)")
COMMENT_BEHIND = re.compile(r"^(\s*[^/\s].*[;,{}]\s*)//(?![/<])(?!\s*(?:namespace|NOLINT))(.*)")
BEHIND_BRACE = re.compile(r"^(\s*)((?:struct|class|enum|union)\b[^/]*\{)\s*//(.*)")
NEEDS_NO_WORDS = re.compile(r"=\s*(default|delete)\s*;|^\s*(virtual )?~\w+\(\).*;|"
                            r"operator=\((const )?\w+&&?( \w+)?\).*;")
ENDS_GROUP = re.compile(r"^\s*(\}|public:|private:|protected:|#|namespace\b)")
TYPE = re.compile(r"^\s*(?:template\b.*>\s*)?(?:struct|class|enum class|enum|union)\s+(\w+)[^;()]*\{")
ONLY_NAMED = re.compile(r"^\s*(?:struct|class)\s+\w+;$")
ALIAS = re.compile(r"^\s*using\s+(\w+)\s*=")
FUNCTION = re.compile(r"(operator\s*[^\s\w(]+|~?\w+)\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:=.*|\{.*\})?;$")
# A value, or a function on one line that returns one.
PLAIN_MEMBER = re.compile(
    r"^\s+(?!return\b|friend\b|using\b|enum\b|struct\b|class\b)[\w:<>,*& ()\[\]]+( = .*|\{.*\})?;$|"
    r"^\s+.*\{ return .*; \}$|^\s*\} \w+ = \{\};$")
SEVERAL = re.compile(r"^(\s+)((?:const )?[\w:]+(?:<[^;()]*>)?) "
                     r"(\w+(?: = [^,;()]+)?(?:, \w+(?: = [^,;()]+)?)+);\s*(///<.*)?$")
NO_DECLARATION = re.compile(
    r"^\s*(\}(?! \w+ = )|#|namespace\b|public:|private:|protected:|///@|extern \"C\"|friend\b)")


def opening_as_documentation(lines):
    """The opening comment in Doxygen's form, and the lines that follow it."""
    result = ["/// @file"]
    in_example = False
    for number, line in enumerate(lines):
        if not line.startswith("//") or line.startswith("///"):
            return result + (["/// @endverbatim"] if in_example else []), lines[number:]
        text = line[2:]
        is_example = text.startswith("   ") or (in_example and not text.strip())
        if is_example != in_example:
            result.append("/// @verbatim" if is_example else "/// @endverbatim")
            in_example = is_example
        result.append("///" + text if is_example else with_plain_text("///" + text))
    return result, []


def without_the_obvious(lines):
    """The lines without the declarations that need no comment, and without the lines that belong to these."""
    result = []
    for line in lines:
        if not NEEDS_NO_WORDS.search(line):
            result.append(line)
            continue
        while result and result[-1].strip() and not result[-1].strip().endswith((";", "{", "}", ":")):
            result.pop()
    return result


def as_documentation(line):
    if SECTION.match(line):
        return line
    in_c = C_COMMENT.match(line)
    if in_c:
        return f"{in_c[1]}/**{in_c[2]}"
    if "/*" in line and line.rstrip().endswith("*/"):
        return line.replace("/*", "/**<")
    plain = PLAIN_COMMENT.match(line)
    if plain:
        return f"{plain[1]}///{plain[2]}"
    behind = COMMENT_BEHIND.match(line)
    return f"{behind[1]}///<{behind[2]}" if behind else line


def with_one_on_each_line(lines):
    """Divides `int a, b;` into two members."""
    result = []
    for line in lines:
        several = SEVERAL.match(line)
        if several:
            indent, kind, names, behind = several.groups()
            result += [f"{indent}{kind} {name};  {behind or ''}".rstrip() for name in names.split(", ")]
        else:
            result.append(line)
    return result


def with_plain_text(line):
    """Escapes Doxygen's commands and HTML, which the comments do not use."""
    if line.lstrip().startswith(("* ", "/** ")):
        return re.sub(r"([<>])", r"\\\1", line)
    if not line.lstrip().startswith("///") and "///<" not in line or line.lstrip().startswith("///@"):
        return line
    head, mark, text = line.partition("///")
    before, arrow = ("<", text[1:]) if text.startswith("<") else ("", text)
    parts = arrow.split("`")
    parts[::2] = [re.sub(r"([@\\\\<>])", r"\\\1", part) for part in parts[::2]]
    return head + mark + before + "`".join(parts)


def with_comments_above_types(lines):
    result = []
    for line in lines:
        behind = BEHIND_BRACE.match(line)
        result += [f"{behind[1]}///{behind[3]}", behind[1] + behind[2]] if behind else [line]
    return result


def is_documentation(line):
    if line.lstrip().startswith(("/**", "* ")) and "/**<" not in line:
        return True  # of C
    return line.lstrip().startswith("///") and not line.lstrip().startswith(("///<", "///@"))


def code_of(line):
    return line.split("//")[0].rstrip()


def group_after(lines, begin):
    """The end of the declarations that the comment before `begin` documents, and whether they are several."""
    depth = 0
    statements = 0
    for end in range(begin, len(lines)):
        line = lines[end]
        if depth == 0 and (not line.strip() or is_documentation(line) or ENDS_GROUP.match(line)):
            return end, statements > 1
        code = code_of(line)
        depth += sum(code.count(c) for c in "({") - sum(code.count(c) for c in ")}")
        if depth == 0 and code.endswith((";", "}")):
            statements += 1
    return len(lines), statements > 1


def with_groups(lines):
    result = []
    number = 0
    while number < len(lines):
        result.append(lines[number])
        number += 1
        is_last = is_documentation(lines[number - 1]) and number < len(lines) and \
            not is_documentation(lines[number]) and not TYPE.match(code_of(lines[number]))
        if not is_last:
            continue
        end, is_group = group_after(lines, number)
        if is_group:
            # A forward declaration of a type has no place to show the comment.
            group = [line for line in lines[number:end] if not ONLY_NAMED.match(line)]
            result += ["///@{", *(group or lines[number:end]), "///@}"]
            number = end
    return result


def declared_name(code):
    for pattern in (TYPE, ALIAS):
        found = pattern.match(code)
        if found:
            return found[1]
    found = FUNCTION.search(code) or VARIABLE.search(code)
    return found[1] if found else ""


def whole_head(lines, begin):
    """A declaration up to its parameters, without its template header."""
    head = code_of(lines[begin])
    if not head.lstrip().startswith("template") or TYPE.match(head):
        return head
    joined = " ".join(code_of(line).strip() for line in lines[begin:begin + 5])
    for written in (r"^template\s*<.*?>\s+(?!requires)",
                    r"^template\s*<.*?>\s+requires.*?[>)]\s+(?=[A-Z]\w*\()"):
        found = re.match(written, joined)
        if found:
            return "  " + joined[found.end():]
    return joined


class References:
    """Adds comments that refer to the comments which document several declarations."""

    def __init__(self, opening, file_name):
        self.mentioned = set(re.findall(r"\w+", " ".join(opening)))
        self.speaks_for_all = re.search(r"(^|[.:] |/// )Each ", " ".join(opening)) is not None
        self.file_name = file_name
        self.section = None
        self.section_depth = 0
        self.types = []  # of each type around: the depth inside of it, and its name if it has a comment
        self.depth = 0
        self.in_group = False

    def add(self, lines):
        result = []
        is_commented = False
        begins = True
        for number, line in enumerate(lines):
            code = code_of(line)
            section = SECTION.match(line)
            if section:
                self.section, self.section_depth, line = section[1], self.depth, ""
            if line in ("///@{", "///@}"):
                self.in_group = line == "///@{"
            if is_documentation(line):
                is_commented = True
            elif code and begins and not NO_DECLARATION.match(code):
                whole = whole_head(lines, number)
                line, is_commented = self.declaration(result, line, whole, is_commented or self.in_group)
            self.move(code, is_commented or self.in_group)
            result.append(line)
            ends = code.endswith((";", "}", "{", ":")) or not line.strip() or line.startswith("#")
            begins = ends or is_documentation(line) or line.startswith("///@")
            if ends and not is_documentation(line):
                is_commented = False
        return result

    def declaration(self, result, line, code, is_commented):
        if is_commented or "///<" in line:
            return line, True
        inside = self.types[-1] if self.types else None
        name = declared_name(code)
        is_function = not TYPE.match(code) and FUNCTION.search(code)
        if is_function and self.section and self.section_depth == self.depth:
            result.append(f"/// Under \"{self.section}\".")
            return line, True
        if is_function and self.speaks_for_all and not inside:
            result.append(f"/// One of those that {self.file_name} begins with.")
            return line, True
        if name in self.mentioned:
            result.append(f"/// Explained where {self.file_name} begins.")
            return line, True
        if not inside or inside[0] != self.depth or not inside[1]:
            return line, False
        is_operator = name.startswith("operator") or code.lstrip().startswith(("operator ", "friend "))
        if name == inside[1] or is_operator or ALIAS.match(code):
            result.append(f"/// As {inside[1]} says.")
            return line, True
        if PLAIN_MEMBER.match(code):
            return f"{line}  ///< As {inside[1]} says.", True
        return line, False

    def move(self, code, is_commented):
        """Follows the braces."""
        begun = TYPE.match(code)
        opened = code.count("{") - code.count("}")
        if begun and opened > 0:
            self.types.append((self.depth + 1, begun[1] if is_commented else None))
        self.depth += opened
        while self.types and self.depth < self.types[-1][0]:
            self.types.pop()


def main():
    path = pathlib.Path(sys.argv[1])
    opening, rest = opening_as_documentation(path.read_text(encoding="utf-8").splitlines())
    body = with_one_on_each_line(
        [as_documentation(line) for line in with_comments_above_types(without_the_obvious(rest))])
    result = References(opening, path.name).add(with_groups(body))
    print("\n".join([*opening, *map(with_plain_text, result)]))


if __name__ == "__main__":
    main()
