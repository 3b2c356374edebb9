#include "s_tir/script/script_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "tenon/support/error.h"

namespace tenon::s_tir::script {

namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    while (at_ < text_.size()) line();
    while (depths_.size() > 1) {
      depths_.pop_back();
      add(Token::Kind::Dedent);
    }
    add(Token::Kind::End);
    return std::move(tokens_);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  /// Number of open brackets.
  int brackets_ = 0;
  std::vector<int> depths_ = {0};
  std::vector<Token> tokens_;

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }
  Token& add(Token::Kind kind) { return tokens_.emplace_back(Token{kind, "", line_, column()}); }

  void next_line() {
    ++at_, ++line_;
    line_start_ = at_;
  }

  /// Tokenizes one line, or several if brackets are open at its end.
  void line() {
    skip_spaces();
    if (at_ >= text_.size()) return;
    if (peek() == '\n') return next_line();
    indentation();
    while (at_ < text_.size()) {
      skip_spaces();
      if (at_ >= text_.size()) break;
      if (peek() != '\n') {
        token();
        continue;
      }
      if (brackets_ == 0) break;
      next_line();
    }
    add(Token::Kind::Newline);
    if (at_ < text_.size()) next_line();
  }

  void skip_spaces() {
    for (;;) {
      while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
      // A line that ends in a backslash continues on the next line.
      if (peek() != '\\' || (peek(1) != '\n' && (peek(1) != '\r' || peek(2) != '\n'))) break;
      at_ += peek(1) == '\n' ? 1 : 2;
      next_line();
    }
    if (peek() == '#')
      while (at_ < text_.size() && peek() != '\n') ++at_;
  }

  void indentation() {
    const int depth = column() - 1;
    if (depth > depths_.back()) {
      depths_.push_back(depth);
      add(Token::Kind::Indent);
    }
    while (depth < depths_.back()) {
      depths_.pop_back();
      add(Token::Kind::Dedent);
    }
    if (depth != depths_.back())
      syntax_error(add(Token::Kind::Name), "the indentation matches no enclosing line");
  }

  void token() {
    if (begins_name(peek())) return name();
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (peek() == '"' || peek() == '\'') return string();
    sign();
  }

  void name() {
    Token& token = add(Token::Kind::Name);
    do token.text += text_[at_++];
    while (begins_name(peek()) || is_digit(peek()) || (peek() == '.' && begins_name(peek(1))));
  }

  void number() {
    Token& token = add(Token::Kind::Number);
    auto take_digits = [&] {
      while (is_digit(peek()) || peek() == '_') {
        if (peek() != '_') token.text += peek();
        ++at_;
      }
    };
    take_digits();
    if (peek() == '.') token.text += text_[at_++], take_digits();
    const bool is_signed = peek(1) == '+' || peek(1) == '-';
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || (is_signed && is_digit(peek(2))))) {
      token.text += 'e', ++at_;
      if (is_signed) token.text += text_[at_++];
      take_digits();
    }
    if (begins_name(peek()))
      syntax_error(token, "expected a number, got `" + token.text + peek() + "`");
  }

  void string() {
    Token& token = add(Token::Kind::String);
    const char quote = text_[at_++];
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n') syntax_error(token, "a string without an end");
      if (peek() != '\\') {
        token.text += text_[at_++];
        continue;
      }
      ++at_;
      token.text += escaped(token);
    }
    ++at_;
  }

  char escaped(const Token& token) {
    const char c = peek();
    ++at_;
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'x': {
        auto digit = [&](char h) {
          if (is_digit(h)) return h - '0';
          const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(h)));
          if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
          syntax_error(token, "\\x needs two hexadecimal digits");
        };
        const int value = digit(peek()) * 16 + digit(peek(1));
        at_ += 2;
        return static_cast<char>(value);
      }
      default:
        return c;
    }
  }

  void sign() {
    Token& token = add(Token::Kind::Sign);
    static constexpr std::array<std::string_view, 12> kPairs = {"<=", ">=", "==", "!=", "//", "->",
                                                                "<<", ">>", "+=", "-=", "*=", "/="};
    for (const std::string_view pair : kPairs) {
      if (text_.substr(at_, 2) != pair) continue;
      token.text = pair;
      at_ += 2;
      return;
    }
    static constexpr std::string_view kSingle = "()[]{}<>+-*/%=,:@.&|^~";
    if (kSingle.find(peek()) == std::string_view::npos)
      syntax_error(token, std::string("a stray `") + peek() + "`");
    token.text = text_[at_++];
    if (token.text == "(" || token.text == "[" || token.text == "{") ++brackets_;
    if (token.text == ")" || token.text == "]" || token.text == "}")
      brackets_ = std::max(0, brackets_ - 1);
  }
};

}  // namespace

void syntax_error(const Token& at, const std::string& what) {
  throw TypeError("script, line " + std::to_string(at.line) + ", column " +
                  std::to_string(at.column) + ": " + what);
}

std::string described(const Token& token) {
  switch (token.kind) {
    case Token::Kind::Newline:
      return "the end of the line";
    case Token::Kind::Indent:
      return "a deeper line";
    case Token::Kind::Dedent:
      return "a line less deep";
    case Token::Kind::End:
      return "the end";
    case Token::Kind::String:
      return "\"" + token.text + "\"";
    default:
      return "`" + token.text + "`";
  }
}

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).tokens(); }

}  // namespace tenon::s_tir::script
