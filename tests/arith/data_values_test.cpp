// Simplification of data keeps values: arithmetic of elements wraps modulo its type, whatever the
// width, and floats have NaN, infinities and a negative zero. Random expressions of all types, at
// the ends of their types.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/modular_set.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/support/match.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {
namespace {

using namespace tir;

// ---- an evaluator of its own --------------------------------------------------------------------

/// An integer by its bit pattern in int64, sign- or zero-extended; or a float.
struct Value {
  std::int64_t i = 0;
  double f = 0;
};
using Result = std::optional<Value>;

/// The elements that loads read, and the values of variables.
struct Point {
  std::vector<std::pair<const void*, Value>> elements;
  std::vector<std::pair<const ExprNode*, Value>> vars;
};

__extension__ typedef __int128 Wide;

Wide number_of(std::int64_t bits, DataType type) {
  if (type.is_uint() && type.bits == 64) return static_cast<std::uint64_t>(bits);
  return bits;
}
std::int64_t wrapped(Wide value, DataType type) {
  if (type.bits == 64) return static_cast<std::int64_t>(value);
  const auto mask = (std::uint64_t{1} << type.bits) - 1;
  std::uint64_t bits = static_cast<std::uint64_t>(value) & mask;
  if (type.is_int() && bits >> (type.bits - 1) != 0) bits |= ~mask;
  return static_cast<std::int64_t>(bits);
}
double rounded(double value, DataType type) {
  return type.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

class Evaluation {
 public:
  explicit Evaluation(const Point& at) : at_(at) {}

  Result operator()(const Expr& e) {
    return match(
        e.node().value, [](const IntImm& n) -> Result { return Value{.i = n.value}; },
        [](const FloatImm& n) -> Result { return Value{.f = n.value}; },
        [](const StringImm&) -> Result { return std::nullopt; },
        [&](const VarNode&) -> Result {
          for (const auto& [var, value] : at_.vars)
            if (var == &e.node()) return value;
          return std::nullopt;
        },
        [&](const Load& n) -> Result {
          for (const auto& [buffer, value] : at_.elements)
            if (buffer == n.buffer.get()) return value;
          return std::nullopt;
        },
        [&](const Cast& n) -> Result {
          const Result value = (*this)(n.value);
          return value ? Result(converted(*value, n.value.dtype(), e.dtype())) : std::nullopt;
        },
        [&](const Binary& n) { return binary(n, e.dtype()); },
        [&](const Not& n) -> Result {
          const Result value = (*this)(n.a);
          return value ? Result(Value{.i = value->i == 0}) : std::nullopt;
        },
        [&](const Select& n) { return choice(n.condition, n.if_true, n.if_false); },
        [&](const Call& n) -> Result {
          if (n.is(Intrin::if_then_else)) return choice(n.args[0], n.args[1], n.args[2]);
          if (n.is(Intrin::likely)) return (*this)(n.args[0]);
          return bits(n, e.dtype());
        },
        [&](const LetExpr& n) -> Result {
          const Result value = (*this)(n.value);
          if (!value) return std::nullopt;
          at_.vars.emplace_back(&n.var.node(), *value);
          const Result result = (*this)(n.body);
          at_.vars.pop_back();
          return result;
        },
        [](const auto&) -> Result { return std::nullopt; });
  }

 private:
  Result choice(const Expr& condition, const Expr& if_true, const Expr& if_false) {
    const Result c = (*this)(condition);
    return c ? (*this)(c->i != 0 ? if_true : if_false) : std::nullopt;
  }

  static Value converted(const Value& value, DataType from, DataType to) {
    if (to.is_floating()) {
      if (!from.is_integral()) return {.f = rounded(value.f, to)};
      const Wide number = number_of(value.i, from);
      return {.f = to.bits == 32 ? static_cast<double>(static_cast<float>(number))
                                 : static_cast<double>(number)};
    }
    if (to.is_bool()) return {.i = from.is_floating() ? value.f != 0 : value.i != 0};
    if (from.is_integral()) return {.i = wrapped(number_of(value.i, from), to)};
    // Saturates.
    if (std::isnan(value.f)) return {.i = 0};
    const auto bits = static_cast<unsigned>(to.bits);
    const Wide most = (Wide{1} << (to.is_int() ? bits - 1 : bits)) - 1;
    const Wide least = to.is_int() ? -most - 1 : Wide{0};
    const double whole = std::trunc(value.f);
    if (whole >= 0x1p100) return {.i = wrapped(most, to)};
    if (whole <= -0x1p100) return {.i = wrapped(least, to)};
    const Wide exact = static_cast<Wide>(whole);
    return {.i = wrapped(exact < least ? least : exact > most ? most : exact, to)};
  }

  Result binary(const Binary& n, DataType type) {
    const Result a = (*this)(n.a);
    if (!a) return std::nullopt;
    if (n.op == BinaryOp::And && a->i == 0) return Value{.i = 0};
    if (n.op == BinaryOp::Or && a->i != 0) return Value{.i = 1};
    const Result b = (*this)(n.b);
    if (!b) return std::nullopt;
    if (n.op == BinaryOp::And || n.op == BinaryOp::Or) return Value{.i = b->i != 0};
    const DataType operands = n.a.dtype();
    if (operands.is_floating()) return of_floats(n.op, a->f, b->f, operands);
    return of_integers(n.op, number_of(a->i, operands), number_of(b->i, operands), type);
  }

  static Result of_floats(BinaryOp op, double a, double b, DataType type) {
    const auto number = [&](double value) { return Value{.f = rounded(value, type)}; };
    switch (op) {
      case BinaryOp::Add:
        return number(a + b);
      case BinaryOp::Sub:
        return number(a - b);
      case BinaryOp::Mul:
        return number(a * b);
      case BinaryOp::Div:
        return number(a / b);
      case BinaryOp::Min:
        return number(std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b));
      case BinaryOp::Max:
        return number(std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b));
      default:
        return compared(op, a, b);
    }
  }

