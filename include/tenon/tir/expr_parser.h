// The parser of expressions, for TVM text (parse.h) and scripts. Parsers of whole programs derive
// from it. They add statements, and resolve names and buffer accesses.
#pragma once

#include <map>
#include <variant>

#include "tenon/tir/annotation.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/token_stream.h"

namespace tenon::tir {

/// The variables and buffers in scope, by name. An inner scope hides names of outer scopes.
class Scopes {
 public:
  using Entity = std::variant<Var, Buffer>;

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  void define(const std::string& name, Entity entity) {
    scopes_.back().insert_or_assign(name, std::move(entity));
  }
  const Entity* find(const std::string& name) const;
  /// Returns the variable or buffer with this name; null if the name denotes something else or
  /// nothing.
  template <class T>
  const T* find(const std::string& name) const {
    const Entity* entity = find(name);
    return entity ? std::get_if<T>(entity) : nullptr;
  }
  /// Returns all buffers that are in scope.
  std::vector<Buffer> buffers() const;

 private:
  std::vector<std::map<std::string, Entity>> scopes_ =
      std::vector<std::map<std::string, Entity>>(1);
};

/// A parsed expression. In a script it may be a literal without a type, which takes the type of the
/// other operand. Arithmetic on two literals yields a literal.
struct Value {
  Expr e;
  bool is_literal = false;
  /// The exact value of a literal that is not an integer constant, before it is rounded to a type.
  double written = 0;
};

class ExprParser {
 public:
  /// `dialect` is Tvm or Script. Script accepts both styles of scripts.
  ExprParser(Dialect dialect, std::string_view text)
      : in_(dialect, text), is_tvm_(dialect == Dialect::Tvm) {}
  virtual ~ExprParser() = default;

  /// Parses an expression. Nothing is folded.
  Expr expr() { return value().e; }
  Value value();
  void expect_end() {
    in_.accept(Token::Kind::Newline);
    if (!in_.is(Token::Kind::End)) in_.unexpected("the end");
  }

 protected:
  TokenStream in_;
  Scopes scopes_;
  /// The nesting depth of the expression being parsed, which is limited.
  int depth_ = 0;

  /// Parses a variable or a buffer access that begins with the name `name`, a token already
  /// consumed. Literals and functions do not reach this function.
  virtual Expr reference(const Token& name) = 0;

  /// Converts a literal to the type. SyntaxError if an integer does not fit. Other expressions, and
  /// floating literals for an integral type, are returned unchanged.
  static Expr as_type(const Value& v, DataType type, const Token& at);
  /// Converts an operand that is a literal to the type of the other operand.
  static std::pair<Expr, Expr> alike(const Value& a, const Value& b, const Token& at);
  /// Parses `[a, b]`, or in scripts `(a, b)`, `(a,)` or a single expression.
  std::vector<Expr> list();
  /// Parses a scalar integer expression. `what` describes it in messages.
  Expr index(const char* what);
  /// Throws unless the expression is a scalar integer.
  static void require_index(const Expr& e, const Token& at, const char* what);
  DataType dtype();
  static DataType type_of(const Token& at, const std::string& text);
  int integer(const char* what);
  /// Returns the value of a constant as an int. SyntaxError if it is not a constant or does not
  /// fit.
  static int int_of(const Expr& e, const Token& at, const char* what);
  /// Returns `count` as a number of vector lanes. SyntaxError unless it is a constant of 2 or more.
  static int lanes(const Token& at, const Expr& count);
  Var data_pointer();
  /// Parses the value of the buffer property that `key` names, such as `align`, into `options`.
  void option(const Token& key, BufferOptions& options);

 private:
  bool is_tvm_;

  Value binary(int loosest);
  Value combine(const Token& op, const Value& a, const Value& b);
  Value unary();
  Value primary();
  Value number(const Token& token, bool is_negative);
  bool is_infinity(const std::string& name) const;
  Value infinity(const Token& name, bool is_negative) const;
  Value named(const Token& token);
  /// Parses a call of a function that takes names or types as arguments, such as let and cast.
  /// Nullopt if `name` is not such a function.
  std::optional<Value> special_function(const Token& token, const std::string& name);
  Value function(const Token& token);
  Value conversion(const Token& token, DataType type);
  Value extern_call(bool is_pure);
  /// Parses arguments up to the closing parenthesis. Stores the type of an argument `dtype=...` in
  /// `type`.
  std::vector<Value> arguments(std::optional<DataType>& type);
  Value call(const Token& token, const std::string& name, std::vector<Value> args);
};

}  // namespace tenon::tir
