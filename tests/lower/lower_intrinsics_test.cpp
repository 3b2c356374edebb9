#include "lower/passes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {
namespace {

using namespace tir;

std::string lowered(std::string_view body) {
  return test::run(lower_intrinsics, test::function_text(body));
}

TEST(LowerIntrinsics, DivisionsOfWhatIsNotNegativeRoundTowardsZero) {
  EXPECT_EQ(lowered(R"(
  for (i: int32, 0, 64) {
    let x: int32 = (i*5)
    B[floordiv((x + 2), 6)] = A[floormod(i, 6)]
  })"),
            R"(for (i: int32, 0, 64) {
  let x: int32 = (i*5)
  B[((x + 2) / 6)] = A[(i % 6)]
}
)");
}

TEST(LowerIntrinsics, OtherDivisionsStay) {
  for (const char* statement :
       {"B[floordiv(i, 8)] = A[floormod(i, 8)]", "B[floordiv((i - 1), 6)] = 1f32",
        "B[floordiv(cast(int32, A[i]), 6)] = 1f32", "B[floordiv(64, (i - 3))] = 1f32"}) {
    const std::string body = std::string("for (i: int32, 0, 64) {\n  ") + statement + "\n}\n";
    EXPECT_EQ(lowered(body), body);
  }
}

TEST(LowerIntrinsics, AConditionProvesToo) {
  EXPECT_EQ(lowered(R"(
  for (i: int32, -4, 64) {
    if (1 <= i) {
      B[floordiv(i, 6)] = 1f32
    } else {
      B[floordiv(i, 6)] = 2f32
    }
  })"),
            R"(for (i: int32, -4, 64) {
  if (1 <= i) {
    B[(i / 6)] = 1f32
  } else {
    B[floordiv(i, 6)] = 2f32
  }
}
)");
}

Expr lowered_value(const Expr& e) {
  return lower_intrinsics({{}, {}, make_evaluate(e)}, {}).body.as<Evaluate>()->value;
}

TEST(LowerIntrinsics, SigmoidKeepsItsValue) {
  for (double x : {-100.0, -1.5, 0.0, 0.25, 3.0, 100.0}) {
    const Expr e = lowered_value(sigmoid(make_float(Float(32), x)));
    ASSERT_FALSE(as_call(e, Intrin::sigmoid));
    EXPECT_NEAR(std::get<double>(evaluate(e)), 1 / (1 + std::exp(-x)), 1e-6) << x;
  }
}

TEST(LowerIntrinsics, MultiplyShiftKeepsItsValue) {
  for (int x : {-2147483647, -1000, -3, 0, 1, 7, 123456789}) {
    for (int y : {1, 1 << 30, 1395864371}) {
      for (int s : {-20, -1, 0, 1}) {
        const Expr call = make_call(Int(32), Intrin::q_multiply_shift, {x, y, 31, s});
        const Expr e = lowered_value(call);
        ASSERT_FALSE(as_call(e, Intrin::q_multiply_shift));
        EXPECT_EQ(evaluate(e), evaluate(call)) << x << " " << y << " " << s;
      }
    }
  }
}

/// Four equal numbers.
Expr four(DataType t, int value) { return make_broadcast(make_int(t, value), 4); }

TEST(LowerIntrinsics, DotProductsOfFourKeepTheirValue) {
  for (const DataType t : {Int(8), UInt(8)}) {
    for (const int x : {0, 3, 127}) {
      for (const int sum : {0, -5, 2147483647}) {
        const Expr call = make_call(Int(32), Intrin::dp4a, {four(t, x), four(Int(8), -7), sum});
        EXPECT_EQ(std::get<std::int64_t>(evaluate(call)),
                  static_cast<std::int32_t>(static_cast<std::uint32_t>(sum - 28 * x)));
        const Expr e = lowered_value(call);
        ASSERT_FALSE(as_call(e, Intrin::dp4a));
        EXPECT_EQ(evaluate(e), evaluate(call)) << x << " " << sum;
      }
    }
  }
}

TEST(LowerIntrinsics, DotProductsThatTheTargetHasStay) {
  const Expr call = make_call(Int(32), Intrin::dp4a, {four(Int(8), 2), four(Int(8), 3), 1});
  const PrimFunc func = lower_intrinsics({{}, {}, make_evaluate(call)}, {.has_dp4a = true});
  EXPECT_TRUE(func.body.as<Evaluate>()->value.same_as(call));
}

/// A vector of constants.
Expr vector_of(DataType type, std::vector<int> values) {
  std::vector<Expr> picks, lanes;
  for (std::size_t n = 0; n < values.size(); ++n) {
    lanes.push_back(type.is_bfloat() ? make_float(type, values[n]) : make_int(type, values[n]));
    picks.push_back(static_cast<int>(n));
  }
  return make_shuffle(lanes, picks);
}

TEST(LowerIntrinsics, SumsOfProductsTakeNeighbours) {
  const Expr bytes = make_call(
      Int(32, 2), Intrin::dp4a,
      {vector_of(Int(8), {1, -2, 3, 4, 100, 0, 0, -100}),
       vector_of(UInt(8), {10, 20, 30, 40, 200, 1, 1, 100}), vector_of(Int(32), {5, -7})});
  const Expr halves =
      make_call(Float(32, 2), Intrin::dp4a,
                {vector_of(BFloat(16), {1, -2, 3, 4}), vector_of(BFloat(16), {10, 20, 30, 40}),
                 make_broadcast(make_float(Float(32), 0.5), 2)});
  // 10 - 40 + 90 + 160 + 5, 20000 - 10000 - 7; 10 - 40 + 0.5, 90 + 160 + 0.5.
  for (const Expr& e : {bytes, lowered_value(bytes)}) {
    EXPECT_EQ(std::get<std::int64_t>(evaluate(make_shuffle({e}, {0}))), 225);
    EXPECT_EQ(std::get<std::int64_t>(evaluate(make_shuffle({e}, {1}))), 9993);
  }
  for (const Expr& e : {halves, lowered_value(halves)}) {
    EXPECT_EQ(std::get<double>(evaluate(make_shuffle({e}, {0}))), -29.5);
    EXPECT_EQ(std::get<double>(evaluate(make_shuffle({e}, {1}))), 250.5);
  }
  EXPECT_FALSE(as_call(lowered_value(bytes), Intrin::dp4a));
  EXPECT_FALSE(as_call(lowered_value(halves), Intrin::dp4a));
}

}  // namespace
}  // namespace tenon::lowering
