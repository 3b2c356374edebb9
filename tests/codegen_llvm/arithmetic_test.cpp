// Arithmetic of integers and floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "differential.h"
#include "tenon/tir/ops.h"
#include "units_in_last_place.h"

namespace tenon::codegen {
namespace {

// ---- integers -----------------------------------------------------------------------------------

using namespace tir;
using namespace testing;
using runtime::NDArray;

const std::vector<DataType> kIntegers{Int(8),  Int(16),  Int(32),  Int(64),
                                      UInt(8), UInt(16), UInt(32), UInt(64)};
const std::vector<DataType> kFloats{Float(16), BFloat(16), Float(32), Float(64)};

/// The ends of the type and what lies around zero.
std::vector<std::int64_t> interesting(DataType t) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = -9; v <= 9; ++v) values.push_back(wrap(v, t));
  const std::int64_t least = integer_min(t), most = integer_max(t).value_or(-1);
  for (std::int64_t v : {least, least + 1, most, most - 1, most / 2, std::int64_t{100}})
    values.push_back(wrap(v, t));
  return values;
}

NDArray integers(DataType t, const std::vector<std::int64_t>& values) {
  NDArray array = NDArray::zeros({static_cast<std::int64_t>(values.size())}, t);
  auto* bytes = static_cast<char*>(array.dl_tensor().data);
  for (std::size_t n = 0; n < values.size(); ++n)
    std::memcpy(bytes + n * static_cast<std::size_t>(t.bytes()), &values[n],
                static_cast<std::size_t>(t.bytes()));
  return array;
}

/// Every pair of interesting values, without those whose second is in `left_out`.
struct Pairs {
  NDArray a, b;
  std::int64_t count;
};
Pairs pairs(DataType t, bool without_zero) {
  std::vector<std::int64_t> a, b;
  for (std::int64_t x : interesting(t))
    for (std::int64_t y : interesting(t)) {
      if (without_zero && y == 0) continue;
      a.push_back(x), b.push_back(y);
    }
  while (a.size() % 8 != 0) a.push_back(1), b.push_back(1);
  const auto count = static_cast<std::int64_t>(a.size());
  return {integers(t, a), integers(t, b), count};
}

/// C[i] = f(A[i], B[i]), one by one or by vectors of eight.
using Compute = std::function<Expr(const Expr&, const Expr&)>;
void expect_elementwise(const Pairs& p, DataType t, DataType result, const Compute& f, int lanes,
                        const TargetFacts& target = host_target()) {
  Kernel k;
  const Buffer a = k.array({make_int(Int(32), p.count)}, t),
               b = k.array({make_int(Int(32), p.count)}, t);
  const Buffer c = k.array({make_int(Int(32), p.count)}, result);
  IRBuilder ib;
  ib.for_range(0, make_int(Int(32), p.count / lanes), "i", [&](Var i) {
    const Expr at = lanes == 1 ? Expr(i) : make_ramp(i * lanes, 1, lanes);
    ib.emit(make_store(c, f(make_load(a, {at}), make_load(b, {at})), {at}));
  });
  expect_as_interpreted(k.module(ib.get()), {p.a, p.b, NDArray::zeros({p.count}, result)}, target);
}

class EveryIntegerType : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryIntegerType, ::testing::ValuesIn(kIntegers),
                         [](const auto& info) { return info.param.str(); });

TEST_P(EveryIntegerType, division_is_exact_on_all_signs) {
  const DataType t = GetParam();
  const Pairs p = pairs(t, true);
  for (BinaryOp op :
       {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::TruncDiv, BinaryOp::TruncMod})
    for (int lanes : {1, 8})
      expect_elementwise(
          p, t, t, [&](const Expr& x, const Expr& y) { return make_binary(op, x, y); }, lanes);
}

