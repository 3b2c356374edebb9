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

/// Comments are left out; lines end in one EndOfLine however many empty ones follow.
std::vector<Token> trace_tokens(std::string_view text);

/// TypeError: "trace, line 2, column 5: ...".
[[noreturn]] void syntax_error(const Token& at, const std::string& what);
/// A token for an error's text.
std::string shown(const Token& token);

}  // namespace tenon::s_tir
