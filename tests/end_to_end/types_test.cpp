// Every data type, compiled and run.

#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tenon/tenon.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- every feature on every type ----------------------------------------------------------------

// Runs every feature of the language on every type that has it: reductions, mathematics, extremes.
// Compares with the interpreter.

using te::Expr;
using List = std::vector<Expr>;

const std::vector<DataType> kNumbers{Float(16), BFloat(16), Float(32), Float(64),
                                     Int(8),    Int(16),    Int(32),   Int(64),
                                     UInt(8),   UInt(16),   UInt(32),  UInt(64)};

double tolerance_of(DataType type) { return type.bits == 16 && type.is_floating() ? 0.1 : 1e-4; }

class EveryNumber : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryNumber, ::testing::ValuesIn(kNumbers),
                         [](const auto& info) { return info.param.str(); });

TEST_P(EveryNumber, IsReducedInEveryWay) {
  const DataType type = GetParam();
  te::Tensor A = te::placeholder({5, 7}, "A", type);
  const te::IterVar k = te::reduce_axis({0, 7}, "k");
  auto row = [&](const std::function<Expr(Expr)>& reduce, const std::string& name) {
    return te::compute(
        {5}, {"i"}, [&](Var i) { return reduce(A(i, k)); }, name);
  };
  const std::vector<te::Tensor> outputs = {
      row([&](const Expr& e) { return te::sum(e, {k}); }, "total"),
      row([&](const Expr& e) { return te::prod(e, {k}); }, "product"),
      row([&](const Expr& e) { return te::min(e, {k}); }, "least"),
      row([&](const Expr& e) { return te::max(e, {k}); }, "greatest")};
  te::Schedule s = te::create_schedule(outputs);
  std::vector<LowerArgument> args = {A};
  for (const te::Tensor& t : outputs) {
    auto [outer, inner] = s[t].split(s[t].reduce_axis(0), 3);
    s.rfactor(t, inner);
    args.emplace_back(t);
  }
  EXPECT_EQ(compare_with_default(s, args, {.tolerance = tolerance_of(type)}), "");
}

TEST_P(EveryNumber, HasItsExtremes) {
  const DataType type = GetParam();
  te::Tensor A = te::placeholder({4}, "A", type);
  te::Tensor B = te::compute(
      {4}, {"i"},
      [&](Var i) {
        const Expr beyond = type.is_floating() ? infinity(type) : make_const(type, 3);
        const Expr extreme =
            if_then_else(i < 1, min_value(type), if_then_else(i < 2, max_value(type), beyond));
        // An extreme is neither below nor above any element.
        return select(min(extreme, A(i)) == extreme || max(extreme, A(i)) == extreme, extreme,
                      A(i));
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(EveryTruth, IsReducedInBothWays) {
  te::Tensor A = te::placeholder({5, 7}, "A", Bool());
  const te::IterVar k = te::reduce_axis({0, 7}, "k");
  te::Tensor every = te::compute(
      {5}, {"i"}, [&](Var i) { return te::all(A(i, k), {k}); }, "every");
  te::Tensor some = te::compute(
      {5}, {"i"}, [&](Var i) { return te::any(A(i, k), {k}); }, "some");
  te::Schedule s = te::create_schedule({every, some});
  for (const te::Tensor& t : {every, some}) s.rfactor(t, s[t].split(s[t].reduce_axis(0), 3).inner);
  EXPECT_EQ(compare_with_default(s, {A, every, some}), "");
}

// Three outputs of three types, with a condition, from start values.
TEST(OwnReducer, OfSeveralTypesAtOnce) {
  te::Tensor A = te::placeholder({5, 8}, "A"), I = te::placeholder({5, 8}, "I", Int(64));
  const te::IterVar k = te::reduce_axis({0, 8}, "k");
  const te::Reducer three = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return List{x[0] + y[0], max(x[1], y[1]), x[2] * y[2]};
      },
      [](std::span<const DataType> t) {
        return List{make_const(t[0], 0), min_value(t[1]), make_const(t[2], 1)};
      },
      "three");
  for (bool factored : {false, true}) {
    const std::vector<te::Tensor> T = te::compute_multi(
        {5}, {"i"},
        [&](Var i) {
          return three({A(i, k), I(i, k), cast(UInt(8), I(i, k))}, {k},
                       {.where = A(i, k) >= 0.0f, .init = factored ? List{} : List{2.5, 7, 3}});
        },
        "T");
    te::Schedule s = te::create_schedule(T[0].op());
    if (factored) s.rfactor(T, s[T[0]].split(s[T[0]].reduce_axis(0), 3).inner);
    EXPECT_EQ(compare_with_default(s, {A, I, T[0], T[1], T[2]}), "");
  }
}

class EveryFloat : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryFloat,
                         ::testing::Values(Float(16), BFloat(16), Float(32), Float(64),
                                           Float(16, 2), BFloat(16, 2), Float(32, 4), Float(64, 2)),
                         [](const auto& info) { return info.param.str(); });

