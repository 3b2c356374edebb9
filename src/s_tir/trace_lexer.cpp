#include "s_tir/trace_lexer.h"

#include <algorithm>

#include "tenon/support/error.h"

namespace tenon::s_tir {

void syntax_error(const Token& at, const std::string& what) {
  throw TypeError("trace, line " + std::to_string(at.line) + ", column " +
                  std::to_string(at.column) + ": " + what);
}

std::string shown(const Token& token) {
  if (token.kind == Token::Kind::End) return "the end";
  if (token.kind == Token::Kind::EndOfLine) return "the end of the line";
  return "`" + token.text + "`";
}

namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    while (at_ < text_.size()) next();
    add(Token::Kind::EndOfLine, "");
    add(Token::Kind::End, "");
    return std::move(tokens_);
  }

 private:
  void next() {
    const char c = text_[at_];
    if (c == '\n') {
      if (!tokens_.empty() && tokens_.back().kind != Token::Kind::EndOfLine)
        add(Token::Kind::EndOfLine, "");
      ++at_, ++line_, line_begin_ = at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '"' || c == '\'') {
      string(c);
    } else if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') {
      number_or_sign();
    } else if (is_name_character(c)) {
      std::size_t end = at_;
      while (end < text_.size() && is_name_character(text_[end])) ++end;
      take(Token::Kind::Name, end);
    } else {
      take(Token::Kind::Sign, at_ + 1);
    }
  }

  bool is_digit(std::size_t at) const {
    return at < text_.size() && text_[at] >= '0' && text_[at] <= '9';
  }

  /// Reads a sign, or a number. A number has a digit after its sign and after its point.
  void number_or_sign() {
    const bool has_sign = text_[at_] == '-' || text_[at_] == '+';
    const std::size_t first = at_ + (has_sign ? 1 : 0);
    const bool has_point = first < text_.size() && text_[first] == '.';
    if (!is_digit(first + (has_point ? 1 : 0))) return take(Token::Kind::Sign, at_ + 1);
    std::size_t end = at_ + 1;
    const auto is_part = [&](char c) {
      const bool follows_exponent =
          (c == '-' || c == '+') && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
      return is_name_character(c) || c == '.' || follows_exponent;
    };
    while (end < text_.size() && is_part(text_[end])) ++end;
    take(Token::Kind::Number, end);
  }

  void string(char quote) {
    Token token{Token::Kind::String, "", line_, column()};
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        token.text += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        token.text += text_[at_];
      }
      ++at_;
    }
    if (at_ == text_.size() || text_[at_] != quote) syntax_error(token, "a text without an end");
    ++at_;
    tokens_.push_back(std::move(token));
  }

  int column() const { return static_cast<int>(at_ - line_begin_) + 1; }
  void add(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), line_, column()});
  }
  void take(Token::Kind kind, std::size_t end) {
    add(kind, std::string(text_.substr(at_, end - at_)));
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> trace_tokens(std::string_view text) { return Lexer(text).tokens(); }

}  // namespace tenon::s_tir