TEST_P(EveryIntegerType, division_by_constants_is_exact_on_all_signs) {
  const DataType t = GetParam();
  const Pairs p = pairs(t, false);
  for (BinaryOp op :
       {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::TruncDiv, BinaryOp::TruncMod}) {
    // One kernel for all constants: their quotients in turns.
    Kernel k;
    const Expr count = make_int(Int(32), p.count);
    std::vector<std::int64_t> divisors;
    for (std::int64_t d : interesting(t))
      if (d != 0) divisors.push_back(d);
    const Expr total = make_int(Int(32), p.count * static_cast<std::int64_t>(divisors.size()));
    const Buffer a = k.array({count}, t), c = k.array({total}, t);
    IRBuilder ib;
    ib.for_range(0, count, "i", [&](Var i) {
      for (std::size_t n = 0; n < divisors.size(); ++n) {
        const Expr quotient = make_binary(op, make_load(a, {i}), make_int(t, divisors[n]));
        ib.emit(
            make_store(c, quotient, {i * static_cast<int>(divisors.size()) + static_cast<int>(n)}));
      }
    });
    expect_as_interpreted(
        k.module(ib.get()),
        {p.a, NDArray::zeros({p.count * static_cast<std::int64_t>(divisors.size())}, t)});
  }
}

TEST_P(EveryIntegerType, division_by_zero_ends_nothing) {
  const DataType t = GetParam();
  Kernel k;
  const Buffer a = k.array({8}, t), b = k.array({8}, t), c = k.array({8}, t);
  IRBuilder ib;
  ib.for_range(0, 8, "i", [&](Var i) {
    ib.emit(make_store(c,
                       floordiv(make_load(a, {i}), make_load(b, {i})) +
                           truncmod(make_load(a, {i}), make_load(b, {i})),
                       {i}));
  });
  k.compile(ib.get())(NDArray::random({8}, t), NDArray::zeros({8}, t), NDArray::zeros({8}, t));
}

TEST_P(EveryIntegerType, arithmetic_wraps_in_the_width_of_the_type) {
  const DataType t = GetParam();
  const Pairs p = pairs(t, false);
  for (BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max})
    for (int lanes : {1, 8})
      expect_elementwise(
          p, t, t, [&](const Expr& x, const Expr& y) { return make_binary(op, x, y); }, lanes);
}

TEST_P(EveryIntegerType, comparisons_give_bools_stored_as_bytes) {
  const DataType t = GetParam();
  const Pairs p = pairs(t, false);
  for (BinaryOp op :
       {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge})
    for (int lanes : {1, 8})
      expect_elementwise(
          p, t, Bool(), [&](const Expr& x, const Expr& y) { return make_binary(op, x, y); }, lanes);
}

TEST_P(EveryIntegerType, bit_operations) {
  const DataType t = GetParam();
  const Pairs p = pairs(t, false);
  const Expr in_width = make_int(t, t.bits - 1);
  for (int lanes : {1, 8}) {
    const Expr mask = lanes == 1 ? in_width : make_broadcast(in_width, lanes);
    auto check = [&](const Compute& f) { expect_elementwise(p, t, t, f, lanes); };
    check([](const Expr& x, const Expr& y) { return x & y; });
    check([](const Expr& x, const Expr& y) { return x | y; });
    check([](const Expr& x, const Expr& y) { return x ^ y; });
    check([](const Expr& x, const Expr&) { return ~x; });
    check([&](const Expr& x, const Expr& y) { return x << (y & mask); });
    check([&](const Expr& x, const Expr& y) { return x >> (y & mask); });
  }
}

TEST_P(EveryIntegerType, popcount_and_clz_count_in_the_width_of_the_type) {
  const DataType t = GetParam();
  const Pairs p = pairs(t, false);
  expect_elementwise(
      p, t, Int(32), [](const Expr& x, const Expr&) { return cast(Int(32), popcount(x)); }, 1);
  expect_elementwise(
      p, t, Int(32), [](const Expr& x, const Expr&) { return cast(Int(32), clz(x)); }, 1);
}

