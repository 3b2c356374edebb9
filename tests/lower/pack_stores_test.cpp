#include "lower/passes.h"

#include <gtest/gtest.h>

#include <random>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using test::unchanged;
using test::with_vectors;

std::string packed(std::string_view body, int bits = 128) {
  return test::run(pack_stores, test::function_text(body), with_vectors(bits));
}

TEST(PackStores, NeighboursMadeByTheSameOperations) {
  EXPECT_EQ(packed(R"(
  for (i: int32, 0, 8) {
    B[(i*4)] = (A[(i*8)] + 1f32)
    B[((i*4) + 1)] = (A[((i*8) + 2)] + 1f32)
    B[((i*4) + 2)] = (A[((i*8) + 4)] + 1f32)
    B[((i*4) + 3)] = (A[((i*8) + 6)] + 1f32)
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*4), 1, 4)] = (A[ramp((i*8), 2, 4)] + broadcast(1f32, 4))
}
)");
}

TEST(PackStores, SumsOfTheirOwnElements) {
  EXPECT_EQ(packed(R"(
  B[4] = (B[4] + (A[0]*A[16]))
  B[5] = (B[5] + (A[0]*A[17]))
  B[6] = (B[6] + (A[0]*A[18]))
  B[7] = (B[7] + (A[0]*A[19]))
  )"),
            R"(B[ramp(4, 1, 4)] = (B[ramp(4, 1, 4)] + (broadcast(A[0], 4)*A[ramp(16, 1, 4)]))
)");
}

TEST(PackStores, NegationsArePacked) {
  std::string body;
  for (int n = 0; n < 4; ++n) {
    const std::string at = "[" + std::to_string(n) + "]";
    body += "B" + at + " = cast(float32, !(A" + at + " < 0f32))\n";
  }
  EXPECT_EQ(packed(body),
            "B[ramp(0, 1, 4)] = cast(float32x4, !(A[ramp(0, 1, 4)] < broadcast(0f32, 4)))\n");
}

/// A function of integers I and J.
tir::PrimFunc function_of_integers(const std::string& body) {
  return test::parse_function(
      "@main = primfn(I_1: handle, J_1: handle) -> ()\n"
      "  attr = {\"from_legacy_te_schedule\": True, \"global_symbol\": \"main\", \"tir.noalias\": True}\n"
      "  buffers = {I: Buffer(I_2: Pointer(int32), int32, [8], []),\n"
      "             J: Buffer(J_2: Pointer(int32), int32, [8], [])}\n"
      "  buffer_map = {I_1: I, J_1: J}\n"
      "  preflattened_buffer_map = {I_1: I_3: Buffer(I_2, int32, [8], []),"
      " J_1: J_3: Buffer(J_2, int32, [8], [])} {\n" +
      body + "}\n");
}

TEST(PackStores, LanesThatCountFromAnElementThatOneOfThemStoresStayApart) {
  const tir::PrimFunc func = function_of_integers(R"(
  J[0] = (I[0]*(J[0] + 1))
  J[1] = (I[1]*(J[0] + 2))
  J[2] = (I[2]*(J[0] + 3))
  J[3] = (I[3]*(J[0] + 4))
  )");
  EXPECT_TRUE(pack_stores(func, with_vectors(128)).body.same_as(func.body));
}

TEST(PackStores, ElementsThatAreReadUnderAConditionOfTheLaneStayApart) {
  const tir::PrimFunc func = function_of_integers(R"(
  J[0] = cast(int32, ((I[0] > 0) && (I[(I[0] + 4)] > 1)))
  J[1] = cast(int32, ((I[1] > 0) && (I[(I[0] + 5)] > 1)))
  J[2] = cast(int32, ((I[2] > 0) && (I[(I[0] + 6)] > 1)))
  J[3] = cast(int32, ((I[3] > 0) && (I[(I[0] + 7)] > 1)))
  )");
  EXPECT_TRUE(pack_stores(func, with_vectors(128)).body.same_as(func.body));
}

