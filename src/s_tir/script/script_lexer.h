// Tokens of a script: Python's tokens, with lines and indentation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::s_tir::script {

struct Token {
  /// Newline ends a non-empty line outside brackets. Indent and Dedent precede the first token of a
  /// line that is indented more or less than the one before.
  enum class Kind : unsigned char { Name, Number, String, Sign, Newline, Indent, Dedent, End };
  Kind kind;
  /// The text; for a String, with escapes resolved. A name may contain dots ("T.axis.spatial").
  std::string text;
  int line;
  int column;
};

/// Splits the text into tokens without comments. Throws TypeError, with line and column, for an
/// invalid token and for an indentation that matches no enclosing line.
std::vector<Token> tokenize(std::string_view text);

[[noreturn]] void syntax_error(const Token& at, const std::string& what);
/// Returns the description of a token in messages: "the end of the line", "`x`".
std::string described(const Token& token);

}  // namespace tenon::s_tir::script