  template <class T>
  static Result compared(BinaryOp op, T a, T b) {
    switch (op) {
      case BinaryOp::Eq:
        return Value{.i = a == b};
      case BinaryOp::Ne:
        return Value{.i = a != b};
      case BinaryOp::Lt:
        return Value{.i = a < b};
      case BinaryOp::Le:
        return Value{.i = a <= b};
      case BinaryOp::Gt:
        return Value{.i = a > b};
      case BinaryOp::Ge:
        return Value{.i = a >= b};
      default:
        return std::nullopt;
    }
  }

  static Result of_integers(BinaryOp op, Wide a, Wide b, DataType type) {
    const auto number = [&](Wide value) { return Value{.i = wrapped(value, type)}; };
    switch (op) {
      case BinaryOp::Add:
        return number(a + b);
      case BinaryOp::Sub:
        return number(a - b);
      case BinaryOp::Mul:
        return number(
            static_cast<Wide>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)));
      case BinaryOp::Min:
        return number(std::min(a, b));
      case BinaryOp::Max:
        return number(std::max(a, b));
      case BinaryOp::TruncDiv:
      case BinaryOp::TruncMod:
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod: {
        if (b == 0) return std::nullopt;
        Wide quotient = a / b, rest = a % b;
        const bool is_floor = op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
        if (is_floor && rest != 0 && (rest < 0) != (b < 0)) quotient -= 1, rest += b;
        const bool is_quotient = op == BinaryOp::TruncDiv || op == BinaryOp::FloorDiv;
        return number(is_quotient ? quotient : rest);
      }
      default:
        return compared(op, a, b);
    }
  }

  Result bits(const Call& n, DataType type) {
    const Result a = (*this)(n.args[0]), b = (*this)(n.args[1]);
    if (!a || !b) return std::nullopt;
    const Wide x = number_of(a->i, type);
    const auto amount = static_cast<unsigned>(b->i) % type.bits;
    if (n.is(Intrin::bitwise_and)) return Value{.i = a->i & b->i};
    if (n.is(Intrin::bitwise_or)) return Value{.i = a->i | b->i};
    if (n.is(Intrin::bitwise_xor)) return Value{.i = a->i ^ b->i};
    if (n.is(Intrin::shift_right)) return Value{.i = wrapped(x >> amount, type)};
    if (n.is(Intrin::shift_left))
      return Value{
          .i = wrapped(static_cast<Wide>(static_cast<std::uint64_t>(a->i) << amount), type)};
    return std::nullopt;
  }

  Point at_;
};