TEST(PackStores, TheSameElementBeforeAndAfterAStoreIsNotTheSameOperand) {
  const auto is_packed = [](const std::string& change) {
    const tir::PrimFunc func = function_of_integers("  let x: int32 = J[0] {\n" + change + R"(
  I[0] = (x + I[4])
  I[1] = (J[0] + I[5])
  I[2] = (J[0] + I[6])
  I[3] = (J[0] + I[7])
  })");
    return !pack_stores(func, with_vectors(128)).body.same_as(func.body);
  };
  EXPECT_TRUE(is_packed(""));
  EXPECT_FALSE(is_packed("  J[0] = 100\n"));
}

class StaysApart : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(StaysApart, Run) { EXPECT_EQ(packed(GetParam().second), unchanged(GetParam().second)); }

INSTANTIATE_TEST_SUITE_P(PackStores, StaysApart,
                         testing::Values(std::pair{"AStoreThatReadsWhatTheOneBeforeWrote", R"(
  B[1] = (B[0] + A[0])
  B[2] = (B[1] + A[1])
  B[3] = (B[2] + A[2])
  B[4] = (B[3] + A[3])
  )"},
                                         std::pair{"OtherOperations", R"(
  B[0] = (A[0] + 1f32)
  B[1] = (A[1] + 1f32)
  B[2] = (A[2]*1f32)
  B[3] = (A[3] + 1f32)
  )"},
                                         std::pair{"OtherNumbers", R"(
  B[0] = (A[0] + 1f32)
  B[1] = (A[1] + 2f32)
  B[2] = (A[2] + 3f32)
  B[3] = (A[3] + 4f32)
  )"},
                                         std::pair{"OtherDistances", R"(
  B[0] = A[0]
  B[1] = A[1]
  B[2] = A[3]
  B[3] = A[4]
  )"},
                                         std::pair{"Three", R"(
  B[0] = A[0]
  B[1] = A[1]
  B[2] = A[2]
  )"}),
                         [](const auto& info) { return std::string(info.param.first); });

/// Runs of stores of which some can be packed, and others nearly.
std::string random_run(std::mt19937& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const int a = pick(0, 40), b = pick(0, 40), c = pick(0, 40), step = pick(0, 2), form = pick(0, 4),
            odd = pick(0, 12);
  std::string text;
  for (int n = 0; n < 9; ++n) {
    const auto at = [](const char* name, int index) {
      return std::string(name) + "[" + std::to_string(index) + "]";
    };
    std::string value = at("A", a + n * step);
    if (form == 1) value = "(" + at("B", b + n) + " + " + value + ")";
    if (form == 2)
      value = "max(" + at("B", c + n * step) + ", cast(float32, " + std::to_string(n * step) + "))";
    if (form == 3) value = "select((" + value + " < 3f32), " + at("B", a + n) + ", 2f32)";
    if (form == 4) value = "(" + at("B", c) + " + " + value + ")";
    if (n == odd) value = "7f32";
    text += at("B", b + n) + " = " + value + "\n";
  }
  return text;
}

TEST(PackStores, RandomRunsComputeTheSame) {
  std::mt19937 random(1);
  int changed = 0;
  for (int run = 0; run < 1500; ++run) {
    const std::string body = random_run(random);
    const tir::PrimFunc func = test::parse_function(test::function_text(body));
    const tir::PrimFunc result = pack_stores(func, with_vectors(128 << run % 3));
    changed += !result.body.same_as(func.body);
    EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << body;
    std::vector<float> values[2][2];
    for (int way : {0, 1}) {
      for (std::vector<float>& array : values[way]) {
        array.resize(1024);
        for (int n = 0; n < 1024; ++n) array[n] = static_cast<float>(n * 37 % 11 + n);
      }
      tir::evaluate(
          way ? result : func,
          std::vector<tir::HostValue>{tir::HostArray{values[way][0].data(), Float(32), {1024}},
                                      tir::HostArray{values[way][1].data(), Float(32), {1024}}});
    }
    ASSERT_EQ(values[0][1], values[1][1]) << body << test::text_of(result);
  }
  EXPECT_GE(changed, 500);
}

}  // namespace
}  // namespace tenon::lowering
