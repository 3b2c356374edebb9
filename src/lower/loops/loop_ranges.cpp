// Passes that change the ranges of loops.
#include "lower/passes.h"

#include <numeric>

#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

// ---- bind_loop_ranges ---------------------------------------------------------------------------

// Binds loop ranges to variables if they read memory that the function writes. Later passes copy a
// range into conditions and indices inside of the loop, where the memory may have another value
// than when the loop began. Not used for TVM 0.9 text.
//
//   for (j, 0, A[i]) {        let j_extent = A[i]
//     A[j] = 0            =>  for (j, 0, j_extent) {
//   }                           A[j] = 0
//                             }

using namespace tir;

PrimFunc bind_loop_ranges(const PrimFunc& func, const PassOptions&) {
  const arith::WrittenMemory memory(func.body);
  return with_body(func, rewrite(func.body, [&](const For& n, const Stmt&) -> std::optional<Stmt> {
                     const bool is_min_stable = memory.is_stable(n.min),
                                is_extent_stable = memory.is_stable(n.extent);
                     if (is_min_stable && is_extent_stable) return std::nullopt;
                     const Var min = Var::let(n.var.name() + "_min", n.min);
                     const Var extent = Var::let(n.var.name() + "_extent", n.extent);
                     For loop = n;
                     if (!is_min_stable) loop.min = min;
                     if (!is_extent_stable) loop.extent = extent;
                     Stmt bound = make_stmt(std::move(loop));
                     if (!is_extent_stable) bound = make_stmt(Let{extent, n.extent, bound});
                     if (!is_min_stable) bound = make_stmt(Let{min, n.min, bound});
                     return bound;
                   }));
}

// ---- rebase_loops -------------------------------------------------------------------------------

// Rebases loops that begin far from 0, and adds up the constants in sums with their variables,
// which makes these constants small. Otherwise, rewriting would combine constants near the end of
// int32 and overflow. Not used for TVM 0.9 text.
//
//   for (i, 2147483636, 2147483638) {          for (i, 0, 2) {
//     A[(7 - (i - 2147483636))] = 0f32    =>     A[((0 - i) + 7)] = 0f32
//   }                                          }

namespace {

/// A loop is rebased if it begins at this distance from 0 or further. Small multiples of smaller
/// constants fit int32.
constexpr std::int64_t kFar = std::int64_t{1} << 24;

Expr with_collected_constants(const Expr& e, const Var& var);

Expr with_collected_in_children(const Expr& e, const Var& var) {
  return map_children(e, [&](const Expr& child) { return with_collected_constants(child, var); });
}

/// Splits the expression into (base, constant), which are its summands. The constant is computed
/// modulo 2^64.
std::pair<Expr, std::int64_t> split_constant(const Expr& e, const Var& var) {
  if (const IntImm* n = e.as<IntImm>()) return {make_int(e.dtype(), 0), n->value};
  const Binary* n = e.as<Binary>();
  const auto scale = n && n->op == BinaryOp::Mul ? constant_int(n->b) : std::nullopt;
  if (!scale && !(n && (n->op == BinaryOp::Add || n->op == BinaryOp::Sub)))
    return {with_collected_in_children(e, var), 0};
  const auto [a, of_a] = split_constant(n->a, var);
  const auto [b, of_b] = scale ? std::pair(n->b, std::int64_t{0}) : split_constant(n->b, var);
  const auto x = static_cast<std::uint64_t>(of_a),
             y = static_cast<std::uint64_t>(scale.value_or(of_b));
  const std::uint64_t sum = scale ? x * y : n->op == BinaryOp::Add ? x + y : x - y;
  return {fold(n->op, a, b), static_cast<std::int64_t>(sum)};
}

/// Combines the constants in sums that use the variable.
Expr with_collected_constants(const Expr& e, const Var& var) {
  if (!uses_var(e, var)) return e;
  if (e.dtype() != var.dtype()) return with_collected_in_children(e, var);
  const auto [base, constant] = split_constant(e, var);
  return fold(BinaryOp::Add, base, make_int(e.dtype(), wrap(constant, e.dtype())));
}
Stmt with_collected_constants(const Stmt& s, const Var& var) {
  return map_children(
      s, [&](const Expr& e) { return with_collected_constants(e, var); },
      [&](const Stmt& child) { return with_collected_constants(child, var); });
}

std::optional<Stmt> rebased(const For& n) {
  const std::int64_t begin = constant_int(n.min).value_or(0);
  if (begin < kFar && begin > -kFar) return std::nullopt;
  const Var var = n.var.fresh();
  For loop = n;
  loop.var = var;
  loop.min = make_int(n.min.dtype(), 0);
  const Stmt body = substitute(n.body, {{&n.var.node(), var + n.min}});
  loop.body = with_collected_constants(body, var);
  return make_stmt(std::move(loop));
}

}  // namespace

PrimFunc rebase_loops(const PrimFunc& func, const PassOptions&) {
  return with_body(func, rewrite(func.body, [](const For& n, const Stmt&) { return rebased(n); }));
}

// ---- renormalize_splits -------------------------------------------------------------------------

// Rewrites divisions and constant guards that splits produce, so that the next simplification can
// fold them:
//
//   floordiv(floormod(t, 64), 32)   =>  floormod(floordiv(t, 32), 2)
//   floordiv(o*8 + i, 12)           =>  floordiv(o*2 + floordiv(i, 4), 3)
//   o*8 + i < 100                   =>  floordiv(o*2 + floordiv(i, 4), 25) < 1
//
// A guard thereby loses the common factor of its scale and its bound.

