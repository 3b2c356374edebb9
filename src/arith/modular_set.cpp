#include "tenon/arith/modular_set.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "arith/facts_state.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/each_of.h"
#include "tenon/support/match.h"

namespace tenon::arith {

using namespace tir;

namespace {

constexpr ModularSet kEverything{1, 0};

ModularSet normalized(std::int64_t coeff, std::int64_t base) {
  if (coeff < 0) coeff = -coeff;
  if (coeff != 0) {
    base %= coeff;
    if (base < 0) base += coeff;
  }
  return {coeff, base};
}

ModularSet exactly(std::int64_t value) { return {0, value}; }

/// Returns the product; nullopt if it overflows, which gives no information.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t p = 0;
  if (__builtin_mul_overflow(a, b, &p) || p == std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return p;
}

ModularSet add(const ModularSet& a, const ModularSet& b) {
  std::int64_t base = 0;
  if (__builtin_add_overflow(a.base, b.base, &base)) return kEverything;
  return normalized(std::gcd(a.coeff, b.coeff), base);
}

ModularSet subtract(const ModularSet& a, const ModularSet& b) {
  std::int64_t base = 0;
  if (__builtin_sub_overflow(a.base, b.base, &base)) return kEverything;
  return normalized(std::gcd(a.coeff, b.coeff), base);
}

/// Multiplies two sets: (p x + n)(q y + m) == pq xy + pm x + qn y + nm, and the first three terms
/// are multiples of gcd(pq, pm, qn).
ModularSet multiply(const ModularSet& a, const ModularSet& b) {
  const auto pq = product(a.coeff, b.coeff), pm = product(a.coeff, b.base),
             qn = product(a.base, b.coeff);
  const auto nm = product(a.base, b.base);
  if (!pq || !pm || !qn || !nm) return kEverything;
  return normalized(std::gcd(*pq, std::gcd(*pm, *qn)), *nm);
}

/// Returns a set that contains both.
ModularSet hull(const ModularSet& a, const ModularSet& b) {
  const std::int64_t coeff = std::gcd(a.coeff, b.coeff);
  if (coeff == 0) return a.base == b.base ? a : kEverything;
  const ModularSet x = normalized(coeff, a.base), y = normalized(coeff, b.base);
  if (x.base == y.base) return x;
  return normalized(std::gcd(std::gcd(x.base, y.base), coeff), x.base);
}

class ModularSetOf {
 public:
  explicit ModularSetOf(const Facts::State& state) : state_(state) {}

  ModularSet operator()(const Expr& e) const {
    if (is_stack_low()) return with_deep_stack([&] { return (*this)(e); });
    const ModularSetOf& self = *this;
    if (!e.dtype().is_scalar()) return kEverything;
    return match(
        e.node().value, [&](const IntImm& n) { return of_constant(n, e.dtype()); },
        [&](const VarNode&) {
          const Facts::State::OfVar* known = state_.find(e);
          return known && known->modular ? *known->modular : kEverything;
        },
        [&](const Cast& n) { return of_cast(e.dtype(), n); },
        [&](const Binary& n) { return of_binary(e, n); },
        [&](const Select& n) { return hull(self(n.if_true), self(n.if_false)); },
        [&](const Call& n) { return of_call(n); },
        each_of<FloatImm, StringImm, Not, Ramp, Broadcast, Shuffle, LetExpr, Load, ProducerLoad,
                Reduce>([] { return kEverything; }));
  }

 private:
  /// A uint64 above 2^63 has a negative bit pattern with the same remainders by powers of two.
  static ModularSet of_constant(const IntImm& n, DataType type) {
    const bool is_beyond = type.is_uint() && type.bits == 64 && n.value < 0;
    return is_beyond ? normalized(std::int64_t{1} << 62, n.value) : exactly(n.value);
  }

  /// A narrowing cast wraps. Remainders are preserved only if the value fits.
  ModularSet of_cast(DataType type, const Cast& n) const {
    const DataType from = n.value.dtype();
    if (!from.is_integral() || !type.is_integral()) return kEverything;
    return may_wrap(bound_of(n.value, state_), from, type) ? kEverything : (*this)(n.value);
  }

  /// A value that wraps keeps its remainders by powers of two.
  ModularSet of_result(const ModularSet& set, const Expr& e) const {
    if (set.coeff == 1 || !root_may_overflow(e, state_)) return set;
    return normalized(std::gcd(set.coeff, std::int64_t{1} << std::min<int>(e.dtype().bits, 62)),
                      set.base);
  }

