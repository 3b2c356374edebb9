#include "tir/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "tenon/support/error.h"

namespace tenon::tir {

namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '@';
}
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> result;
    do result.push_back(next());
    while (result.back().kind != Token::Kind::End);
    return result;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  Token start(Token::Kind kind) const {
    return {kind, "", line_, static_cast<int>(at_ - line_start_) + 1};
  }

  Token next() {
    while (std::isspace(static_cast<unsigned char>(peek()))) {
      if (text_[at_] == '\n') ++line_, line_start_ = at_ + 1;
      ++at_;
    }
    if (at_ >= text_.size()) return start(Token::Kind::End);
    if (is_name_start(peek())) return name();
    if (is_digit(peek())) return number();
    if (peek() == '"') return string();
    return sign();
  }

  Token name() {
    Token token = start(Token::Kind::Name);
    do token.text += text_[at_++];
    while (is_name_part(peek()));
    return token;
  }

  /// Reads digits, a fraction, an exponent and a type suffix: 3.40282e+38f32.
  Token number() {
    Token token = start(Token::Kind::Number);
    auto take_digits = [&] {
      while (is_digit(peek())) token.text += text_[at_++];
    };
    take_digits();
    if (peek() == '.') token.text += text_[at_++], take_digits();
    if (peek() == 'e' &&
        (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
      token.text += text_[at_++];
      token.text += text_[at_++];
      take_digits();
    }
    while (std::isalnum(static_cast<unsigned char>(peek()))) token.text += text_[at_++];
    return token;
  }

  Token string() {
    Token token = start(Token::Kind::String);
    ++at_;
    while (peek() != '"') {
      if (at_ >= text_.size()) syntax_error(token, "a string without an end");
      if (peek() != '\\') {
        token.text += text_[at_++];
        continue;
      }
      const char escape = peek(1);
      at_ += 2;
      switch (escape) {
        case 'n':
          token.text += '\n';
          break;
        case 't':
          token.text += '\t';
          break;
        case 'r':
          token.text += '\r';
          break;
        case 'x':
          token.text += hex_byte(token);
          break;
        default:
          token.text += escape;
      }
    }
    ++at_;
    return token;
  }

  char hex_byte(const Token& token) {
    unsigned char value = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + 2)
      syntax_error(token, "\\x needs two hexadecimal digits");
    at_ += 2;
    return static_cast<char>(value);
  }

  Token sign() {
    Token token = start(Token::Kind::Sign);
    static constexpr std::array<std::string_view, 7> kPairs = {
        "<=", ">=", "==", "!=", "&&", "||", "->"};
    for (std::string_view pair : kPairs) {
      if (text_.substr(at_, 2) != pair) continue;
      token.text = pair;
      at_ += 2;
      return token;
    }
    static constexpr std::string_view kSingle = "()[]{}<>+-*/%=,;:!?";
    if (kSingle.find(peek()) == std::string_view::npos)
      syntax_error(token, std::string("a stray `") + peek() + "`");
    token.text = text_[at_++];
    return token;
  }
};

}  // namespace

void syntax_error(const Token& at, const std::string& what) {
  throw TypeError("line " + std::to_string(at.line) + ", column " + std::to_string(at.column) +
                  ": " + what);
}

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).tokens(); }

}  // namespace tenon::tir