TEST_P(EveryIntegerType, casts_to_other_integers_wrap) {
  const DataType t = GetParam();
  const Pairs p = pairs(t, false);
  for (DataType to : kIntegers)
    for (int lanes : {1, 8})
      expect_elementwise(
          p, t, to, [&](const Expr& x, const Expr&) { return make_cast(to.with_lanes(lanes), x); },
          lanes);
  expect_elementwise(
      p, t, Bool(), [](const Expr& x, const Expr&) { return make_cast(Bool(), x); }, 1);
}

TEST_P(EveryIntegerType, casts_to_floats_round_to_nearest_even) {
  const DataType t = GetParam();
  // Around ties of every float.
  std::vector<std::int64_t> values = interesting(t);
  for (int power : {8, 9, 11, 12, 24, 25, 30, 53, 54, 62})
    for (std::int64_t low : {-3, -2, -1, 0, 1, 2, 3}) {
      values.push_back(wrap((std::int64_t{1} << power) + low, t));
      values.push_back(
          wrap((std::int64_t{1} << power) + (std::int64_t{1} << (power - 8)) + low, t));
      values.push_back(
          wrap((std::int64_t{1} << power) + (std::int64_t{1} << std::max(0, power - 11)) + low, t));
    }
  while (values.size() % 8 != 0) values.push_back(0);
  const Pairs p{integers(t, values), integers(t, values), static_cast<std::int64_t>(values.size())};
  for (DataType to : kFloats)
    for (int lanes : {1, 8}) {
      // The interpreter goes by way of double to the narrow types, which is exact only up to 32
      // bits.
      if (to.bits == 16 && t.bits == 64) continue;
      expect_elementwise(
          p, t, to, [&](const Expr& x, const Expr&) { return make_cast(to.with_lanes(lanes), x); },
          lanes);
    }
}

