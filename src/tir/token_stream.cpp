#include "tenon/tir/token_stream.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace tenon::tir {

namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string quoted_text(std::string_view text) { return "`" + std::string(text) + "`"; }

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | (code >> 6)), tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | (code >> 12)), tail(6), tail(0);
  } else {
    text += static_cast<char>(0xF0U | (code >> 18)), tail(12), tail(6), tail(0);
  }
}

class Lexer {
 public:
  Lexer(Dialect dialect, std::string_view text)
      : dialect_(dialect), is_tvm_(dialect == Dialect::Tvm), text_(text) {}

  std::vector<Token> tokens() {
    tokens_.reserve(text_.size() / 4);
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      if (peek() != '\n') {
        if (!is_tvm_ && !std::exchange(is_line_open_, true)) indentation();
        token();
        continue;
      }
      if (open_.empty() || dialect_ == Dialect::Trace) end_line();
      next_line();
    }
    end_line();
    for (; depths_.size() > 1; depths_.pop_back()) add(Token::Kind::Dedent);
    add(Token::Kind::End);
    return std::move(tokens_);
  }

 private:
  Dialect dialect_;
  bool is_tvm_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  /// Whether the current logical line has a token, so that a Newline must end the line.
  bool is_line_open_ = false;
  /// Positions of the tokens of unclosed brackets.
  std::vector<std::size_t> open_;
  std::vector<int> depths_ = {0};
  std::vector<Token> tokens_;

  /// Returns the next character with its whole UTF-8 sequence, for quoting in errors.
  std::string_view character() const {
    std::size_t size = 1;
    while ((static_cast<unsigned char>(peek(size)) & 0xC0U) == 0x80) ++size;
    return text_.substr(at_, size);
  }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }
  Token& add(Token::Kind kind) {
    return tokens_.emplace_back(Token{kind, "", line_, column(), dialect_});
  }

  void next_line() {
    ++at_, ++line_;
    line_start_ = at_;
  }

  void end_line() {
    if (std::exchange(is_line_open_, false)) add(Token::Kind::Newline);
  }

  /// Skips spaces and a comment.
  void skip_blanks() {
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
    if (dialect_ == Dialect::Trace) return;
    const int depth = column() - 1;
    if (depth > depths_.back()) {
      depths_.push_back(depth);
      add(Token::Kind::Indent);
    }
    for (; depth < depths_.back(); depths_.pop_back()) add(Token::Kind::Dedent);
    if (depth != depths_.back())
      syntax_error(add(Token::Kind::Name),
                   "the indentation of this line matches no enclosing block");
  }

  void token() {
    if (begins_name(peek()) || (is_tvm_ && peek() == '@')) return name();
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (peek() == '"' || peek() == '\'') return string();
    sign();
  }

  bool is_name_part() const {
    if (peek() == '.') return is_tvm_ || (dialect_ != Dialect::Trace && begins_name(peek(1)));
    return begins_name(peek()) || is_digit(peek());
  }

  void name() {
    Token& token = add(Token::Kind::Name);
    const std::size_t begin = at_++;
    while (is_name_part()) ++at_;
    token.text = text_.substr(begin, at_ - begin);
  }

  /// Reads the digits, fraction and exponent of a number. In TVM text, also reads the suffix that
  /// names the type: 3.40282e+38f32.
  void number() {
    Token& token = add(Token::Kind::Number);
    auto take_digits = [&] {
      for (; is_digit(peek()) || peek() == '_'; ++at_)
        if (peek() != '_') token.text += peek();
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
    if (!is_tvm_ && begins_name(peek()))
      syntax_error(token, "expected a number, got `" + token.text + peek() + "`");
    while (begins_name(peek()) || is_digit(peek())) token.text += text_[at_++];
  }

  void string() {
    Token& token = add(Token::Kind::String);
    const char quote = text_[at_++];
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n')
        syntax_error(token, dialect_ == Dialect::Trace ? "a text without an end"
                                                       : "a string without an end");
      const char c = text_[at_++];
      if (c == '\\')
        escaped(token);
      else
        token.text += c;
    }
    ++at_;
  }

  /// Appends the character of a Python escape. As in Python, \xff and \377 are U+00FF.
  void escaped(Token& token) {
    static constexpr std::string_view kNames = "\\'\"nrtabfv", kValues = "\\'\"\n\r\t\a\b\f\v";
    const char c = peek();
    if (const std::size_t name = kNames.find(c); name != kNames.npos) {
      token.text += kValues[name], ++at_;
      return;
    }
    const std::size_t count = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const bool is_octal = count == 0;
    const std::string_view digits = text_.substr(is_octal ? at_ : at_ + 1, is_octal ? 3 : count);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, is_octal ? 8 : 16);
    if (is_octal ? error != std::errc{} : end != digits.data() + count)
      syntax_error(token,
                   "`\\" + std::string(character()) + "` " +
                       (is_octal ? "is not an escape of Python"
                                 : "needs " + std::to_string(count) + " hexadecimal digits"));
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
      syntax_error(token, "`\\" + (c + std::string(digits)) + "` is not a Unicode character");
    at_ = static_cast<std::size_t>(end - text_.data());
    append_utf8(token.text, code);
  }

  void sign() {
    static constexpr auto kPairs = std::to_array<std::string_view>(
        {"<=", ">=", "==", "!=", "&&", "||", "->", "//", "<<", ">>", "+=", "-=", "*=", "/="});
    static constexpr std::string_view kSingle = "()[]{}<>+-*/%=,:;@.&|^~!?";
    Token& token = add(Token::Kind::Sign);
    if (kSingle.find(peek()) == std::string_view::npos)
      syntax_error(token, "a stray " + quoted_text(character()));
    const std::string_view pair = text_.substr(at_, 2);
    // Fast path: the table is searched only if the next character can end a two-character operator.
    const bool is_pair = std::string_view("=&|>/<").find(peek(1)) != std::string_view::npos &&
                         std::ranges::find(kPairs, pair) != kPairs.end();
    token.text = pair.substr(0, is_pair ? 2 : 1);
    at_ += token.text.size();
    const char first = token.text.front();
    if (first == '(' || first == '[' || first == '{') open_.push_back(tokens_.size() - 1);
    if (open_.empty()) return;
    if (first == ')' || first == ']' || first == '}') open_.pop_back();
    if (first == ',') tokens_[open_.back()].encloses_comma = true;
  }
};

}  // namespace

