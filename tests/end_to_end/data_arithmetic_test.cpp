// Arithmetic of data: integers wrap modulo their type wherever they are computed, uint64 is
// unsigned up to its end, comparisons with NaN do not hold whatever is made of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tenon/tenon.h"

namespace tenon::testing {
namespace {

/// Two elements, and what is computed from them: by a stage each at root, or inline.
struct Shape {
  const char* name;
  Expr (*inner)(const Expr& a, const Expr& b);
  Expr (*outer)(const Expr& s, const Expr& a);
};

const Shape kShapes[] = {
    {"(a + 10) > 20", [](const Expr& a, const Expr&) { return a + 10; },
     [](const Expr& s, const Expr& a) { return cast(a.dtype(), s > 20); }},
    {"20 < (10 - a)", [](const Expr& a, const Expr&) { return 10 - a; },
     [](const Expr& s, const Expr& a) { return cast(a.dtype(), 20 < s); }},
    {"(a + b) < a", [](const Expr& a, const Expr& b) { return a + b; },
     [](const Expr& s, const Expr& a) { return cast(a.dtype(), s < a); }},
    {"(a * 4) == 0", [](const Expr& a, const Expr&) { return a * 4; },
     [](const Expr& s, const Expr& a) { return cast(a.dtype(), s == 0); }},
    {"(a * 4) < 8", [](const Expr& a, const Expr&) { return a * 4; },
     [](const Expr& s, const Expr& a) { return cast(a.dtype(), s < 8); }},
    {"floordiv(a * 4, 4)", [](const Expr& a, const Expr&) { return a * 4; },
     [](const Expr& s, const Expr&) { return floordiv(s, 4); }},
    {"floordiv(a * 4 + b, 4)", [](const Expr& a, const Expr& b) { return a * 4 + b; },
     [](const Expr& s, const Expr&) { return floordiv(s, 4); }},
    {"floormod(a * 6, 3)", [](const Expr& a, const Expr&) { return a * 6; },
     [](const Expr& s, const Expr&) { return floormod(s, 3); }},
    {"truncdiv(a * 8, 4)", [](const Expr& a, const Expr&) { return a * 8; },
     [](const Expr& s, const Expr&) { return truncdiv(s, 4); }},
    {"truncmod(a + 5, 5)", [](const Expr& a, const Expr&) { return a + 5; },
     [](const Expr& s, const Expr&) { return truncmod(s, 5); }},
    {"max(a + 1, a)", [](const Expr& a, const Expr&) { return a + 1; },
     [](const Expr& s, const Expr& a) { return max(s, a); }},
    {"min(a - 1, a)", [](const Expr& a, const Expr&) { return a - 1; },
     [](const Expr& s, const Expr& a) { return min(s, a); }},
    {"min(a + b, a)", [](const Expr& a, const Expr& b) { return a + b; },
     [](const Expr& s, const Expr& a) { return min(s, a + 1); }},
    {"(a + b) - a", [](const Expr& a, const Expr& b) { return a + b; },
     [](const Expr& s, const Expr& a) { return s - a; }},
    {"floordiv(a + b, 2) * 2", [](const Expr& a, const Expr& b) { return a + b; },
     [](const Expr& s, const Expr&) { return floordiv(s, 2) * 2; }},
    {"select((a + b) > 0, a + b, 0)", [](const Expr& a, const Expr& b) { return a + b; },
     [](const Expr& s, const Expr&) { return select(s > 0, s, 0); }},
    {"if_then_else((a + 7) > 7, floormod(a, 8), 1)",
     [](const Expr& a, const Expr&) { return a + 7; },
     [](const Expr& s, const Expr& a) { return if_then_else(s > 7, floormod(a, 8), 1); }},
    {"cast(int64, a + b)", [](const Expr& a, const Expr& b) { return a + b; },
     [](const Expr& s, const Expr& a) {
       return cast(a.dtype(), floordiv(cast(Int(64), s) * 2, 4));
     }},
};

template <class T>
std::vector<T> edges() {
  const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return {least,
          static_cast<T>(least + 1),
          T{0},
          T{1},
          T{7},
          static_cast<T>(most / 2),
          static_cast<T>(most - 5),
          static_cast<T>(most - 1),
          most};
}

template <class T>
std::vector<T> computed(const Shape& shape, DataType type, bool is_inline, const char* target) {
  const std::vector<T> values = edges<T>();
  const int n = static_cast<int>(values.size());
  te::Tensor A = te::placeholder({n}, "A", type), B = te::placeholder({n}, "B", type);
  te::Tensor S = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return shape.inner(A(i), B(j)); }, "S");
  te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return shape.outer(S(i, j), A(i)); }, "C");
  te::Schedule s = te::create_schedule({C});
  if (is_inline) s[S].compute_inline();
  const auto a = runtime::NDArray::from(values, {n}), b = runtime::NDArray::from(values, {n});
  auto c = runtime::NDArray::empty({n, n}, type);
  build(s, {A, B, C}, Target(target))["main"](a, b, c);
  const T* elements = c.template data<T>();
  return std::vector<T>(elements, elements + n * n);
}