TEST(Cast, a_large_integer_rounds_once_to_bfloat16) {
  // 2^62 + 2^54 lies half-way between two bfloat16; one more decides.
  const std::vector<std::int64_t> values{(std::int64_t{1} << 62) + (std::int64_t{1} << 54),
                                         (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1,
                                         -(std::int64_t{1} << 62) - (std::int64_t{1} << 54) - 1,
                                         257,
                                         0,
                                         -1};
  Kernel k;
  const Buffer a = k.array({6}, Int(64)), c = k.array({6}, BFloat(16));
  IRBuilder ib;
  ib.for_range(0, 6, "i", [&](Var i) {
    ib.emit(make_store(c, make_cast(BFloat(16), make_load(a, {i})), {i}));
  });
  const NDArray output = NDArray::zeros({6}, BFloat(16));
  k.compile(ib.get())(array_of(values), output);
  const auto* got = output.data<runtime::BFloat16>();
  EXPECT_EQ(static_cast<double>(got[0]), 0x1p62);
  EXPECT_EQ(static_cast<double>(got[1]), 0x1p62 + 0x1p55);
  EXPECT_EQ(static_cast<double>(got[2]), -0x1p62 - 0x1p55);
  EXPECT_EQ(static_cast<double>(got[3]), 256);
  EXPECT_EQ(static_cast<double>(got[4]), 0);
  EXPECT_EQ(static_cast<double>(got[5]), -1);
}

TEST(Bool, logic_on_bytes) {
  const std::vector<bool> unused;
  Kernel k;
  const Buffer a = k.array({16}, Bool()), b = k.array({16}, Bool()), c = k.array({16}, Bool());
  for (int lanes : {1, 8}) {
    IRBuilder ib;
    ib.for_range(0, 16 / lanes, "i", [&](Var i) {
      const Expr at = lanes == 1 ? Expr(i) : make_ramp(i * lanes, 1, lanes);
      const Expr x = make_load(a, {at}), y = make_load(b, {at});
      ib.emit(make_store(c,
                         make_binary(BinaryOp::Or, make_binary(BinaryOp::And, x, make_not(y)),
                                     make_binary(BinaryOp::Eq, x, y)),
                         {at}));
    });
    expect_as_interpreted(k.module(ib.get()), {NDArray::random({16}, Bool(), {.seed = 1}),
                                               NDArray::random({16}, Bool(), {.seed = 2}),
                                               NDArray::zeros({16}, Bool())});
  }
}

// ---- floats -------------------------------------------------------------------------------------

/// All 65536 patterns of a 16-bit float.
NDArray all_patterns(DataType t) {
  NDArray array = NDArray::zeros({65536}, t);
  auto* bits = static_cast<std::uint16_t*>(array.dl_tensor().data);
  for (int n = 0; n < 65536; ++n) bits[n] = static_cast<std::uint16_t>(n);
  return array;
}

/// Values at, and just beside, the middle between neighbours of the type, over its whole range.
template <class Narrow, class Wide>
std::vector<Wide> around_ties(int step) {
  std::vector<Wide> values;
  for (int n = 0; n < 65535; n += step) {
    const double low = static_cast<double>(Narrow::from_bits(static_cast<std::uint16_t>(n)));
    const double high = static_cast<double>(Narrow::from_bits(static_cast<std::uint16_t>(n + 1)));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const Wide middle = static_cast<Wide>((low + high) / 2);
    for (Wide v : {static_cast<Wide>(low), middle, std::nextafter(middle, Wide(-1e30)),
                   std::nextafter(middle, Wide(1e30))})
      values.push_back(v);
  }
  for (double v : {0.0, -0.0, 65504.0, 65519.9, 65520.0, 1e30, -1e30, double(INFINITY),
                   double(-INFINITY), double(NAN), 1e-30, 3.4e38})
    values.push_back(static_cast<Wide>(v));
  while (values.size() % 16 != 0) values.push_back(0);
  return values;
}

template <class Narrow, class Wide>
void expect_rounds_to_nearest_even(const TargetFacts& target) {
  const DataType to = runtime::data_type_of<Narrow>();
  const std::vector<Wide> values = around_ties<Narrow, Wide>(7);
  for (int lanes : {1, 16}) {
    const NDArray got = map(
        array_of(values), to, [&](const Expr& x) { return make_cast(to.with_lanes(lanes), x); },
        lanes, target);
    const auto* bits = static_cast<const std::uint16_t*>(got.dl_tensor().data);
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (std::isnan(values[n])) {
        ASSERT_TRUE(std::isnan(static_cast<float>(Narrow::from_bits(bits[n]))));
        continue;
      }
      ASSERT_EQ(bits[n], Narrow(static_cast<double>(values[n])).bits)
          << values[n] << " with " << lanes << " lanes";
    }
  }
}

TEST(Float16, rounds_float32_to_nearest_even) {
  expect_rounds_to_nearest_even<runtime::Float16, float>(host_target());
  expect_rounds_to_nearest_even<runtime::Float16, float>(plain_target());
}

TEST(Float16, rounds_float64_once) {
  expect_rounds_to_nearest_even<runtime::Float16, double>(host_target());
  expect_rounds_to_nearest_even<runtime::Float16, double>(plain_target());
}

TEST(BFloat16, rounds_float32_to_nearest_even) {
  expect_rounds_to_nearest_even<runtime::BFloat16, float>(host_target());
  expect_rounds_to_nearest_even<runtime::BFloat16, float>(plain_target());
}

TEST(BFloat16, rounds_float64_once) {
  expect_rounds_to_nearest_even<runtime::BFloat16, double>(host_target());
}

