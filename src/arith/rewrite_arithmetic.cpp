#include <cmath>

#include "arith/facts_state.h"
#include "arith/rewrite_rules.h"
#include "arith/rules/tables.h"
#include "tenon/arith/compute.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;
using namespace rules;

namespace {

struct Tables {
  RuleTable (*vector)();
  RuleTable (*index)();
  RuleTable (*any_type)();
};

std::optional<Tables> tables_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return Tables{add_vector_rules, add_rules, add_any_type_rules};
    case BinaryOp::Sub:
      return Tables{sub_vector_rules, sub_rules, sub_any_type_rules};
    case BinaryOp::Mul:
      return Tables{mul_vector_rules, mul_rules, nullptr};
    case BinaryOp::Div:
      return Tables{div_vector_rules, nullptr, nullptr};
    case BinaryOp::TruncDiv:
      return Tables{trunc_div_vector_rules, trunc_div_rules, nullptr};
    case BinaryOp::TruncMod:
      return Tables{trunc_mod_vector_rules, trunc_mod_rules, nullptr};
    case BinaryOp::FloorDiv:
      return Tables{floor_div_vector_rules, floor_div_rules, nullptr};
    case BinaryOp::FloorMod:
      return Tables{floor_mod_vector_rules, floor_mod_rules, nullptr};
    case BinaryOp::Min:
      return Tables{min_vector_rules, min_rules, min_any_type_rules};
    case BinaryOp::Max:
      return Tables{max_vector_rules, max_rules, max_any_type_rules};
    default:
      return std::nullopt;
  }
}

/// Rewrites x / 2 as x * 0.5, which is exact. Other reciprocals are rounded and would change the
/// result.
std::optional<Expr> multiply_by_reciprocal(const Binary& n) {
  const FloatImm* divisor = n.b.as<FloatImm>();
  if (!divisor) return std::nullopt;
  int exponent = 0;
  const bool is_power_of_two = std::fabs(std::frexp(divisor->value, &exponent)) == 0.5;
  // The divisor is in the normal range of the narrowest type, so the reciprocal is normal too.
  if (!is_power_of_two || exponent < -13 || exponent > 14) return std::nullopt;
  return fold(BinaryOp::Mul, n.a, make_float(n.b.dtype(), 1 / divisor->value));
}

/// Returns the operand that is provably the minimum (maximum).
std::optional<Expr> decide_by_bounds(const Binary& n, const Facts& facts) {
  if (structural_equal(n.a, n.b)) return n.a;
  const Bound a = bound_of(n.a, facts.state()), b = bound_of(n.b, facts.state());
  const bool is_min = n.op == BinaryOp::Min;
  if (a.max <= b.min) return is_min ? n.a : n.b;
  if (b.max <= a.min) return is_min ? n.b : n.a;
  return std::nullopt;
}

/// Returns the remainder of the base of x's modular set, if the divisor divides its step.
std::optional<Expr> constant_remainder(const Expr& e, const Binary& n, const Facts& facts) {
  const IntImm* divisor = n.b.as<IntImm>();
  if (!divisor || divisor->value <= 0) return std::nullopt;
  const ModularSet set = modular_set_of(n.a, facts.state());
  if (set.coeff % divisor->value != 0) return std::nullopt;
  if (n.op == BinaryOp::TruncMod && !can_prove(Claim{Claim::Relation::AtLeast, n.a, 0}, facts))
    return std::nullopt;
  const auto remainder = compute(BinaryOp::FloorMod, set.base, divisor->value);
  return make_int(e.dtype(), *remainder);
}

/// Rewrites that precede the rules of index arithmetic.
std::optional<Expr> before_rules(const Expr& e, const Binary& n, RewriteContext& context) {
  switch (n.op) {
    case BinaryOp::Min:
    case BinaryOp::Max:
      return decide_by_bounds(n, context.facts);
    case BinaryOp::FloorDiv: {
      if (auto result = apply_rules(floor_div_first_rules(), e, context)) return result;
      auto result = eliminate_residue(n, context.facts);
      return result && may_overflow(*result, context.facts.state()) ? std::nullopt : result;
    }
    default:
      return std::nullopt;
  }
}

/// Rewrites that follow the rules.
std::optional<Expr> after_rules(const Expr& e, const Binary& n, RewriteContext& context) {
  if (n.op == BinaryOp::TruncMod || n.op == BinaryOp::FloorMod)
    return constant_remainder(e, n, context.facts);
  return std::nullopt;
}

}  // namespace