  ModularSet of_binary(const Expr& e, const Binary& n) const {
    switch (n.op) {
      case BinaryOp::Add:
        return of_result(add((*this)(n.a), (*this)(n.b)), e);
      case BinaryOp::Sub:
        return of_result(subtract((*this)(n.a), (*this)(n.b)), e);
      case BinaryOp::Mul:
        return of_result(multiply((*this)(n.a), (*this)(n.b)), e);
      case BinaryOp::Min:
      case BinaryOp::Max:
        return hull((*this)(n.a), (*this)(n.b));
      case BinaryOp::TruncDiv:
      case BinaryOp::FloorDiv: {
        const ModularSet divisor = (*this)(n.b);
        if (!is_divisor(divisor)) return kEverything;
        return divide(n.a, divisor.base, n.op == BinaryOp::FloorDiv);
      }
      case BinaryOp::TruncMod:
      case BinaryOp::FloorMod: {
        const ModularSet divisor = (*this)(n.b);
        if (!is_divisor(divisor)) return kEverything;
        return remainder(n.a, divisor.base, n.op == BinaryOp::FloorMod);
      }
      default:
        return kEverything;
    }
  }

  ModularSet of_call(const Call& n) const {
    if (!n.is(Intrin::shift_right)) return kEverything;
    const ModularSet amount = (*this)(n.args[1]);
    if (amount.coeff != 0 || amount.base < 0 || amount.base > 62) return kEverything;
    return divide(n.args[0], std::int64_t{1} << amount.base, true);
  }

  /// Whether the set is a non-zero constant whose negation does not overflow.
  static bool is_divisor(const ModularSet& set) {
    return set.coeff == 0 && set.base != 0 && set.base != std::numeric_limits<std::int64_t>::min();
  }
  bool is_non_negative(const Expr& e) const { return bound_of(e, state_).min >= 0; }

  ModularSet divide(const Expr& e, std::int64_t divisor, bool rounds_down) const {
    const ModularSet a = (*this)(e);
    if (a.coeff % divisor != 0) return kEverything;
    if (a.base == 0) return normalized(a.coeff / divisor, 0);
    // With a positive base and divisor, the quotient is known if the division rounds down.
    if (a.base > 0 && divisor > 0 && (rounds_down || is_non_negative(e)))
      return normalized(a.coeff / divisor, a.base / divisor);
    return kEverything;
  }

  ModularSet remainder(const Expr& e, std::int64_t divisor, bool rounds_down) const {
    const ModularSet a = (*this)(e);
    const std::int64_t coeff = std::gcd(a.coeff, divisor);
    if (a.base % coeff == 0) return normalized(coeff, 0);
    if (a.base > 0 && (rounds_down || is_non_negative(e))) return normalized(coeff, a.base % coeff);
    return kEverything;
  }

  const Facts::State& state_;
};

/// Coefficients with gcd(a, b) == a*x + b*y.
struct Bezout {
  std::int64_t gcd, x, y;
};
Bezout bezout(std::int64_t a, std::int64_t b) {
  if (b == 0) return {a, 1, 0};
  const Bezout inner = bezout(b, a % b);
  return {inner.gcd, inner.y, inner.x - a / b * inner.y};
}

}  // namespace

ModularSet intersect(const ModularSet& a, const ModularSet& b) {
  constexpr ModularSet kNothing{0, 1};
  if (a.coeff == 0 && b.coeff == 0) return a.base == b.base ? a : kNothing;
  // The equation a.coeff * p + a.base == b.coeff * q + b.base has solutions if and only if the gcd
  // divides the difference of the bases.
  const Bezout solution = bezout(a.coeff, b.coeff);
  const std::int64_t difference = b.base - a.base;
  if (difference % solution.gcd != 0) return kNothing;
  const auto coeff = product(a.coeff / solution.gcd, b.coeff);
  const auto p = product(difference / solution.gcd, solution.x);
  const auto step = p ? product(*p, a.coeff) : std::nullopt;
  if (!coeff || !step) return a;
  if (*coeff == 0) return exactly(a.coeff == 0 ? a.base : b.base);
  return normalized(*coeff, *step + a.base);
}

ModularSet modular_set_of(const Expr& e, const Facts::State& state) {
  const InData scope(state, e);
  return ModularSetOf(state)(e);
}

ModularSet modular_set(const Expr& e, const Facts& facts) {
  return modular_set_of(e, facts.state());
}

}  // namespace tenon::arith
