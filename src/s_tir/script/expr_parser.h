// Expressions, regions and annotations of scripts, parsed; and what names stand for.
#pragma once

#include <map>
#include <set>

#include "s_tir/script/token_stream.h"
#include "tenon/support/match.h"
#include "tenon/support/nesting.h"
#include "tenon/tir/block.h"
#include "tenon/tir/ops.h"

namespace tenon::s_tir::script {

/// What names stand for, innermost scope last.
class Scopes {
 public:
  using Entity = std::variant<tir::Var, tir::Buffer>;

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  void define(const std::string& name, Entity entity);
  const Entity* find(const std::string& name) const;
  /// All buffers that have names here.
  std::vector<tir::Buffer> buffers() const;

 private:
  std::vector<std::map<std::string, Entity>> scopes_ =
      std::vector<std::map<std::string, Entity>>(1);
};

/// An expression, or a number that takes the type of what it meets.
struct Value {
  tir::Expr e;
  bool is_literal = false;
  /// A floating literal before it is rounded to a type.
  double written = 0;
};

/// Runs f; a TypeError of the nodes that it makes becomes one at the token.
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

  /// Nothing is folded: the expression is what the text says.
  tir::Expr expr() { return value().e; }
  Value value();
  /// As an operand of that type.
  static tir::Expr as_type(const Value& v, DataType type, const Token& at);
  /// `[a, b]`, `(a, b)` or `(a,)`; or one expression by itself.
  std::vector<tir::Expr> list();
  /// After the buffer's name: `[i, j]`, `[()]`; a slice is a vector of elements.
  std::vector<tir::Expr> indices(const tir::Buffer& buffer);
  /// `A[vi, 0 : 16]`; an index by itself is one wide.
  tir::BufferRegion region();
  tir::Annotation annotation();
  /// `{"key": value, ...}`
  tir::Annotations annotations();
  DataType dtype();
  tir::Buffer buffer(const Token& name);
  /// Lets accesses of the buffer have one index for each physical dimension.
  void allow_physical_indices(const tir::Buffer& buffer) { physical_.insert(buffer.get()); }
  int integer(const char* what);
  static int int_of(const tir::Expr& e, const Token& at, const char* what);
  /// The expression, a scalar integer; `what` it is for, in the message.
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
  /// Arguments up to the closing parenthesis; `dtype=` among them is kept.
  std::vector<Value> arguments(std::optional<DataType>& type);
  /// Two operands that have one type: literals take that of the other.
  static std::pair<tir::Expr, tir::Expr> alike(const Value& a, const Value& b, const Token& at);
  /// `[lo : hi]` at an index: a range, `hi` absent for one element.
  std::pair<tir::Expr, std::optional<tir::Expr>> slice(std::optional<tir::Expr>& step);
  /// The number of lanes of a vector that is made at the token.
  static int lanes(const Token& at, const tir::Expr& count);

  TokenStream& in_;
  Scopes& scopes_;
  std::set<const tir::BufferNode*> physical_;
  /// Levels that are open.
  int depth_ = 0;
};

}  // namespace tenon::s_tir::script
