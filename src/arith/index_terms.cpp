#include "tenon/arith/index_terms.h"

namespace tenon::arith {

using namespace tir;

bool for_each_term(const Expr& e, std::int64_t factor, std::int64_t& constant,
                   FunctionRef<bool(const Expr&, std::int64_t)> term) {
  if (const std::optional<std::int64_t> value = constant_int(e)) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(*value, factor, &product) &&
           !__builtin_add_overflow(constant, product, &constant);
  }
  const Binary* n = e.as<Binary>();
  if (!n) return term(e, factor);
  if (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) {
    std::int64_t of_second = factor;
    if (n->op == BinaryOp::Sub && __builtin_sub_overflow(0, factor, &of_second)) return false;
    return for_each_term(n->a, factor, constant, term) &&
           for_each_term(n->b, of_second, constant, term);
  }
  if (n->op != BinaryOp::Mul) return term(e, factor);
  for (const auto& [x, multiplier] : {std::pair(&n->a, &n->b), std::pair(&n->b, &n->a)}) {
    const std::optional<std::int64_t> c = constant_int(*multiplier);
    if (!c) continue;
    std::int64_t scaled = 0;
    return !__builtin_mul_overflow(*c, factor, &scaled) &&
           for_each_term(*x, scaled, constant, term);
  }
  return term(e, factor);
}

bool Reach::misses(std::int64_t low, std::int64_t high) const {
  if ((low_.is_finite && low_.value > high) || (high_.is_finite && high_.value < low)) return true;
  if (divisor_ == 0 || divisor_ > std::int64_t{1} << 60) return false;
  // The values are the constant plus multiples of the divisor; the first one from `low` on:
  std::int64_t above = (constant_ % divisor_ - low % divisor_) % divisor_;
  if (above < 0) above += divisor_;
  return above > high - low;
}

}  // namespace tenon::arith