template <class Narrow>
void expect_widens_exactly(const TargetFacts& target) {
  const DataType from = runtime::data_type_of<Narrow>();
  const NDArray input = all_patterns(from);
  for (int lanes : {1, 16}) {
    const NDArray got = map(
        input, Float(32), [&](const Expr& x) { return make_cast(Float(32, lanes), x); }, lanes,
        target);
    for (int n = 0; n < 65536; ++n) {
      const float wanted = static_cast<float>(Narrow::from_bits(static_cast<std::uint16_t>(n)));
      const float value = got.template data<float>()[n];
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(value)) << n;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(wanted)) << n;
      }
    }
  }
}

TEST(Float16, widens_exactly) {
  expect_widens_exactly<runtime::Float16>(host_target());
  expect_widens_exactly<runtime::Float16>(plain_target());
}
TEST(BFloat16, widens_exactly) { expect_widens_exactly<runtime::BFloat16>(host_target()); }

TEST(NarrowFloats, arithmetic_rounds_after_every_operation) {
  for (DataType t : {Float(16), BFloat(16)})
    for (BinaryOp op :
         {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Min, BinaryOp::Max})
      for (int lanes : {1, 8})
        for (const TargetFacts& target : {host_target(), plain_target()}) {
          Kernel k;
          const Buffer a = k.array({256}, t), b = k.array({256}, t), c = k.array({256}, t);
          IRBuilder ib;
          ib.for_range(0, 256 / lanes, "i", [&](Var i) {
            const Expr at = lanes == 1 ? Expr(i) : make_ramp(i * lanes, 1, lanes);
            const Expr x = make_load(a, {at}), y = make_load(b, {at});
            ib.emit(make_store(c, make_binary(BinaryOp::Add, make_binary(op, x, y), x), {at}));
          });
          NDArray divisor = NDArray::full({256}, t, 3.0);
          expect_as_interpreted(k.module(ib.get()),
                                {NDArray::random({256}, t), divisor, NDArray::zeros({256}, t)},
                                target);
        }
}

