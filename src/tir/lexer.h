// Tokens of the text form. Private to the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::tir {

struct Token {
  enum class Kind : unsigned char { Name, Number, String, Sign, End };
  Kind kind;
  /// The content of a String, with escapes resolved.
  std::string text;
  int line;
  int column;
};

/// Splits the text into tokens. Throws TypeError, with line and column, for an invalid character or
/// string.
std::vector<Token> tokenize(std::string_view text);

[[noreturn]] void syntax_error(const Token& at, const std::string& what);

}  // namespace tenon::tir