template <class T>
void expect_the_same_inline(DataType type) {
  for (const Shape& shape : kShapes)
    for (const char* target : {"llvm", "c"})
      EXPECT_EQ(computed<T>(shape, type, true, target), computed<T>(shape, type, false, "llvm"))
          << shape.name << " of " << type.str() << " by " << target;
}

TEST(DataArithmetic, Int32IsTheSameInlineAndAtRoot) {
  expect_the_same_inline<std::int32_t>(Int(32));
}
TEST(DataArithmetic, Int64IsTheSameInlineAndAtRoot) {
  expect_the_same_inline<std::int64_t>(Int(64));
}
TEST(DataArithmetic, Int8IsTheSameInlineAndAtRoot) { expect_the_same_inline<std::int8_t>(Int(8)); }
TEST(DataArithmetic, Uint8IsTheSameInlineAndAtRoot) {
  expect_the_same_inline<std::uint8_t>(UInt(8));
}
TEST(DataArithmetic, Uint32IsTheSameInlineAndAtRoot) {
  expect_the_same_inline<std::uint32_t>(UInt(32));
}

TEST(DataArithmetic, Uint64IsComparedAndDividedUpToItsEnd) {
  const std::vector<std::uint64_t> x{0, 3, 5, 6, 1ULL << 40, 1ULL << 63, (1ULL << 63) + 5, ~0ULL};
  const int n = static_cast<int>(x.size());
  te::Tensor X = te::placeholder({n}, "X", UInt(64));
  const Expr most = max_value(UInt(64)), half = make_const(UInt(64), 1ULL << 63),
             five = make_const(UInt(64), 5);
  te::Tensor C = te::compute(
      {n}, {"i"},
      [&](Var i) {
        const auto bit = [](const Expr& holds, int at) {
          return select(holds, make_const(UInt(64), 1ULL << at), make_const(UInt(64), 0));
        };
        return bit(X(i) < most && X(i) > five, 0) + bit(X(i) < five || X(i) > half, 1) +
               bit(X(i) >= half && X(i) <= most, 2) + bit(X(i) == half || X(i) != half, 3) +
               bit(floordiv(X(i), half) == 1, 4) + bit(max(X(i), half) == X(i), 5) +
               bit(min(X(i), most) == X(i), 6) + bit(floormod(X(i), half) == X(i), 7);
      },
      "C");
  auto a = runtime::NDArray::from(x, {n}), c = runtime::NDArray::empty({n}, UInt(64));
  build(te::create_schedule({C}), {X, C})["main"](a, c);
  constexpr std::uint64_t kHalf = 1ULL << 63;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t v = x[i];
    const bool bits[] = {v < ~0ULL && v > 5, v < 5 || v > kHalf, v >= kHalf, true,
                         v / kHalf == 1,     v >= kHalf,         true,       v % kHalf == v};
    std::uint64_t expected = 0;
    for (std::size_t k = 0; k < std::size(bits); ++k) expected |= std::uint64_t{bits[k]} << k;
    EXPECT_EQ(c.data<std::uint64_t>()[i], expected) << v;
  }
}

// ---- NaN ----------------------------------------------------------------------------------------

struct Condition {
  const char* name;
  Expr (*of)(const Expr& x);
  bool (*is)(float x);
};

const Condition kConditions[] = {
    {"!(x < 1)", [](const Expr& x) { return !(x < 1.0F); }, [](float x) { return !(x < 1); }},
    {"!(x <= 1)", [](const Expr& x) { return !(x <= 1.0F); }, [](float x) { return !(x <= 1); }},
    {"!(x > 1)", [](const Expr& x) { return !(x > 1.0F); }, [](float x) { return !(x > 1); }},
    {"!(x >= 1)", [](const Expr& x) { return !(x >= 1.0F); }, [](float x) { return !(x >= 1); }},
    {"!(x == 1)", [](const Expr& x) { return !(x == 1.0F); }, [](float x) { return x != 1; }},
    {"!(x != x)", [](const Expr& x) { return !(x != x); }, [](float x) { return x == x; }},
    {"!(x < 1 && x < 3)", [](const Expr& x) { return !(x < 1.0F && x < 3.0F); },
     [](float x) { return !(x < 1 && x < 3); }},
    {"!(x < 1 || x > 3)", [](const Expr& x) { return !(x < 1.0F || x > 3.0F); },
     [](float x) { return !(x < 1 || x > 3); }},
    {"!(!(x < 1))", [](const Expr& x) { return !(!(x < 1.0F)); }, [](float x) { return x < 1; }},
    {"!(x < 1) && !(x >= 1)", [](const Expr& x) { return !(x < 1.0F) && !(x >= 1.0F); },
     [](float x) { return !(x < 1) && !(x >= 1); }},
    {"x < 1 || x >= 1", [](const Expr& x) { return x < 1.0F || x >= 1.0F; },
     [](float x) { return x < 1 || x >= 1; }},
    {"!(x < 1) || x < 1", [](const Expr& x) { return !(x < 1.0F) || x < 1.0F; },
     [](float) { return true; }},
};

