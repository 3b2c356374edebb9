#include "tenon/arith/modular_set.h"

#include <algorithm>
#include <array>
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

ModularSet set_of(const Expr& e, const Facts::State& state);

/// A uint64 above 2^63 has a negative bit pattern with the same remainders by powers of two.
ModularSet of_constant(const IntImm& n, DataType type) {
  const bool is_beyond = type.is_uint() && type.bits == 64 && n.value < 0;
  return is_beyond ? normalized(std::int64_t{1} << 62, n.value) : exactly(n.value);
}

/// A narrowing cast wraps. Remainders are preserved only if the value fits.
ModularSet of_cast(DataType type, const Cast& n, const Facts::State& state) {
  const DataType from = n.value.dtype();
  if (!from.is_integral() || !type.is_integral()) return kEverything;
  return may_wrap(bound_of(n.value, state), from, type) ? kEverything : set_of(n.value, state);
}

/// A value that wraps keeps its remainders by powers of two.
ModularSet of_result(const ModularSet& set, const Expr& e, const Facts::State& state) {
  if (set.coeff == 1 || !root_may_overflow(e, state)) return set;
  return normalized(std::gcd(set.coeff, std::int64_t{1} << std::min<int>(e.dtype().bits, 62)),
                    set.base);
}

/// Whether the set is a non-zero constant whose negation does not overflow.
bool is_divisor(const ModularSet& set) {
  return set.coeff == 0 && set.base != 0 && set.base != std::numeric_limits<std::int64_t>::min();
}

bool is_non_negative(const Expr& e, const Facts::State& state) {
  return bound_of(e, state).min >= 0;
}

ModularSet divide(const Expr& e, std::int64_t divisor, bool rounds_down,
                  const Facts::State& state) {
  const ModularSet a = set_of(e, state);
  if (a.coeff % divisor != 0) return kEverything;
  if (a.base == 0) return normalized(a.coeff / divisor, 0);
  // With a positive base and divisor, the quotient is known if the division rounds down.
  if (a.base > 0 && divisor > 0 && (rounds_down || is_non_negative(e, state)))
    return normalized(a.coeff / divisor, a.base / divisor);
  return kEverything;
}

ModularSet remainder(const Expr& e, std::int64_t divisor, bool rounds_down,
                     const Facts::State& state) {
  const ModularSet a = set_of(e, state);
  const std::int64_t coeff = std::gcd(a.coeff, divisor);
  if (a.base % coeff == 0) return normalized(coeff, 0);
  if (a.base > 0 && (rounds_down || is_non_negative(e, state)))
    return normalized(coeff, a.base % coeff);
  return kEverything;
}

ModularSet of_binary(const Expr& e, const Binary& n, const Facts::State& state) {
  switch (n.op) {
    case BinaryOp::Add:
      return of_result(add(set_of(n.a, state), set_of(n.b, state)), e, state);
    case BinaryOp::Sub:
      return of_result(subtract(set_of(n.a, state), set_of(n.b, state)), e, state);
    case BinaryOp::Mul:
      return of_result(multiply(set_of(n.a, state), set_of(n.b, state)), e, state);
    case BinaryOp::Min:
    case BinaryOp::Max:
      return hull(set_of(n.a, state), set_of(n.b, state));
    case BinaryOp::TruncDiv:
    case BinaryOp::FloorDiv:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorMod: {
      const ModularSet divisor = set_of(n.b, state);
      if (!is_divisor(divisor)) return kEverything;
      const bool rounds_down = n.op == BinaryOp::FloorDiv || n.op == BinaryOp::FloorMod;
      if (n.op == BinaryOp::TruncDiv || n.op == BinaryOp::FloorDiv)
        return divide(n.a, divisor.base, rounds_down, state);
      return remainder(n.a, divisor.base, rounds_down, state);
    }
    default:
      return kEverything;
  }
}

ModularSet of_call(const Call& n, const Facts::State& state) {
  if (!n.is(Intrin::shift_right)) return kEverything;
  const ModularSet amount = set_of(n.args[1], state);
  if (amount.coeff != 0 || amount.base < 0 || amount.base > 62) return kEverything;
  return divide(n.args[0], std::int64_t{1} << amount.base, true, state);
}

ModularSet set_of(const Expr& e, const Facts::State& state) {
  if (is_stack_low()) return with_deep_stack([&] { return set_of(e, state); });
  if (!e.dtype().is_scalar()) return kEverything;
  return match(
      e.node().value, [&](const IntImm& n) { return of_constant(n, e.dtype()); },
      [&](const VarNode&) {
        const Facts::State::OfVar* known = state.find(e);
        return known && known->modular ? *known->modular : kEverything;
      },
      [&](const Cast& n) { return of_cast(e.dtype(), n, state); },
      [&](const Binary& n) { return of_binary(e, n, state); },
      [&](const Select& n) { return hull(set_of(n.if_true, state), set_of(n.if_false, state)); },
      [&](const Call& n) { return of_call(n, state); },
      each_of<FloatImm, StringImm, Not, Ramp, Broadcast, Shuffle, LetExpr, Load, ProducerLoad,
              Reduce>([] { return kEverything; }));
}

/// Returns gcd(a, b), x and y with gcd(a, b) == a*x + b*y.
std::array<std::int64_t, 3> bezout(std::int64_t a, std::int64_t b) {
  if (b == 0) return {a, 1, 0};
  const auto [gcd, x, y] = bezout(b, a % b);
  return {gcd, y, x - a / b * y};
}

}  // namespace

ModularSet intersect(const ModularSet& a, const ModularSet& b) {
  constexpr ModularSet kNothing{0, 1};
  if (a.coeff == 0 && b.coeff == 0) return a.base == b.base ? a : kNothing;
  // The equation a.coeff * p + a.base == b.coeff * q + b.base has solutions if and only if the gcd
  // divides the difference of the bases.
  const auto [gcd, x, y] = bezout(a.coeff, b.coeff);
  const std::int64_t difference = b.base - a.base;
  if (difference % gcd != 0) return kNothing;
  const auto coeff = product(a.coeff / gcd, b.coeff);
  const auto p = product(difference / gcd, x);
  const auto step = p ? product(*p, a.coeff) : std::nullopt;
  if (!coeff || !step) return a;
  if (*coeff == 0) return exactly(a.coeff == 0 ? a.base : b.base);
  return normalized(*coeff, *step + a.base);
}

ModularSet modular_set_of(const Expr& e, const Facts::State& state) {
  const InData scope(state, e);
  return set_of(e, state);
}

ModularSet modular_set(const Expr& e, const Facts& facts) {
  return modular_set_of(e, facts.state());
}

}  // namespace tenon::arith
