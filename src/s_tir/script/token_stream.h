// A list of tokens, read from front to back.
#pragma once

#include "s_tir/script/script_lexer.h"

namespace tenon::s_tir::script {

class TokenStream {
 public:
  explicit TokenStream(std::string_view text) : tokens_(tokenize(text)) {}

  /// Returns a token without consuming it. The last token, an End, is never consumed.
  const Token& peek(std::size_t ahead = 0) const;
  Token take();
  bool is(Token::Kind kind) const { return peek().kind == kind; }
  bool is_sign(std::string_view text, std::size_t ahead = 0) const;
  bool is_name(std::string_view text, std::size_t ahead = 0) const;
  bool accept(std::string_view sign);
  bool accept_name(std::string_view text);
  bool accept(Token::Kind kind);
  void expect(std::string_view sign);
  void expect_name(std::string_view text);
  /// Reads a name without dots.
  Token expect_plain_name(const char* what);
  std::string expect_string(const char* what);
  void expect_end_of_line();
  /// Reads `: <end of line> <deeper line>`.
  void expect_suite();
  [[noreturn]] void unexpected(const std::string& wanted) const;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace tenon::s_tir::script