TEST_P(EveryFloat, HasTheFunctionsOfSeveralArguments) {
  const DataType type = GetParam();
  te::Tensor A = te::placeholder({8}, "A", type), B = te::placeholder({8}, "B", type);
  std::vector<te::Tensor> outputs;
  auto add = [&](const std::string& name, const std::function<Expr(Expr, Expr)>& f) {
    outputs.push_back(te::compute(
        {8}, {"i"}, [&](Var i) { return f(A(i), B(i)); }, name));
  };
  add("power", [](const Expr& a, const Expr& b) { return pow(abs(a) + 1, b); });
  add("angle", [](const Expr& a, const Expr& b) { return atan2(a, b); });
  add("remainder", [](const Expr& a, const Expr& b) { return fmod(a, abs(b) + 1); });
  add("diagonal", [](const Expr& a, const Expr& b) { return hypot(a, b); });
  add("sign", [](const Expr& a, const Expr& b) { return copysign(a, b); });
  add("scaled",
      [](const Expr& a, const Expr& b) { return ldexp(a, cast(Int(32, a.dtype().lanes), b)); });
  add("fused", [](const Expr& a, const Expr& b) { return fma(a, b, a); });
  add("area", [](const Expr& a, const Expr&) { return acosh(abs(a) + 1); });
  if (type.bits >= 32) add("next", [](const Expr& a, const Expr& b) { return nextafter(a, b); });
  std::vector<LowerArgument> args = {A, B};
  args.insert(args.end(), outputs.begin(), outputs.end());
  te::Schedule s = te::create_schedule(outputs);
  for (std::size_t n = 0; n < outputs.size(); n += 2)
    s[outputs[n]].vectorize(s[outputs[n]].axis(0));
  EXPECT_EQ(compare_with_default(s, args, {.tolerance = type.bits == 16 ? 0.02 : 1e-4}), "");
}

TEST_P(EveryFloat, KnowsWhatIsNoNumberAndWhatIsInfinite) {
  const DataType type = GetParam();
  const int lanes = type.lanes;
  te::Tensor A = te::placeholder({9}, "A", type);
  te::Tensor B = te::compute(
      {9}, {"i"},
      [&](Var i) {
        const Expr e = A(i) / A(8 - i) * max_value(type);
        auto digit = [&](const Expr& truth, int weight) {
          return cast(Int(32, lanes), truth) * weight;
        };
        return digit(isnan(e), 1) + digit(isinf(e), 2) + digit(isfinite(e), 4);
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].split(s[B].axis(0), 4).inner);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

/// The C functions pow and hypot ignore a quiet NaN beside 0 and infinity, but not a signalling
/// one.
TEST(EveryNan, IsIgnoredByAPowerOf0AndBesideInfinity) {
  for (const auto& [type, signalling] :
       {std::pair(Float(16), 0x7d00ll), std::pair(BFloat(16), 0x7fa0ll),
        std::pair(Float(32), 0x7fa00000ll), std::pair(Float(64), 0x7ff4000000000000ll)}) {
    te::Tensor A = te::placeholder({1}, "A", Int(64)), Z = te::placeholder({1}, "Z", Int(32));
    te::Tensor B = te::compute(
        {1}, {"i"},
        [&, type = type](Var i) {
          const Expr zero = cast(type, Z(i));
          const Expr nan =
              tir::make_call(type, tir::Intrin::reinterpret, {cast(Int(type.bits), A(i))});
          return cast(Int(32), pow(nan, zero) == 1) + cast(Int(32), isinf(hypot(nan, 1 / zero)));
        },
        "B");
    const auto bits = runtime::NDArray::from(std::vector<std::int64_t>{signalling}, {1}),
               zero = runtime::NDArray::from(std::vector<std::int32_t>{0}, {1});
    for (const char* target : {"llvm", "c"}) {
      const auto out = runtime::NDArray::empty({1}, Int(32));
      build(te::create_schedule(B), {A, Z, B}, Target(target))["main"](bits, zero, out);
      EXPECT_EQ(out.data<std::int32_t>()[0], 2) << type.str() << " for " << target;
    }
  }
}

// ---- bfloat16 -----------------------------------------------------------------------------------

// bfloat16 as compiled: what only a whole build meets.

using runtime::BFloat16;
using runtime::NDArray;

TEST(Bfloat16Test, AScalarParameterIsMultipliedBy) {
  const te::Tensor A = te::placeholder({3}, "A", BFloat(16));
  const Var x("x", BFloat(16));
  const te::Tensor B = te::compute(
      {3}, {"i"}, [&](Var i) { return A(i) * x; }, "B");
  const runtime::Module mod = build(te::create_schedule(B), {A, x, B}, Target("llvm"));
  const std::vector<BFloat16> in{BFloat16(1.0), BFloat16(-2.5), BFloat16(0.75)};
  const NDArray a = NDArray::from(in, {3}), b = NDArray::zeros({3}, BFloat(16));
  mod["main"](a, 3.0, b);
  for (std::size_t n = 0; n < in.size(); ++n)
    EXPECT_EQ(static_cast<double>(b.data<runtime::BFloat16>()[n]), static_cast<double>(in[n]) * 3);
}

TEST(Bfloat16Test, EveryNanStaysOne) {
  std::vector<float> nans;
  for (std::uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff80ffffu, 0x7fc00000u})
    nans.push_back(std::bit_cast<float>(bits));
  const int count = static_cast<int>(nans.size());
  const te::Tensor A = te::placeholder({count}, "A");
  const te::Tensor B = te::compute(
      {count}, {"i"}, [&](Var i) { return cast(BFloat(16), A(i)); }, "B");
  const runtime::Module mod = build(te::create_schedule(B), {A, B}, Target("llvm"));
  const NDArray a = NDArray::from(nans, {count}), b = NDArray::zeros({count}, BFloat(16));
  mod["main"](a, b);
  for (std::size_t n = 0; n < nans.size(); ++n)
    EXPECT_TRUE(std::isnan(static_cast<double>(b.data<runtime::BFloat16>()[n]))) << n;
}

