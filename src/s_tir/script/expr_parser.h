// Parsing of expressions, regions and annotations of scripts, and name lookup.
#pragma once

#include <map>
#include <set>

#include "s_tir/script/token_stream.h"
#include "tenon/support/match.h"
#include "tenon/support/nesting.h"
#include "tenon/tir/block.h"
#include "tenon/tir/ops.h"

namespace tenon::s_tir::script {

/// Name lookup, innermost scope last.
class Scopes {
 public:
  using Entity = std::variant<tir::Var, tir::Buffer>;

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  void define(const std::string& name, Entity entity);
  const Entity* find(const std::string& name) const;
  /// Returns all buffers that are in scope.
  std::vector<tir::Buffer> buffers() const;

 private:
  std::vector<std::map<std::string, Entity>> scopes_ =
      std::vector<std::map<std::string, Entity>>(1);
};

/// An expression, or a literal that takes the type of the other operand.
struct Value {
  tir::Expr e;
  bool is_literal = false;
  /// The value of a float literal before it is rounded to a type.
  double written = 0;
};

/// Runs f and adds the token's position to its TypeErrors.
template <class F>
auto at_token(const Token& token, F f) {
  try {
    return f();
  } catch (const TypeError& e) {
    if (std::string_view(e.what()).starts_with("script, line")) throw;
    syntax_error(token, e.sentence());
  }
}

class ExprParser {
 public:
  ExprParser(TokenStream& in, Scopes& scopes) : in_(in), scopes_(scopes) {}

  /// Parses an expression. Nothing is folded.
  tir::Expr expr() { return value().e; }
  Value value();
  /// Returns the value as an operand of the type.
  static tir::Expr as_type(const Value& v, DataType type, const Token& at);
  /// Parses `[a, b]`, `(a, b)` or `(a,)`, or a single expression.
  std::vector<tir::Expr> list();
  /// Parses what follows a buffer's name: `[i, j]`, `[()]`. A slice is a vector of elements.
  std::vector<tir::Expr> indices(const tir::Buffer& buffer);
  /// Parses `A[vi, 0 : 16]`. A plain index has extent 1.
  tir::BufferRegion region();
  tir::Annotation annotation();
  /// Parses `{"key": value, ...}`.
  tir::Annotations annotations();
  DataType dtype();
  tir::Buffer buffer(const Token& name);
  /// Allows accesses of the buffer with one index per physical dimension.
  void allow_physical_indices(const tir::Buffer& buffer) { physical_.insert(buffer.get()); }
  int integer(const char* what);
  static int int_of(const tir::Expr& e, const Token& at, const char* what);
  /// Parses a scalar integer; `what` names its use in messages.
  tir::Expr index(const char* what);
  /// Throws unless the expression is a scalar integer.
  static void require_index(const tir::Expr& e, const Token& at, const char* what);

 private:
  Value binary(int level);
  Value combine(const Token& op, const Value& a, const Value& b);
  Value unary();
  Value primary();
  Value number(const Token& token);
  Value named(const Token& token);
  Value function(const Token& token);
  Value conversion(const Token& token, DataType type);
  Value call(const Token& token, const std::string& name, std::vector<Value> args);
  Value extern_call(const Token& token, const std::string& name);
  Value let(const Token& token);
  /// Parses arguments up to the closing parenthesis and stores a `dtype=` among them.
  std::vector<Value> arguments(std::optional<DataType>& type);
  /// Returns two operands of the same type; literals take that of the other.
  static std::pair<tir::Expr, tir::Expr> alike(const Value& a, const Value& b, const Token& at);
  /// Parses `[lo : hi]` at an index: a range; `hi` is absent for a single element.
  std::pair<tir::Expr, std::optional<tir::Expr>> slice(std::optional<tir::Expr>& step);
  /// Returns the number of lanes of the vector at the token.
  static int lanes(const Token& at, const tir::Expr& count);

  TokenStream& in_;
  Scopes& scopes_;
  std::set<const tir::BufferNode*> physical_;
  /// Number of open levels.
  int depth_ = 0;
};

}  // namespace tenon::s_tir::script
