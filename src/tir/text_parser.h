// The parser of parse.h. Reading order: functions (parse.cpp), statements (parse_stmt.cpp),
// expressions and buffers (parse_expr.cpp).
#pragma once

#include <charconv>
#include <map>

#include "tenon/support/nesting.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/parse.h"
#include "tir/lexer.h"

namespace tenon::tir {

class TextParser {
 public:
  explicit TextParser(std::string_view text) : tokens_(tokenize(text)) {}

  void declare(const Var& v) { vars_.insert_or_assign(v.name(), v); }
  void declare(const Buffer& b);
  bool at_end() const { return peek().kind == Token::Kind::End; }
  void expect_end() {
    if (!at_end()) syntax_error(peek(), "expected the end, got `" + peek().text + "`");
  }

  // ---- expressions ----

  Expr expr();

  // ---- statements ----

  /// Parses all statements up to a closing brace or the end.
  Stmt stmts();
  Stmt stmt();
  Stmt open_stmt();

  // ---- functions ----

  PrimFunc function();

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  /// Number of enclosing statements.
  int depth_ = 0;
  std::map<std::string, Var> vars_;
  std::map<std::string, Buffer> buffers_;
  std::map<std::string, CommReducer> reducers_;

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token take();
  bool is_sign(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Sign && peek(ahead).text == text;
  }
  bool accept(std::string_view text) { return is_sign(text) && (take(), true); }
  void expect(std::string_view text);
  bool is_name(std::string_view text) const {
    return peek().kind == Token::Kind::Name && peek().text == text;
  }
  bool accept_name(std::string_view text) { return is_name(text) && (take(), true); }
  void expect_name(std::string_view text);
  int integer();
  Expr number(bool negative);

  template <class T>
  static T value_of(const Token& token, const std::string& digits) {
    T value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size())
      syntax_error(token, "`" + token.text + "` is no number that can be had");
    return value;
  }

  /// Returns a constant that fits an int: a number of lanes, a dimension.
  static int int_of(const Token& token, const Expr& e);
  static Expr integer(const Token& token, const std::string& digits, DataType type);
  static Expr floating(const Token& token, const std::string& digits, DataType type) {
    return make_float(type, value_of<double>(token, digits));
  }

  static DataType type_of(const Token& token, const std::string& text);
  DataType data_type();
  Expr infinity_literal(const Token& token, bool negative);
  static Expr infix(const Token& op, Expr a, Expr b);
  std::vector<Expr> list(std::string_view open, std::string_view close);

  /// Parses a construct that starts with a word: a literal, a function form, a load, or a variable.
  Expr named();
  Expr let_expr();
  Expr function_form(const Token& name);
  Expr call(const Token& name);

  /// Parses a variable, with its type at the first occurrence.
  Expr var(const Token& name);
  /// Parses a variable; anything else is an error.
  Var variable();
  Var annotated(const std::string& name);
  Buffer buffer(const Token& name);

  /// Parses `: Buffer(data, dtype, shape, strides, ...)` after the name.
  Buffer buffer_details(const std::string& name);
  void field(BufferNode& node);

  // ---- statements ----

  Stmt block();

  /// Parses what follows an attribute or allocation: `;` and the rest of the scope, or a block.
  Stmt rest_of_scope();
  bool starts_store() const;
  Stmt store();
  Stmt loop();

  /// Returns the extent of a loop. The text contains min + extent in folded form, from which min is
  /// subtracted again.
  static Expr extent_of(const Expr& min, const Expr& end);
  Stmt branch();
  Stmt while_loop();
  Stmt let();
  Stmt allocate();
  Stmt assertion();
  std::variant<Expr, IterVar, Buffer, CommReducer> attr_subject();
  IterVar iter_var();

  /// Returns the reducer with the index in the text. The text does not contain its definition, so
  /// the reducer is empty.
  CommReducer reducer();
  Stmt attr();

  // ---- functions ----

  PrimFunc::Attrs attributes();
  void parse_maps(PrimFunc& func);
};

}  // namespace tenon::tir
