// The expression language of users: operators, math functions, choice. Operands are promoted and
// constants are folded.
//
//   Expr e = i * 8 + 3;              // a literal takes the type of the expression that it meets
//   Expr c = all(i >= 1, i < n);
//   Expr v = if_then_else(c, A(i - 1), 0.0f);
//
// Promotion rules:
// - A scalar is broadcast to the lanes of a vector.
// - Two floats promote to the wider one; an integer and a float promote to the float type.
// - Two integers promote to the wider one; at equal width and different signedness, to the unsigned
//   one.
//
// `/` and `%` on integers are a TypeError. Use floordiv, floormod, truncdiv or truncmod, which
// state how they round.
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>

#include "tenon/tir/handles.h"
#include "tenon/tir/intrin.h"

namespace tenon::tir {

/// An argument of an operator: an expression, an axis, or a C++ literal that has no type yet.
/// Records the source line for error messages.
class Operand {
 public:
  template <std::integral T>
  Operand(T value, SourceLocation where = SourceLocation::current())
      : integer_(value), where_(where) {}
  template <std::floating_point T>
  Operand(T value, SourceLocation where = SourceLocation::current())
      : floating_(static_cast<double>(value)), is_floating_(true), where_(where) {}
  /// TypeError if the expression has been moved from.
  Operand(const Expr& e, SourceLocation where = SourceLocation::current())
      : expression_(e), where_(where) {
    if (e.is_moved_from()) refuse_moved_from(where);
  }
  Operand(const IterVar& axis, SourceLocation where = SourceLocation::current())
      : expression_(axis), where_(where) {}
  /// Makes an operand of any other class that converts to Expr, such as an element of a buffer
  /// under construction.
  template <class T>
  requires(std::is_class_v<T> && !std::derived_from<T, Expr> &&
           requires(const T& e) { e.operator Expr(); })
      Operand(const T& e, SourceLocation where = SourceLocation::current())
      : expression_(e.operator Expr()), where_(where) {}

  const SourceLocation& where() const { return where_; }
  /// Whether the operand is a C++ literal, which takes the type of the other operand.
  bool is_literal() const { return !expression_; }
  /// Returns the operand as an expression, without regard to another operand. A literal becomes
  /// int32 (int64 if needed), Bool or float32.
  Expr alone() const;
  /// Returns a literal in the type and lanes of `peer`; TypeError if it does not fit. A floating
  /// literal with an integer peer becomes float32. An expression is returned unchanged.
  Expr beside(DataType peer) const;

