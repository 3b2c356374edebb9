// The parser of expressions, for TVM text (parse.h) and scripts. Parsers of whole texts derive from
// it: they add statements, and the lookup of names and of buffer elements.
#pragma once

#include <map>
#include <variant>

#include "tenon/tir/annotation.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/token_stream.h"

namespace tenon::tir {

/// Name lookup, innermost scope last.
class Scopes {
 public:
  using Entity = std::variant<Var, Buffer>;

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  void define(const std::string& name, Entity entity) {
    scopes_.back().insert_or_assign(name, std::move(entity));
  }
  const Entity* find(const std::string& name) const;
  /// Returns the variable, or the buffer, with this name; null if the name has another meaning.
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

/// An expression, or a literal of a script, which takes the type of the other operand. Arithmetic
/// on literals is a literal.
struct Value {
  Expr e;
  bool is_literal = false;
  /// The value of a literal before it is rounded to a type. Unused if `e` is an integer constant.
  double written = 0;
};

class ExprParser {
 public:
  /// The dialect is Tvm or Script, which includes the later style.
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
  /// Number of open levels.
  int depth_ = 0;

  /// Parses a variable or an element of a buffer, whose name has been read. Literals and functions
  /// are parsed before.
  virtual Expr reference(const Token& name) = 0;

  /// Returns the value as an operand of the type.
  static Expr as_type(const Value& v, DataType type, const Token& at);
  /// Returns two operands of the same type; a literal takes the type of the other operand.
  static std::pair<Expr, Expr> alike(const Value& a, const Value& b, const Token& at);
  /// Parses `[a, b]`, or in scripts `(a, b)`, `(a,)` or a single expression.
  std::vector<Expr> list();
  DataType dtype();
  static DataType type_of(const Token& at, const std::string& text);
  int integer(const char* what);
  /// Returns a constant that fits an int.
  static int int_of(const Expr& e, const Token& at, const char* what);
  /// Returns the number of lanes of the vector at the token.
  static int lanes(const Token& at, const Expr& count);
  Var data_pointer();
  /// Parses the value of an option of a buffer.
  void option(const Token& key, BufferOptions& options);

 private:
  bool is_tvm_;

  Value binary(int loosest);
  Value combine(const Token& op, const Value& a, const Value& b);
  Value unary();
  Value negated(const Token& token);
  Value primary();
  Value number(const Token& token, bool is_negative);
  bool is_infinity(const std::string& name) const;
  Value infinity(const Token& name, bool is_negative) const;
  Value named(const Token& token);
  /// Parses a function whose arguments are not only expressions; nullopt for any other name.
  std::optional<Value> special_function(const Token& token, const std::string& name);
  Value function(const Token& token);
  Value conversion(const Token& token, DataType type);
  Value extern_call(bool is_pure);
  /// Parses arguments up to the closing parenthesis. A `dtype=` among them is stored in `type`.
  std::vector<Value> arguments(std::optional<DataType>& type);
  Value call(const Token& token, const std::string& name, std::vector<Value> args);
};

}  // namespace tenon::tir
