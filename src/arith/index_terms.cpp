#include "tenon/arith/index_terms.h"

#include <cstdlib>

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

namespace {

constexpr std::int64_t kMaxDivisor = std::int64_t{1} << 60;

}  // namespace

void Reach::keep(const Term& term) {
  const bool has_magnitude = term.factor != std::numeric_limits<std::int64_t>::min();
  if (count_ >= kTerms || !has_magnitude) {
    count_ = kTerms + 1;
    return;
  }
  std::size_t at = count_++;
  for (; at > 0 && std::abs(terms_[at - 1].factor) > std::abs(term.factor); --at)
    terms_[at] = terms_[at - 1];
  terms_[at] = term;
}

bool Reach::misses(std::int64_t low, std::int64_t high) const {
  if ((low_ && *low_ > high) || (high_ && *high_ < low)) return true;
  if (divisor_ == 0 || divisor_ > kMaxDivisor) return false;
  // The values are the constant plus multiples of the divisor. `above` is the distance from `low`
  // to the first such value that is not below `low`.
  std::int64_t above = (constant_ % divisor_ - low % divisor_) % divisor_;
  if (above < 0) above += divisor_;
  if (above > high - low) return true;
  return count_ <= kTerms && misses_between_rows(low, high);
}

bool Reach::misses_between_rows(std::int64_t low, std::int64_t high) const {
  // divisors[n] is the greatest common divisor of the factors of term n and all later terms.
  std::array<std::int64_t, kTerms + 1> divisors = {};
  for (std::size_t n = count_; n-- > 0;) divisors[n] = std::gcd(divisors[n + 1], terms_[n].factor);
  Reach smaller(constant_);
  for (std::size_t n = 0; n + 1 < count_; ++n) {
    smaller.add(terms_[n].factor, terms_[n].low, terms_[n].high);
    if (!smaller.min() || !smaller.max()) return false;
    const std::int64_t divisor = divisors[n + 1];
    if (divisor > kMaxDivisor) continue;
    // Subtracts the smaller terms from a value in [low, high]. The difference is in [least,
    // greatest] and a multiple of the divisor. If there is no such multiple, no value is in [low,
    // high].
    std::int64_t least = 0, greatest = 0, span = 0;
    if (__builtin_sub_overflow(low, *smaller.max(), &least) ||
        __builtin_sub_overflow(high, *smaller.min(), &greatest) ||
        __builtin_sub_overflow(greatest, least, &span))
      return false;
    std::int64_t behind = least % divisor;
    if (behind > 0) behind -= divisor;
    if (-behind > span) return true;
  }
  return false;
}

}  // namespace tenon::arith