 private:
  [[noreturn]] static void refuse_moved_from(const SourceLocation& where);
  // Separate members instead of a variant, whose instantiation dominated compile time here.
  std::optional<Expr> expression_;
  IntegerLiteral integer_{0};
  double floating_ = 0;
  bool is_floating_ = false;
  SourceLocation where_;
};

/// Types the literals and promotes both operands to a common type.
std::pair<Expr, Expr> promote(const Operand& a, const Operand& b);

// ---- folding construction on operands of one type (what passes use) -----------------------------

/// Builds the operation, folding constants and the identities x+0, x-0, x*1, x*0 (integers), 0+x,
/// 1*x, x//1, x%1, true && x and similar. Never fails: an undefined operation (division by zero) is
/// not folded, and integer overflow wraps.
Expr fold(BinaryOp op, const Expr& a, const Expr& b);
/// Returns the folded constant; nullopt unless both operands are constants and the result is
/// defined.
std::optional<Expr> fold_constants(BinaryOp op, const Expr& a, const Expr& b);

// ---- operators ----------------------------------------------------------------------------------

Expr operator+(const Operand& a, const Operand& b);
Expr operator-(const Operand& a, const Operand& b);
Expr operator*(const Operand& a, const Operand& b);
/// Division of floats. TypeError for integers.
Expr operator/(const Operand& a, const Operand& b);
/// Always throws a TypeError that suggests floormod and truncmod.
Expr operator%(const Operand& a, const Operand& b);
/// Builds 0 - x for integers and x * -1 for floats.
Expr operator-(const Operand& a);

Expr operator<(const Operand& a, const Operand& b);
Expr operator<=(const Operand& a, const Operand& b);
Expr operator>(const Operand& a, const Operand& b);
Expr operator>=(const Operand& a, const Operand& b);
Expr operator==(const Operand& a, const Operand& b);
Expr operator!=(const Operand& a, const Operand& b);
Expr operator&&(const Operand& a, const Operand& b);
Expr operator||(const Operand& a, const Operand& b);
Expr operator!(const Operand& a);
Expr operator&(const Operand& a, const Operand& b);
Expr operator|(const Operand& a, const Operand& b);
Expr operator^(const Operand& a, const Operand& b);
Expr operator~(const Operand& a);
Expr operator<<(const Operand& a, const Operand& b);
Expr operator>>(const Operand& a, const Operand& b);

Expr div(const Operand& a, const Operand& b);  // division of floats, like `/`
Expr floordiv(const Operand& a, const Operand& b);
Expr floormod(const Operand& a, const Operand& b);
Expr truncdiv(const Operand& a, const Operand& b);
Expr truncmod(const Operand& a, const Operand& b);
/// Builds floordiv(a + b - 1, b).
Expr ceildiv(const Operand& a, const Operand& b);
Expr min(const Operand& a, const Operand& b);
Expr max(const Operand& a, const Operand& b);

// ---- choice, types ------------------------------------------------------------------------------

/// Builds a choice that evaluates only one of `a` and `b`. TypeError unless the condition is a
/// scalar Bool.
Expr if_then_else(const Operand& condition, const Operand& a, const Operand& b);
/// Builds a choice that may evaluate both `a` and `b`. The operand that is not chosen does not
/// fault.
Expr select(const Operand& condition, const Operand& a, const Operand& b);
Expr likely(const Operand& condition);

Expr conjunction(std::initializer_list<Operand> conditions);
Expr disjunction(std::initializer_list<Operand> conditions);
// Conjunction and disjunction of conditions. The overloads with up to eight conditions are not
// templates, so that an error message names the line of the condition.
inline Expr all(const Operand& a, const Operand& b = true, const Operand& c = true,
                const Operand& d = true, const Operand& e = true, const Operand& f = true,
                const Operand& g = true, const Operand& h = true) {
  return conjunction({a, b, c, d, e, f, g, h});
}
template <class... More>
requires(sizeof...(More) > 0 && (std::convertible_to<More, Operand> && ...)) Expr
    all(const Operand& a, const Operand& b, const Operand& c, const Operand& d, const Operand& e,
        const Operand& f, const Operand& g, const Operand& h, const More&... more) {
  return conjunction({a, b, c, d, e, f, g, h, Operand(more, a.where())...});
}
inline Expr any(const Operand& a, const Operand& b = false, const Operand& c = false,
                const Operand& d = false, const Operand& e = false, const Operand& f = false,
                const Operand& g = false, const Operand& h = false) {
  return disjunction({a, b, c, d, e, f, g, h});
}
template <class... More>
requires(sizeof...(More) > 0 && (std::convertible_to<More, Operand> && ...)) Expr
    any(const Operand& a, const Operand& b, const Operand& c, const Operand& d, const Operand& e,
        const Operand& f, const Operand& g, const Operand& h, const More&... more) {
  return disjunction({a, b, c, d, e, f, g, h, Operand(more, a.where())...});
}

/// Converts to `type`. Folds constants, returns the expression itself if it has that type, and
/// broadcasts a scalar to a vector type.
Expr cast(DataType type, const Operand& e);
/// Reinterprets the bits as another type. TypeError if the widths differ.
Expr reinterpret(DataType type, const Operand& e);
/// Makes a constant of the type. TypeError if an integer value does not fit.
Expr make_const(DataType type, double value, SourceLocation where = SourceLocation::current());
Expr make_const(DataType type, const IntegerLiteral& value,
                SourceLocation where = SourceLocation::current());
template <std::integral T>
Expr make_const(DataType type, T value, SourceLocation where = SourceLocation::current()) {
  return make_const(type, IntegerLiteral(value), where);
}
Expr min_value(DataType type, SourceLocation where = SourceLocation::current());
Expr max_value(DataType type, SourceLocation where = SourceLocation::current());
Expr infinity(DataType type, SourceLocation where = SourceLocation::current());

// ---- mathematics: floats only (TypeError), lane-wise --------------------------------------------

Expr exp(const Operand& x);
Expr exp2(const Operand& x);
Expr exp10(const Operand& x);
Expr log(const Operand& x);
Expr log2(const Operand& x);
Expr log10(const Operand& x);
Expr log1p(const Operand& x);
Expr sqrt(const Operand& x);
Expr rsqrt(const Operand& x);
Expr pow(const Operand& x, const Operand& y);
Expr sin(const Operand& x);
Expr cos(const Operand& x);
Expr tan(const Operand& x);
Expr sinh(const Operand& x);
Expr cosh(const Operand& x);
Expr tanh(const Operand& x);
Expr asin(const Operand& x);
Expr acos(const Operand& x);
Expr atan(const Operand& x);
Expr atan2(const Operand& y, const Operand& x);
Expr asinh(const Operand& x);
Expr acosh(const Operand& x);
Expr atanh(const Operand& x);
Expr erf(const Operand& x);
Expr sigmoid(const Operand& x);
Expr hypot(const Operand& x, const Operand& y);
Expr copysign(const Operand& x, const Operand& y);
Expr nextafter(const Operand& x, const Operand& y);
Expr ldexp(const Operand& x, const Operand& exponent);
Expr fmod(const Operand& x, const Operand& y);
Expr fma(const Operand& x, const Operand& y, const Operand& z);

// Rounding of floats. An integer argument is returned unchanged.
Expr floor(const Operand& x);
Expr ceil(const Operand& x);
Expr round(const Operand& x);
Expr trunc(const Operand& x);
Expr nearbyint(const Operand& x);

/// Builds select(x >= 0, x, 0 - x) for signed integers, `x` for unsigned ones, fabs(x) for floats.
Expr abs(const Operand& x);
Expr isnan(const Operand& x);
Expr isinf(const Operand& x);
Expr isfinite(const Operand& x);
Expr popcount(const Operand& x);
Expr clz(const Operand& x);

// ---- calls --------------------------------------------------------------------------------------

/// An argument of a call: an expression, a literal or a string.
class Argument {
 public:
  Argument(const char* text, SourceLocation where = SourceLocation::current())
      : value_(make_string(Name(text, where))) {}
  Argument(const std::string& text, SourceLocation = SourceLocation::current())
      : value_(make_string(text)) {}
  template <class T>
  requires std::constructible_from<Operand, const T&, SourceLocation> Argument(
      const T& value, SourceLocation where = SourceLocation::current())
      : value_(Operand(value, where).alone()) {}
  const Expr& expr() const { return value_; }

 private:
  Expr value_;
};

/// The result type of a call. It is the first argument of the call, so that it can also capture the
/// source line.
struct CallType {
  CallType(DataType type, SourceLocation where = SourceLocation::current())
      : type(type), where(where) {}
  DataType type;
  SourceLocation where;
};

Expr call_extern_list(const CallType& type, std::string name, std::initializer_list<Argument> args,
                      bool pure);
Expr call_intrin_list(const CallType& type, Intrin intrin, std::initializer_list<Argument> args);

/// Calls a C function of the running program, of a linked library or of imported source. TypeError
/// if the name is empty.
template <class... A>
Expr call_extern(CallType type, Name name, const A&... args) {
  return call_extern_list(type, std::move(name), {Argument(args, type.where)...}, false);
}
template <class... A>
Expr call_pure_extern(CallType type, Name name, const A&... args) {
  return call_extern_list(type, std::move(name), {Argument(args, type.where)...}, true);
}
/// Calls an intrinsic. TypeError for a wrong number of arguments and, for math, bit operations and
/// choice, for wrong types.
template <class... A>
Expr call_intrin(CallType type, Intrin intrin, const A&... args) {
  return call_intrin_list(type, intrin, {Argument(args, type.where)...});
}

}  // namespace tenon::tir