Expr rewrite_arithmetic(const Expr& e, const Binary& n, RewriteContext& context) {
  const std::optional<Tables> tables = tables_of(n.op);
  if (!tables) return e;
  if (e.dtype().is_vector()) {
    if (auto result = apply_rules(tables->vector(), e, context)) return *result;
    if (auto result = rewrite_ramp_division(n, context.facts)) return *result;
  }
  if (n.op == BinaryOp::Div)
    if (auto result = multiply_by_reciprocal(n)) return *result;
  if (e.dtype().is_index() && tables->index) {
    if (auto result = before_rules(e, n, context)) return *result;
    if (auto result = apply_rules(tables->index(), e, context)) return *result;
    if (auto result = after_rules(e, n, context)) return *result;
  }
  if (tables->any_type)
    if (auto result = apply_rules(tables->any_type(), e, context)) return *result;
  if (n.op == BinaryOp::Sub && e.dtype().is_integral())
    if (auto result = apply_rules(sub_integer_rules(), e, context)) return *result;
  return e;
}

// ---- floor division of x*c1 + y by c2 -----------------------------------------------------------

namespace {

struct ScaledSum {
  Expr x;
  std::int64_t scale;
  Expr rest;
};

struct Scaled {
  Expr x;
  std::int64_t scale;
};

std::optional<Scaled> scaled(const Expr& e) {
  const Binary* product = as_binary(e, BinaryOp::Mul);
  const IntImm* scale = product ? product->b.as<IntImm>() : nullptr;
  if (!scale) return std::nullopt;
  return Scaled{product->a, scale->value};
}

/// Matches x*c1 + y, x*c1 and y + x*c1.
std::optional<ScaledSum> scaled_sum(const Expr& e) {
  const Binary* sum = as_binary(e, BinaryOp::Add);
  if (!sum) {
    const auto product = scaled(e);
    if (!product) return std::nullopt;
    return ScaledSum{product->x, product->scale, make_int(e.dtype(), 0)};
  }
  if (const auto product = scaled(sum->a)) return ScaledSum{product->x, product->scale, sum->b};
  if (const auto product = scaled(sum->b)) return ScaledSum{product->x, product->scale, sum->a};
  return std::nullopt;
}

}  // namespace

std::optional<Expr> eliminate_residue(const Binary& n, const Facts& facts) {
  const std::optional<ScaledSum> sum = scaled_sum(n.a);
  const IntImm* divisor = n.b.as<IntImm>();
  if (!sum || !divisor || divisor->value == 0 || may_overflow(n.a, facts.state()))
    return std::nullopt;
  const DataType type = n.a.dtype();
  const auto quotient = compute(BinaryOp::FloorDiv, sum->scale, divisor->value);
  const auto remainder = compute(BinaryOp::FloorMod, sum->scale, divisor->value);
  if (!quotient || !remainder) return std::nullopt;
  auto rest_quotient = [&]() -> Expr {
    Expr whole = floordiv(sum->rest, n.b);
    return can_prove(Claim{Claim::Relation::Equal, whole, 0}, facts) ? make_int(type, 0) : whole;
  };

  // The identity is x*c1 + y == c2*(x*(c1//c2) + y//c2) + (x*(c1%c2) + y%c2), and the last part
  // adds a known amount to the quotient.
  const Expr residue =
      floordiv(sum->x * make_int(type, *remainder) + floormod(sum->rest, n.b), n.b);
  const Bound bound = bound_of(residue, facts.state());
  if (bound.is_point() && fits(bound.min, type))
    return sum->x * make_int(type, *quotient) + (rest_quotient() + make_int(type, bound.min));

  // With c2 == a*c1, x == a*x' + b, y == d*c2 + e, the sum is (x' + d)*c2 + b*c1 + e, where b*c1 <=
  // (a-1)*c1 and e < c1.
  const bool is_multiple = sum->scale > 0 && divisor->value > 0 && divisor->value % sum->scale == 0;
  if (is_multiple &&
      can_prove(Claim{Claim::Relation::Below, floormod(sum->rest, n.b), sum->scale}, facts))
    return floordiv(sum->x, make_int(type, divisor->value / sum->scale)) + rest_quotient();
  return std::nullopt;
}

}  // namespace tenon::arith