void syntax_error(const Token& at, const std::string& what) {
  const char* source = at.dialect == Dialect::Tvm     ? ""
                       : at.dialect == Dialect::Trace ? "trace, "
                                                      : "script, ";
  throw SyntaxError(source + ("line " + std::to_string(at.line)) + ", column " +
                    std::to_string(at.column) + ": " + what);
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && begins_name(text.front()) &&
         std::ranges::all_of(text, [](char c) { return begins_name(c) || is_digit(c); });
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
      return quoted_text(token.text);
  }
}

TokenStream::TokenStream(Dialect dialect, std::string_view text)
    : tokens_(Lexer(dialect, text).tokens()) {}

const Token& TokenStream::take() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenStream::is_sign(std::string_view text, std::size_t ahead) const {
  return peek(ahead).kind == Token::Kind::Sign && peek(ahead).text == text;
}

bool TokenStream::is_name(std::string_view text, std::size_t ahead) const {
  return peek(ahead).kind == Token::Kind::Name && peek(ahead).text == text;
}

void TokenStream::unexpected(const std::string& wanted) const {
  syntax_error(peek(), "expected " + wanted + ", got " + described(peek()));
}

void TokenStream::expect(std::string_view sign) {
  if (!accept(sign)) unexpected(quoted_text(sign));
}

void TokenStream::expect_name(std::string_view text) {
  if (!accept_name(text)) unexpected(quoted_text(text));
}

const Token& TokenStream::expect(Token::Kind kind, const char* what) {
  if (!is(kind)) unexpected(what);
  return take();
}

const Token& TokenStream::expect_plain_name(const char* what) {
  if (peek().text.find('.') != std::string::npos) unexpected(what);
  return expect(Token::Kind::Name, what);
}

const std::string& TokenStream::expect_string(const char* what) {
  if (!is(Token::Kind::String)) unexpected(std::string(what) + " in quotes");
  return take().text;
}

const char* TokenStream::open_list() {
  if (accept("[")) return "]";
  expect("(");
  return ")";
}

}  // namespace tenon::tir