bool is_same(const Value& a, const Value& b, DataType type) {
  if (!type.is_floating()) return a.i == b.i;
  if (std::isnan(a.f) || std::isnan(b.f)) return std::isnan(a.f) && std::isnan(b.f);
  // A maximum may give either zero.
  return a.f == b.f;
}

// ---- random expressions -------------------------------------------------------------------------

const DataType kIntegers[] = {Int(8),  UInt(8),  Int(16), UInt(16),
                              Int(32), UInt(32), Int(64), UInt(64)};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {
    for (const DataType type : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64),
                                UInt(64), Float(32), Float(64)})
      for (const char* name : {"A", "B", "C"})
        buffers_.push_back(decl_buffer({4}, type, {.name = name}));
  }

  const Facts& facts() const { return facts_; }
  std::size_t pick(std::size_t n) { return random_() % n; }

  Expr leaf(DataType type) {
    if (pick(4) == 0) return constant(type);
    if (!lets_.empty() && pick(3) == 0) {
      const Var& var = lets_[pick(lets_.size())];
      if (var.dtype() == type) return var;
    }
    return element(type);
  }

  Expr element(DataType type) {
    std::vector<Buffer> fitting;
    for (const Buffer& b : buffers_)
      if (b->dtype == type) fitting.push_back(b);
    return make_load(fitting[pick(pick(2) == 0 ? 1 : 3)], {make_int(Int(32), 0)});
  }

  Expr constant(DataType type) {
    if (type.is_floating()) {
      const double values[] = {0, 1, -1, 0.5, 2, 3, INFINITY, -INFINITY, NAN, 100};
      return make_float(type, values[pick(std::size(values))]);
    }
    return make_int(type, edge(type));
  }

  std::int64_t edge(DataType type) {
    const std::int64_t small = static_cast<std::int64_t>(pick(9)) - 3;
    switch (pick(6)) {
      case 0:
        return wrapped(Wide{1} << pick(type.bits), type);
      case 1: {
        // Near the ends.
        const Wide most = (Wide{1} << (type.is_int() ? type.bits - 1 : type.bits)) - 1;
        return wrapped(most + small, type);
      }
      case 2:
        return wrapped(static_cast<Wide>(random_()) << (pick(2) * 31) | random_(), type);
      default:
        return wrapped(small, type);
    }
  }

  Expr number(DataType type, int depth) {
    if (depth <= 0 || pick(8) == 0) return leaf(type);
    const auto a = [&] { return number(type, depth - 1); };
    if (type.is_floating()) {
      constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul,
                                   BinaryOp::Div, BinaryOp::Min, BinaryOp::Max};
      if (pick(4) == 0) return chosen(type, depth);
      if (pick(8) == 0) return cast(type, number(kIntegers[pick(8)], depth - 1));
      return make_binary(kOps[pick(6)], a(), a());
    }
    // Arithmetic of constants alone is that of positions.
    const auto data = [&] {
      const Expr e = a();
      return contains<Load>(e) ? e : element(type);
    };
    switch (pick(16)) {
      case 0:
      case 1:
        return make_binary(BinaryOp::Add, data(), a());
      case 2:
        return make_binary(BinaryOp::Sub, data(), a());
      case 3:
        return make_binary(BinaryOp::Add, data(), constant(type));
      case 4:
      case 5:
        return make_binary(BinaryOp::Mul, data(), constant(type));
      case 6:
        return make_binary(BinaryOp::Mul, data(), a());
      case 7:
      case 8: {
        constexpr BinaryOp kOps[] = {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::TruncDiv,
                                     BinaryOp::TruncMod};
        Expr b = pick(4) == 0 ? a() : constant(type);
        if (is_zero(b)) b = make_int(type, 4);
        return make_binary(kOps[pick(4)], data(), b);
      }
      case 9:
        return make_binary(BinaryOp::Min, data(), a());
      case 10:
        return make_binary(BinaryOp::Max, data(), a());
      case 11:
        return chosen(type, depth);
      case 12: {
        const DataType from = pick(6) == 0 ? Float(32) : kIntegers[pick(8)];
        const Expr value = number(from, depth - 1);
        return value.dtype() == type ? value : make_cast(type, value);
      }
      case 13: {
        constexpr Intrin kOps[] = {Intrin::bitwise_and, Intrin::bitwise_or, Intrin::shift_left,
                                   Intrin::shift_right};
        const std::size_t op = pick(4);
        const Expr b =
            op < 2
                ? a()
                : make_int(type, wrapped(static_cast<std::int64_t>(pick(2 * type.bits)) - 4, type));
        return make_call(type, kOps[op], {data(), b});
      }
      case 14: {
        const DataType of_value = pick(2) == 0 ? type : kIntegers[pick(8)];
        const Var var("v" + std::to_string(++count_), of_value);
        const Expr value = number(of_value, depth - 1);
        lets_.push_back(var);
        const Expr body = a();
        lets_.pop_back();
        return make_let(var, value, body);
      }
      default:
        return make_binary(BinaryOp::Sub, constant(type), data());
    }
  }

  Expr chosen(DataType type, int depth) {
    const Expr c = condition(depth - 1), x = number(type, depth - 1), y = number(type, depth - 1);
    if (pick(2) == 0) return make_select(c, x, y);
    return make_call(type, Intrin::if_then_else, {c, x, y});
  }

  Expr condition(int depth) {
    constexpr BinaryOp kComparisons[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                                         BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    if (depth > 0 && pick(2) == 0) {
      if (pick(3) == 0) return make_not(condition(depth - 1));
      const BinaryOp op = pick(2) == 0 ? BinaryOp::And : BinaryOp::Or;
      return make_binary(op, condition(depth - 1), condition(depth - 1));
    }
    const DataType type = pick(4) == 0 ? Float(32) : kIntegers[pick(8)];
    const Expr b = pick(2) == 0 ? constant(type) : number(type, depth);
    Expr a = number(type, depth);
    // Positions are taken not to overflow in guards.
    if (!wraps(a)) a = make_binary(BinaryOp::Add, a, element(type));
    return make_binary(kComparisons[pick(6)], a, b);
  }

  Point point() {
    Point at;
    for (const Buffer& b : buffers_) {
      constexpr double kFloats[] = {0,    -0.0, 1,     -1,       0.5,       2,   3,
                                    -2.5, 1e30, -1e30, INFINITY, -INFINITY, NAN, 16777217};
      Value value;
      if (b->dtype.is_floating()) {
        value.f = rounded(kFloats[pick(std::size(kFloats))], b->dtype);
      } else {
        value.i = edge(b->dtype);
      }
      at.elements.emplace_back(b.get(), value);
    }
    return at;
  }

 private:
  std::mt19937_64 random_;
  std::vector<Buffer> buffers_;
  std::vector<Var> lets_;
  int count_ = 0;
  Facts facts_;
};