namespace {

/// The maximum depth of repeated rewriting.
constexpr int kMaxDepth = 5;

/// A sum of two or three terms of which the first is scaled: index*scale + rest.
struct ScaledSum {
  Expr index;
  std::int64_t scale;
  Expr rest;
};

std::optional<ScaledSum> as_scaled_sum(const Expr& e) {
  const Binary* sum = as_binary(e, BinaryOp::Add);
  if (!sum) return std::nullopt;
  const Binary* inner = as_binary(sum->a, BinaryOp::Add);
  const Binary* product = as_binary(inner ? inner->a : sum->a, BinaryOp::Mul);
  const auto scale = product ? constant_int(product->b) : std::nullopt;
  if (!scale) return std::nullopt;
  return ScaledSum{product->a, *scale, inner ? fold(BinaryOp::Add, inner->b, sum->b) : sum->b};
}

class Renormalizer {
 public:
  Stmt stmt(const Stmt& s) {
    if (!has_form(s)) return s;
    if (const Let* n = s.as<Let>(); n && n->value.dtype().is_integral() && wraps(n->value))
      arith::bind_data(n->var, facts_);
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

  Expr expr(const Expr& e) {
    if (!has_form(e)) return e;
    if (const LetExpr* n = e.as<LetExpr>(); n && n->value.dtype().is_integral() && wraps(n->value))
      arith::bind_data(n->var, facts_);
    if (const Binary* n = e.as<Binary>()) {
      switch (n->op) {
        case BinaryOp::FloorDiv:
          return floor_div(expr(n->a), expr(n->b));
        case BinaryOp::Lt:
          return less(expr(n->a), expr(n->b));
        case BinaryOp::Gt:
          return less(expr(n->b), expr(n->a));
        case BinaryOp::Le:  // a <= b is not (b < a)
          if (!n->a.dtype().is_integral()) break;
          return negated(less(expr(n->b), expr(n->a)));
        case BinaryOp::Ge:
          if (!n->a.dtype().is_integral()) break;
          return negated(less(expr(n->a), expr(n->b)));
        default:
          break;
      }
    }
    Expr result = map_children(e, [&](const Expr& child) { return expr(child); });
    if (const Not* n = result.as<Not>()) return negated(n->a);
    return result;
  }

 private:
  /// Whether the tree may contain an expression that this pass rewrites.
  template <class Tree>
  static bool has_form(const Tree& tree) {
    return contains(tree, Content::Order) || contains(tree, Content::FloorDiv) ||
           contains<Not>(tree);
  }

  Expr again(const Expr& e) {
    if (depth_ >= kMaxDepth) return e;
    ++depth_;
    Expr result = expr(e);
    --depth_;
    return result;
  }

  /// Returns a < b, or floordiv(a, b) < 1 for a constant b > 0.
  Expr less(const Expr& a, const Expr& b) {
    const IntImm* bound = b.as<IntImm>();
    if (!bound || bound->value <= 0) return make_binary(BinaryOp::Lt, a, b);
    return again(fold(BinaryOp::Lt, fold(BinaryOp::FloorDiv, a, b), make_int(b.dtype(), 1)));
  }

  /// Returns the negation of a comparison. Float comparisons are not inverted, because
  /// order comparisons with NaN are false.
  static Expr negated(const Expr& e) {
    if (const Not* n = e.as<Not>()) return n->a;
    if (const Binary* n = e.as<Binary>(); n && n->a.dtype().is_integral()) {
      switch (n->op) {
        case BinaryOp::Le:
          return fold(BinaryOp::Lt, n->b, n->a);
        case BinaryOp::Ge:
          return fold(BinaryOp::Lt, n->a, n->b);
        case BinaryOp::Lt:
          return fold(BinaryOp::Le, n->b, n->a);
        case BinaryOp::Gt:
          return fold(BinaryOp::Le, n->a, n->b);
        default:
          break;
      }
    }
    return e.as<IntImm>() ? make_int(e.dtype(), is_zero(e) ? 1 : 0) : make_not(e);
  }

  Expr floor_div(const Expr& a, const Expr& b) {
    const Expr plain = fold(BinaryOp::FloorDiv, a, b);
    const Binary* division = as_binary(plain, BinaryOp::FloorDiv);
    if (!division) return plain;
    const auto divisor = constant_int(division->b);
    if (!divisor || *divisor <= 0) return plain;
    if (const Binary* modulo = as_binary(division->a, BinaryOp::FloorMod)) {
      const auto modulus = constant_int(modulo->b);
      if (modulus && *modulus > 0 && *modulus % *divisor == 0) {
        return again(fold(BinaryOp::FloorMod, fold(BinaryOp::FloorDiv, modulo->a, division->b),
                          make_int(modulo->b.dtype(), *modulus / *divisor)));
      }
    }
    const auto sum = as_scaled_sum(division->a);
    if (!sum || sum->scale <= 0 || wraps(division->a)) return plain;
    const std::int64_t common = std::gcd(sum->scale, *divisor);
    if (common <= 1) return plain;
    const DataType type = division->b.dtype();
    const Expr scaled = fold(BinaryOp::Mul, sum->index, make_int(type, sum->scale / common));
    const Expr rest = fold(BinaryOp::FloorDiv, sum->rest, make_int(type, common));
    return again(fold(BinaryOp::FloorDiv, fold(BinaryOp::Add, scaled, rest),
                      make_int(type, *divisor / common)));
  }

  bool wraps(const Expr& e) const { return arith::wraps(e, facts_); }

  /// Records in `facts_` which variables hold data.
  arith::Facts facts_;
  int depth_ = 0;
};

}  // namespace

PrimFunc renormalize_splits(const PrimFunc& func, const PassOptions&) {
  return with_body(func, Renormalizer().stmt(func.body));
}

}  // namespace tenon::lowering