TEST(Bfloat16Test, ADoubleIsRoundedOnce) {
  // Just above the middle of two neighbours: float32 would round it to the middle, and that to
  // even.
  const std::vector<double> in{1.00390625 + 0x1p-40};
  const te::Tensor A = te::placeholder({1}, "A", Float(64));
  const te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var i) { return cast(BFloat(16), A(i)); }, "B");
  const runtime::Module mod = build(te::create_schedule(B), {A, B}, Target("llvm"));
  const NDArray a = NDArray::from(in, {1}), b = NDArray::zeros({1}, BFloat(16));
  mod["main"](a, b);
  EXPECT_EQ(static_cast<double>(b.data<runtime::BFloat16>()[0]), 1.0078125);
}

// ---- arithmetic of data -------------------------------------------------------------------------

// Arithmetic of data: integers wrap modulo their type wherever they are computed, uint64 is
// unsigned up to its end, comparisons with NaN do not hold whatever is made of them.

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

TEST(DataArithmetic, AnInlinedElementWrapsInAnIndexThoughItHasNoDataInside) {
  using Map = std::function<Expr(const Expr&)>;
  const Map elements = [](const Expr& i) { return i * 2 + 9; };
  const auto computed = [](const Map& value, const Map& index, bool is_inline, const char* target) {
    std::vector<int> data(14);
    for (int n = 0; n < 14; ++n) data[static_cast<std::size_t>(n)] = n;
    te::Tensor A = te::placeholder({14}, "A", Int(32));
    te::Tensor P = te::compute(
        {15}, {"i"}, [&](Var i) { return value(i); }, "P");
    te::Tensor C = te::compute(
        {15}, {"i"}, [&](Var i) { return A(index(P(i))); }, "C");
    te::Schedule s = te::create_schedule({C});
    if (is_inline) s[P].compute_inline();
    const auto a = runtime::NDArray::from(data, {14});
    auto c = runtime::NDArray::empty({15}, Int(32));
    build(s, {A, C}, Target(target))["main"](a, c);
    return std::vector<int>(c.data<int>(), c.data<int>() + 15);
  };
  const auto clamped = [](const Expr& e) { return min(max(e, 0), 13); };
  const std::vector<std::pair<Map, Map>> programs = {
      {elements, [&](const Expr& p) { return clamped(p * 576383424); }},
      {elements, [](const Expr& p) { return floormod(p * 576383424, 14); }},
      {elements, [](const Expr& p) { return select((p - 9) * 100000000 < 0, 3, 5); }},
      {[](const Expr& i) { return i * 200000000; }, clamped},
      {[](const Expr& i) { return cast(Int(64), i) * 1500000000; },
       [&](const Expr& p) { return clamped(cast(Int(32), p)); }}};
  for (const auto& [value, index] : programs)
    for (const char* target : {"llvm", "c"})
      EXPECT_EQ(computed(value, index, true, target), computed(value, index, false, "llvm"))
          << index(value(Var("i"))) << " by " << target;
}

TEST(DataArithmetic, AClampedIndexBeyondInt32IsNotDecidedByItsLowBits) {
  std::vector<int> data(14), expected(15, 13);
  for (int n = 0; n < 14; ++n) data[static_cast<std::size_t>(n)] = n;
  expected[0] = 0;
  const te::Tensor A = te::placeholder({14}, "A", Int(32));
  const te::Tensor C = te::compute(
      {15}, {"i"}, [&](Var i) { return A(min(max(i * 576383424, 0), 13)); }, "C");
  const auto a = runtime::NDArray::from(data, {14});
  for (const char* target : {"llvm", "c"}) {
    auto c = runtime::NDArray::empty({15}, Int(32));
    build(te::create_schedule(C), {A, C}, Target(target))["main"](a, c);
    EXPECT_EQ(std::vector<int>(c.data<int>(), c.data<int>() + 15), expected) << target;
  }
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