/// More rounds, for a longer search.
int rounds(int usual) {
  const char* factor = std::getenv("TENON_TEST_ROUNDS");
  return factor ? usual * std::atoi(factor) : usual;
}

std::string text_of(const Value& value, DataType type) {
  return type.is_floating() ? std::to_string(value.f) : std::to_string(value.i);
}

/// Every form of `e` has its value, at random points.
void expect_same_values(const Expr& e, const Facts& facts, Generator& random) {
  if (!wraps(e)) return;
  const Expr forms[] = {simplify(e, facts), rewrite_simplify(e, facts),
                        canonical_simplify(e, facts)};
  for (int n = 0; n < 24; ++n) {
    const Point at = random.point();
    const Result right = Evaluation(at)(e);
    if (!right) continue;
    for (const Expr& form : forms) {
      const Result got = Evaluation(at)(form);
      ASSERT_TRUE(got && is_same(*got, *right, e.dtype()))
          << print_expr(e) << "\nbecame " << print_expr(form) << "\nwhich is "
          << (got ? text_of(*got, e.dtype()) : "nothing") << ", not " << text_of(*right, e.dtype())
          << "\nA, B, C of " << [&] {
               std::string text;
               for (const auto& [buffer, value] : at.elements) {
                 const auto& b = *static_cast<const BufferNode*>(buffer);
                 text += b.name + ":" + b.dtype.str() + " = " + text_of(value, b.dtype) + "  ";
               }
               return text;
             }();
    }
  }
}

