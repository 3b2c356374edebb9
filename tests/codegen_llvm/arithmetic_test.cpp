#include <gtest/gtest.h>

#include "differential.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

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

}  // namespace
}  // namespace tenon::codegen
