// Tokens of a script: Python's, with lines and indentation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::s_tir::script {

struct Token {
  /// Newline ends a line that is not empty, outside of brackets; Indent and Dedent stand before the
  /// first token of a line that is deeper or less deep than the one before.
  enum class Kind : unsigned char { Name, Number, String, Sign, Newline, Indent, Dedent, End };
  Kind kind;
  /// A name may have dots ("T.axis.spatial"). Of a String: with escapes resolved.
  std::string text;
  int line;
  int column;
};

/// Comments are left out. Throws TypeError with line and column for what is no token, and for a
/// line that is as deep as none of those around it.
std::vector<Token> tokenize(std::string_view text);

[[noreturn]] void syntax_error(const Token& at, const std::string& what);
/// "the end of the line", "`x`": as a message calls it.
std::string described(const Token& token);

}  // namespace tenon::s_tir::script
