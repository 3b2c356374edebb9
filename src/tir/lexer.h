// Tokens of the text form. Private to the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::tir {

struct Token {
  enum class Kind : unsigned char { Name, Number, String, Sign, End };
  Kind kind;
  /// The text of a String has its escapes resolved.
  std::string text;
  int line;
  int column;
};

/// Throws TypeError with line and column for a character or a string that is no token.
std::vector<Token> tokenize(std::string_view text);

[[noreturn]] void syntax_error(const Token& at, const std::string& what);

}  // namespace tenon::tir
