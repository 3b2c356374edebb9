#include "arith/normal_sum.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// Returns the factor of `x*8`, or 1 for `x`, if x is a variable without a value; otherwise 0.
std::int64_t factor_of(const Expr& e, const Facts::State& state) {
  const Binary* product = e.as<Binary>();
  if (product && product->op != BinaryOp::Mul) return 0;
  const Expr& var = product ? product->a : e;
  if (!var.as<VarNode>()) return 0;
  if (state.values) {
    const Facts::State::OfVar* known = state.find(var);
    if (known && known->value) return 0;
  }
  if (!product) return 1;
  const IntImm* factor = product->b.as<IntImm>();
  return factor && factor->value > 1 ? factor->value : 0;
}

}  // namespace

bool is_normal_sum(const Expr& e, const Facts::State& state) {
  if (!e.dtype().is_index()) return false;
  const Binary* sum = as_binary(e, BinaryOp::Add);
  const Expr* rest = &e;
  if (const IntImm* constant = sum ? sum->b.as<IntImm>() : nullptr) {
    rest = &sum->a;
    // In x*8 + 8, the factor 8 could be factored out, so the sum is not in normal form.
    const Binary* product = rest->as<Binary>();
    const IntImm* factor = product ? product->b.as<IntImm>() : nullptr;
    if (constant->value <= 0 || (factor && factor->value == constant->value)) return false;
  }
  // Visits the terms from last to first.
  for (std::int64_t last = 0;; rest = &sum->a) {
    sum = as_binary(*rest, BinaryOp::Add);
    const std::int64_t factor = factor_of(sum ? sum->b : *rest, state);
    // Equal factors other than 1 could be factored out, so the sum is not in normal form.
    if (factor == 0 || factor < last || (factor == last && factor > 1)) return false;
    if (!sum) return true;
    last = factor;
    // A Bloom filter: distinct variables may have the same bit, and the sum is then rejected.
    if ((sum->a.node().contents.variables & sum->b.node().contents.variables) != 0) return false;
  }
}

}  // namespace tenon::arith