using Choice = Expr (*)(const Expr& c, const Expr& x);
const Choice kChoices[] = {
    [](const Expr& c, const Expr&) { return if_then_else(c, 7, 3); },
    [](const Expr& c, const Expr&) { return select(c, Expr(7), Expr(3)); },
    // The condition's value is known in its branches.
    [](const Expr& c, const Expr& x) {
      return if_then_else(
          c, select(x < 1.0F, Expr(100), Expr(7)) - select(x < 1.0F, Expr(93), Expr(0)),
          select(!c, Expr(3), Expr(0)));
    },
    [](const Expr& c, const Expr&) { return if_then_else(!c, 3, 7); },
};

TEST(DataArithmetic, NegatedComparisonsHoldOfNaN) {
  const std::vector<float> values{NAN, -INFINITY, -1, 0.5F, 1, 2, 3, 4, INFINITY};
  const int n = static_cast<int>(values.size());
  for (const Condition& condition : kConditions)
    for (const Choice choice : kChoices)
      for (const bool is_vector : {false, true}) {
        te::Tensor A = te::placeholder({n}, "A");
        te::Tensor C = te::compute(
            {n}, {"i"}, [&](Var i) { return choice(condition.of(A(i)), A(i)); }, "C");
        te::Schedule s = te::create_schedule({C});
        if (is_vector) s[C].vectorize(s[C].axis(0));
        auto a = runtime::NDArray::from(values, {n}), c = runtime::NDArray::empty({n}, Int(32));
        build(s, {A, C}, Target("llvm"))["main"](a, c);
        for (int i = 0; i < n; ++i)
          EXPECT_EQ(c.data<int>()[i], condition.is(values[i]) ? 7 : 3)
              << condition.name << " of " << values[i] << (is_vector ? ", in a vector" : "");
      }
}

/// 1 + 1e8 - 1e8 is 0 in this order, and 1 in another.
TEST(DataArithmetic, FloatsUnderAConditionAreAddedInTheirOrder) {
  const int n = 16;
  for (const bool is_product : {false, true}) {
    te::Tensor X = te::placeholder({n}, "X"), Y = te::placeholder({n}, "Y"),
               M = te::placeholder({n}, "M", Int(32));
    te::Tensor C =
        te::extern_op({n}, {X, Y, M},
                      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
                        tir::IRBuilder ib;
                        auto x = ib.buffer_ptr(ins[0]), y = ib.buffer_ptr(ins[1]),
                             m = ib.buffer_ptr(ins[2]), c = ib.buffer_ptr(outs[0]);
                        ib.for_range(0, n, "i", [&](Var i) { c[i] = 1.0F; });
                        ib.for_range(0, n, "j", [&](Var j) {
                          ib.if_scope(m[j] > 0, [&] {
                            if (is_product)
                              c[j] = (c[j] * x[j]) * y[j];
                            else
                              c[j] = (c[j] + x[j]) + y[j];
                          });
                        });
                        return ib.get();
                      },
                      "C", {.dtype = Float(32)});
    const float big = is_product ? 1e-30F : 1e8F, other = is_product ? 1e-20F : -1e8F;
    std::vector<int> mask(n, 1);
    mask[3] = 0;
    auto x = runtime::NDArray::from(std::vector<float>(n, big), {n}),
         y = runtime::NDArray::from(std::vector<float>(n, other), {n}),
         m = runtime::NDArray::from(mask, {n}), c = runtime::NDArray::empty({n}, Float(32));
    build(te::create_schedule({C}), {X, Y, M, C})["main"](x, y, m, c);
    const float expected = is_product ? (1.0F * big) * other : (1.0F + big) + other;
    for (int i = 0; i < n; ++i) EXPECT_EQ(c.data<float>()[i], i == 3 ? 1.0F : expected) << i;
  }
}

}  // namespace
}  // namespace tenon::testing
