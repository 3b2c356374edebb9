#include "s_tir/script/token_stream.h"

#include <algorithm>

namespace tenon::s_tir::script {

const Token& TokenStream::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token TokenStream::take() {
  Token token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenStream::is_sign(std::string_view text, std::size_t ahead) const {
  return peek(ahead).kind == Token::Kind::Sign && peek(ahead).text == text;
}

bool TokenStream::is_name(std::string_view text, std::size_t ahead) const {
  return peek(ahead).kind == Token::Kind::Name && peek(ahead).text == text;
}

bool TokenStream::accept(std::string_view sign) { return is_sign(sign) && (take(), true); }

bool TokenStream::accept_name(std::string_view text) { return is_name(text) && (take(), true); }

bool TokenStream::accept(Token::Kind kind) { return is(kind) && (take(), true); }

void TokenStream::unexpected(const std::string& wanted) const {
  syntax_error(peek(), "expected " + wanted + ", got " + described(peek()));
}

void TokenStream::expect(std::string_view sign) {
  if (!accept(sign)) unexpected("`" + std::string(sign) + "`");
}

void TokenStream::expect_name(std::string_view text) {
  if (!accept_name(text)) unexpected("`" + std::string(text) + "`");
}

Token TokenStream::expect_plain_name(const char* what) {
  if (!is(Token::Kind::Name) || peek().text.find('.') != std::string::npos) unexpected(what);
  return take();
}

std::string TokenStream::expect_string(const char* what) {
  if (!is(Token::Kind::String)) unexpected(std::string(what) + " in quotes");
  return take().text;
}

void TokenStream::expect_end_of_line() {
  if (!accept(Token::Kind::Newline)) unexpected("the end of the line");
}

void TokenStream::expect_suite() {
  expect(":");
  expect_end_of_line();
  if (!accept(Token::Kind::Indent)) unexpected("a deeper line");
}

}  // namespace tenon::s_tir::script
