// Tokens of traces, in their Python form and in JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::s_tir {

struct Token {
  enum class Kind : unsigned char { Name, Number, String, Sign, EndOfLine, End };
  Kind kind;
  std::string text;
  int line;
  int column;
};

/// Splits the text into tokens without comments and empty lines. Each line ends in one EndOfLine.
std::vector<Token> trace_tokens(std::string_view text);

/// Throws TypeError: "trace, line 2, column 5: ...".
[[noreturn]] void syntax_error(const Token& at, const std::string& what);
/// Returns a token as text for an error.
std::string shown(const Token& token);

}  // namespace tenon::s_tir
