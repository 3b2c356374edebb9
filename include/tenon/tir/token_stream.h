// Tokens of the texts that Tenon reads, for all parsers, and errors with positions.
//
//   TokenStream in(Dialect::Script, text);
//   const Token& name = in.expect_plain_name("a variable");    // TypeError: "script, line 1, ..."
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/nesting.h"

namespace tenon::tir {

/// The languages that the tokenizer reads. Tvm: TVM 0.9 text of lowered code. Legacy: TVM's older
/// form, which is only printed. Script and ModernScript: two styles of scripts. Trace: traces.
enum class Dialect : unsigned char { Tvm, Legacy, Script, ModernScript, Trace };

struct Token {
  /// Newline ends a line that is not empty. In a script, a line continues after its end if a
  /// bracket is open. Indent and Dedent precede the first token of a script's line that is indented
  /// more or less than the line before.
  enum class Kind : unsigned char { Name, Number, String, Sign, Newline, Indent, Dedent, End };
  Kind kind;
  /// The text; for a String, with escapes resolved. A name may contain dots, except in traces.
  std::string text;
  int line;
  int column;
  Dialect dialect;
  /// Whether the token is a bracket that directly encloses a comma.
  bool encloses_comma = false;
};

/// An error that names a position in the text.
struct SyntaxError : TypeError {
  using TypeError::TypeError;
};

/// Throws SyntaxError: "script, line 2, column 5: ...".
[[noreturn]] void syntax_error(const Token& at, const std::string& what);

/// Runs f and adds the token's position to its TypeErrors.
template <class F>
auto at_token(const Token& token, F f) {
  try {
    return f();
  } catch (const SyntaxError&) {
    throw;
  } catch (const TypeError& e) {
    syntax_error(token, e.sentence());
  }
}

/// The tokens of a text, read from front to back. References to tokens are valid for the lifetime
/// of the stream.
class TokenStream {
 public:
  /// Throws SyntaxError for an invalid token and for an indentation that matches no enclosing line.
  TokenStream(Dialect dialect, std::string_view text);

  /// Returns a token without consuming it. The last token, an End, is never consumed.
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take();
  void skip(int count) {
    while (count-- > 0) take();
  }
  bool is(Token::Kind kind) const { return peek().kind == kind; }
  bool is_sign(std::string_view text, std::size_t ahead = 0) const;
  bool is_name(std::string_view text, std::size_t ahead = 0) const;
  bool accept(std::string_view sign) { return is_sign(sign) && (take(), true); }
  bool accept_name(std::string_view text) { return is_name(text) && (take(), true); }
  bool accept(Token::Kind kind) { return is(kind) && (take(), true); }
  void expect(std::string_view sign);
  void expect_name(std::string_view text);
  const Token& expect(Token::Kind kind, const char* what);
  /// Reads a name without dots.
  const Token& expect_plain_name(const char* what);
  const std::string& expect_string(const char* what);
  void expect_end_of_line() { expect(Token::Kind::Newline, "the end of the line"); }
  /// Reads items that are separated by commas, up to and including the closing sign `close`.
  template <class F>
  void items(std::string_view close, F item) {
    while (!accept(close)) {
      item();
      if (!is_sign(close)) expect(",");
    }
  }
  /// Whether a list is next: a token `[`, or parentheses that are empty or enclose a comma, as in
  /// `()`, `(a,)` and `(a, b)`.
  bool is_list() const {
    return is_sign("[") || (is_sign("(") && (peek().encloses_comma || is_sign(")", 1)));
  }
  /// Reads `[` or `(`, and returns the sign that closes it.
  const char* open_list();
  [[noreturn]] void unexpected(const std::string& wanted) const;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

/// Whether the text is a name without dots.
bool is_plain_name(std::string_view text);

/// Returns the description of a token in messages: "the end of the line", "`x`".
std::string described(const Token& token);

}  // namespace tenon::tir