TEST(DataValues, IntegersOfEveryTypeWrapAsWritten) {
  unsigned seed = 100;
  for (const DataType type : kIntegers) {
    Generator random(seed++);
    for (int n = 0; n < rounds(1500) && !testing::Test::HasFatalFailure(); ++n)
      expect_same_values(random.number(type, 1 + n % 4), random.facts(), random);
  }
}

TEST(DataValues, ConditionsOfElementsAreKept) {
  Generator random(7);
  for (int n = 0; n < rounds(6000) && !testing::Test::HasFatalFailure(); ++n)
    expect_same_values(random.condition(1 + n % 4), random.facts(), random);
}

TEST(DataValues, FloatsKeepNaNAndInfinities) {
  for (const DataType type : {Float(32), Float(64)}) {
    Generator random(8);
    for (int n = 0; n < rounds(3000) && !testing::Test::HasFatalFailure(); ++n)
      expect_same_values(random.number(type, 1 + n % 4), random.facts(), random);
  }
}

TEST(DataValues, BoundsAndRemaindersContainWhatWraps) {
  unsigned seed = 200;
  for (const DataType type : kIntegers) {
    Generator random(seed++);
    for (int n = 0; n < rounds(1000); ++n) {
      const Expr e = random.number(type, 1 + n % 4);
      if (!wraps(e)) continue;
      const ConstBound bound = const_bound(e, random.facts());
      const ModularSet set = modular_set(e, random.facts());
      for (int k = 0; k < 16; ++k) {
        const Result value = Evaluation(random.point())(e);
        if (!value) continue;
        const Wide number = number_of(value->i, type);
        ASSERT_TRUE((!bound.min || *bound.min <= number) && (!bound.max || number <= *bound.max))
            << text_of(*value, type) << " of " << print_expr(e);
        const Wide rest = set.coeff == 0 ? number : (number % set.coeff + set.coeff) % set.coeff;
        ASSERT_TRUE(rest == set.base) << text_of(*value, type) << " of " << print_expr(e)
                                      << " is not " << set.coeff << "*k + " << set.base;
      }
    }
  }
}

/// Under a condition, values are kept where it holds.
TEST(DataValues, FactsOfElementsAndLetsAreOnlyThoseThatHold) {
  Generator random(9);
  for (int n = 0; n < rounds(4000) && !testing::Test::HasFatalFailure(); ++n) {
    const DataType type = kIntegers[random.pick(8)];
    const Expr given = random.condition(1 + n % 3), e = random.number(type, 1 + n % 3);
    const Expr whole = make_call(type, Intrin::if_then_else, {given, e, make_int(type, 0)});
    expect_same_values(whole, random.facts(), random);
  }
}

}  // namespace
}  // namespace tenon::arith