TEST(Float, comparisons_and_tests_know_nan) {
  const std::vector<float> values{0.0f, -0.0f, 1.5f, -1.5f, INFINITY, -INFINITY, NAN, 3e38f};
  for (DataType t : {Float(16), BFloat(16), Float(32), Float(64)}) {
    const NDArray input = map(array_of(values), t, [&](const Expr& x) { return make_cast(t, x); });
    auto truth = [&](const std::function<Expr(const Expr&)>& f) {
      const NDArray got = map(input, Bool(), f);
      return std::vector<bool>(got.data<bool>(), got.data<bool>() + 8);
    };
    const Expr one = make_float(t, 1);
    EXPECT_EQ(truth([](const Expr& x) { return isnan(x); }),
              (std::vector<bool>{0, 0, 0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(truth([](const Expr& x) { return x == x; }),
              (std::vector<bool>{1, 1, 1, 1, 1, 1, 0, 1}));
    EXPECT_EQ(truth([](const Expr& x) { return x != x; }),
              (std::vector<bool>{0, 0, 0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(truth([&](const Expr& x) { return x < one; }),
              (std::vector<bool>{1, 1, 0, 1, 0, 1, 0, 0}));
    EXPECT_EQ(truth([&](const Expr& x) { return x >= one; }),
              (std::vector<bool>{0, 0, 1, 0, 1, 0, 0, 1}));
    if (t.bits == 16) continue;
    EXPECT_EQ(truth([](const Expr& x) { return isinf(x); }),
              (std::vector<bool>{0, 0, 0, 0, 1, 1, 0, 0}));
    EXPECT_EQ(truth([](const Expr& x) { return isfinite(x); }),
              (std::vector<bool>{1, 1, 1, 1, 0, 0, 0, 1}));
    EXPECT_EQ(truth([](const Expr& x) { return make_cast(Bool(), x); }),
              (std::vector<bool>{0, 0, 1, 1, 1, 1, 1, 1}));
  }
}

TEST(Float, casts_to_integers_truncate_and_saturate) {
  const std::vector<double> values{0.0, 0.9, -0.9, 1.5, -1.5, 100.7, -100.7, 127.99};
  for (DataType from : {Float(16), BFloat(16), Float(32), Float(64)})
    for (DataType to : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32)})
      for (int lanes : {1, 8}) {
        const NDArray input =
            map(array_of(values), from, [&](const Expr& x) { return make_cast(from, x); });
        const NDArray got = map(
            input, Int(64),
            [&](const Expr& x) {
              return make_cast(Int(64, lanes), make_cast(to.with_lanes(lanes), x));
            },
            lanes);
        const NDArray exact =
            map(input, Float(64), [](const Expr& x) { return make_cast(Float(64), x); });
        for (int n = 0; n < 8; ++n)
          EXPECT_EQ(got.data<std::int64_t>()[n],
                    std::clamp(static_cast<std::int64_t>(exact.data<double>()[n]), integer_min(to),
                               *integer_max(to)))
              << from.str() << " to " << to.str() << ": " << values[static_cast<std::size_t>(n)];
      }
}

TEST(Float, casts_to_uint64_reach_its_whole_range) {
  const std::vector<double> values{
      0, 1.9, 0x1p62, 0x1p63, 0x1p63 + 4096, 0x1.8p63, 18446744073709549568.0, 5};
  for (int lanes : {1, 8}) {
    const NDArray got = map(
        array_of(values), UInt(64), [&](const Expr& x) { return make_cast(UInt(64, lanes), x); },
        lanes);
    for (int n = 0; n < 8; ++n)
      EXPECT_EQ(got.data<std::uint64_t>()[n],
                static_cast<std::uint64_t>(values[static_cast<std::size_t>(n)]));
  }
}

TEST(Float, a_cast_out_of_range_gives_one_number) {
  const std::vector<float> values{1e30f, -1e30f, NAN, INFINITY};
  // Whatever the number, it equals itself.
  const NDArray got = map(array_of(values), Bool(), [](const Expr& x) {
    const Var n("n", Int(32));
    return make_let(n, make_cast(Int(32), x), n == n);
  });
  for (int n = 0; n < 4; ++n) EXPECT_TRUE(got.data<bool>()[n]);
}

TEST(Float, division_by_a_constant_stays_a_division) {
  const NDArray input = NDArray::random({4096}, Float(32));
  const NDArray got =
      map(input, Float(32), [](const Expr& x) { return x / make_float(Float(32), 3); });
  for (int n = 0; n < 4096; ++n) ASSERT_EQ(got.data<float>()[n], input.data<float>()[n] / 3.0f);
}

/// A[i] / D[lane], whose divisors are read in the loop, which does not change them.
NDArray quotients(const NDArray& input, float divisor, bool allows_reciprocals, int lanes,
                  const TargetFacts& target, ForKind kind = ForKind::Serial) {
  const Expr count = make_int(Int(32), input.num_elements());
  Kernel k;
  const Buffer a = k.array({count}, Float(32)), d = k.array({lanes}, Float(32)),
               c = k.array({count}, Float(32));
  IRBuilder ib;
  if (allows_reciprocals) ib.scope_attr("allow_reciprocals", 1);
  ib.for_range(0, floordiv(count, lanes), "i",
               [&](Var i) {
                 const Expr first = make_int(Int(32), 0);
                 const Expr at = lanes == 1 ? Expr(i) : make_ramp(i * lanes, 1, lanes);
                 const Expr lane = lanes == 1 ? first : make_ramp(first, 1, lanes);
                 ib.emit(make_store(c, make_load(a, {at}) / make_load(d, {lane}), {at}));
               },
               {.kind = kind});
  const NDArray output = NDArray::zeros(input.shape(), Float(32));
  k.compile(ib.get(), target)(input, NDArray::full({lanes}, Float(32), divisor), output);
  return output;
}

TEST(Float, divisions_are_products_with_the_reciprocal_where_a_pragma_allows_it) {
  const float divisor = 3;
  const NDArray input = NDArray::random({4096}, Float(32));
  for (const TargetFacts& target : {host_target(), plain_target()})
    for (int lanes : {1, 8}) {
      const NDArray exact = quotients(input, divisor, false, lanes, target);
      const NDArray product = quotients(input, divisor, true, lanes, target);
      for (int n = 0; n < 4096; ++n) {
        const float x = input.data<float>()[n], y = product.data<float>()[n];
        ASSERT_EQ(exact.data<float>()[n], x / divisor) << x;
        ASSERT_EQ(y, x * (1 / divisor)) << x;
        ASSERT_LE(error_of(y, static_cast<double>(x) / divisor), 2) << x;
      }
    }
}

// The body of a parallel loop is a function of its own.
TEST(Float, divisions_in_parallel_loops_are_products_where_a_pragma_around_them_allows_it) {
  const float divisor = 3;
  const NDArray input = NDArray::random({4096}, Float(32));
  const NDArray product = quotients(input, divisor, true, 8, host_target(), ForKind::Parallel);
  for (int n = 0; n < 4096; ++n)
    ASSERT_EQ(product.data<float>()[n], input.data<float>()[n] * (1 / divisor)) << n;
}

TEST(Float, minimum_and_maximum_are_those_of_the_interpreter) {
  const std::vector<float> values{0.0f, 0.5f, 1.5f, -1.5f, INFINITY, -INFINITY, NAN, 3e38f};
  for (int lanes : {1, 8})
    for (BinaryOp op : {BinaryOp::Min, BinaryOp::Max}) {
      Kernel k;
      const Buffer a = k.array({8}, Float(32)), c = k.array({64}, Float(32));
      IRBuilder ib;
      for (int n = 0; n < 8; ++n)
        ib.for_range(0, 8 / lanes, "i", [&](Var i) {
          const Expr other = make_load(a, {n});
          const Expr x = make_load(a, {lanes == 1 ? Expr(i) : make_ramp(i * lanes, 1, lanes)});
          const Expr y = lanes == 1 ? other : make_broadcast(other, lanes);
          ib.emit(
              make_store(c, make_binary(op, x, y),
                         {lanes == 1 ? Expr(i + n * 8) : make_ramp(i * lanes + n * 8, 1, lanes)}));
        });
      expect_as_interpreted(k.module(ib.get()),
                            {array_of(values), NDArray::zeros({64}, Float(32))});
    }
}

// ---- mathematics ----

struct Case {
  const char* name;
  Expr (*build)(const Operand&);
  double (*truth)(double);
};
const std::vector<Case> kFunctions{{"exp", exp, std::exp},
                                   {"exp2", exp2, std::exp2},
                                   {"exp10", exp10, [](double x) { return std::pow(10, x); }},
                                   {"log", log, std::log},
                                   {"log2", log2, std::log2},
                                   {"log10", log10, std::log10},
                                   {"log1p", log1p, std::log1p},
                                   {"sqrt", sqrt, std::sqrt},
                                   {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }},
                                   {"sin", sin, std::sin},
                                   {"cos", cos, std::cos},
                                   {"tan", tan, std::tan},
                                   {"sinh", sinh, std::sinh},
                                   {"cosh", cosh, std::cosh},
                                   {"tanh", tanh, std::tanh},
                                   {"asin", asin, std::asin},
                                   {"acos", acos, std::acos},
                                   {"atan", atan, std::atan},
                                   {"asinh", asinh, std::asinh},
                                   {"atanh", atanh, std::atanh},
                                   {"erf", erf, std::erf},
                                   {"floor", floor, std::floor},
                                   {"ceil", ceil, std::ceil},
                                   {"round", round, std::nearbyint},
                                   {"trunc", trunc, std::trunc},
                                   {"nearbyint", nearbyint, std::nearbyint},
                                   {"abs", abs, [](double x) { return std::fabs(x); }}};

class EveryFunction : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Functions, EveryFunction, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EveryFunction, is_that_of_the_c_library) {
  const NDArray values = NDArray::random({64}, Float(64));
  for (DataType t : {Float(16), BFloat(16), Float(32), Float(64)})
    for (int lanes : {1, 8}) {
      const NDArray input = map(values, t, [&](const Expr& x) { return make_cast(t, x); });
      const NDArray exact =
          map(input, Float(64), [](const Expr& x) { return make_cast(Float(64), x); });
      const NDArray got = map(
          input, Float(64),
          [&](const Expr& x) { return make_cast(Float(64, lanes), GetParam().build(x)); }, lanes);
      const double tolerance = t.is_bfloat()  ? 8e-3
                               : t.bits == 16 ? 1e-3
                               : t.bits == 32 ? 1e-6
                                              : 1e-14;
      for (int n = 0; n < 64; ++n) {
        const double wanted = GetParam().truth(exact.data<double>()[n]);
        // Infinities have no difference: what is nearly 1 is 1 as a float16, and atanh(1) is one.
        if (got.data<double>()[n] == wanted) continue;
        EXPECT_NEAR(got.data<double>()[n], wanted, tolerance * (1 + std::fabs(wanted)))
            << t.str() << " x " << lanes;
      }
    }
}

TEST(Mathematics, functions_of_several_arguments) {
  const NDArray input = NDArray::random({64}, Float(32));
  auto expect = [&](const std::function<Expr(const Expr&)>& f, float (*truth)(float)) {
    const NDArray got = map(input, Float(32), f);
    for (int n = 0; n < 64; ++n)
      EXPECT_NEAR(got.data<float>()[n], truth(input.data<float>()[n]), 2e-6);
  };
  expect([](const Expr& x) { return pow(x, x + 1.0f); },
         [](float x) { return std::pow(x, x + 1); });
  expect([](const Expr& x) { return atan2(x, x + 1.0f); },
         [](float x) { return std::atan2(x, x + 1); });
  expect([](const Expr& x) { return fmod(x, make_float(Float(32), 0.3)); },
         [](float x) { return std::fmod(x, 0.3f); });
  expect([](const Expr& x) { return hypot(x, x + 1.0f); },
         [](float x) { return std::hypot(x, x + 1); });
  expect([](const Expr& x) { return copysign(x, x - 0.5f); },
         [](float x) { return std::copysign(x, x - 0.5f); });
  expect([](const Expr& x) { return fma(x, x, x); }, [](float x) { return std::fma(x, x, x); });
  expect([](const Expr& x) { return nextafter(x, x + 1.0f); },
         [](float x) { return std::nextafter(x, x + 1); });
  expect([](const Expr& x) { return ldexp(x, make_int(Int(32), 3)); },
         [](float x) { return std::ldexp(x, 3); });
}

TEST(Mathematics, AnFmaWithOneRoundsAProductBeforeItsSum) {
  const NDArray input = NDArray::random({64}, Float(32));
  const NDArray got = map(input, Float(32), [](const Expr& x) {
    const Expr one = make_float(Float(32), 1);
    return fma(one, one, x * x);
  });
  for (int n = 0; n < 64; ++n) {
    const volatile float square = input.data<float>()[n] * input.data<float>()[n];
    EXPECT_EQ(got.data<float>()[n], 1.0f + square);
  }
}

TEST(Mathematics, reinterpret_keeps_the_bits) {
  const NDArray got = map(array_of(std::vector<float>{1.0f, -2.0f}), UInt(32),
                          [](const Expr& x) { return reinterpret(UInt(32), x); });
  EXPECT_EQ(got.data<std::uint32_t>()[0], 0x3f800000u);
  EXPECT_EQ(got.data<std::uint32_t>()[1], 0xc0000000u);
}

}  // namespace
}  // namespace tenon::codegen
