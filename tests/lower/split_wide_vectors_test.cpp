#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using test::unchanged;
using test::with_vectors;

std::string split(std::string_view body, int bits = 128) {
  return test::run(split_wide_vectors, test::function_text(body), with_vectors(bits));
}

TEST(SplitWideVectors, PartsOfFourRegistersAndWhatIsLeft) {
  EXPECT_EQ(split(R"(
  B[ramp(0, 1, 103)] = (A[ramp(5, 2, 103)]*broadcast(2f32, 103))
  )"),
            R"(for (part: int32, 0, 6) {
  B[ramp((part*16), 1, 16)] = (A[ramp((5 + ((part*16)*2)), 2, 16)]*broadcast(2f32, 16))
}
B[ramp(96, 1, 4)] = (A[ramp(197, 2, 4)]*broadcast(2f32, 4))
B[ramp(100, 1, 2)] = (A[ramp(205, 2, 2)]*broadcast(2f32, 2))
B[102] = (A[209]*2f32)
)");
}

TEST(SplitWideVectors, WithoutRegistersNoVectorIsTooWide) {
  const std::string_view body = R"(
  B[ramp(0, 1, 103)] = A[ramp(5, 2, 103)]
  )";
  EXPECT_EQ(split(body, 0), unchanged(body));
  EXPECT_EQ(test::run(split_wide_vectors, test::function_text(body), {}), unchanged(body));
}

TEST(SplitWideVectors, ATileOfSumsStaysOneVector) {
  const std::string_view body = R"(
  B[ramp(0, 1, 64)] = (B[ramp(0, 1, 64)] + A[ramp(0, 1, 64)])
  )";
  EXPECT_EQ(split(body, 128), unchanged(body)) << "sixteen registers";
  EXPECT_NE(split(body, 64), unchanged(body));
}

TEST(SplitWideVectors, WhatEarlierPartsWouldOverwriteIsReadBeforeThem) {
  const std::string text = split(R"(
  B[ramp(1, 1, 96)] = (B[ramp(0, 1, 96)] + A[ramp(0, 1, 96)])
  )");
  EXPECT_TRUE(text.starts_with("allocate(whole: Pointer(local float32), float32, [96])")) << text;
}

TEST(SplitWideVectors, ALetOfAWideVectorIsMemory) {
  const std::string text = split(R"(
  let x: float32x96 = A[ramp(0, 1, 96)]
  B[ramp(0, 1, 96)] = (x*x)
  )");
  EXPECT_TRUE(text.starts_with("allocate(whole: Pointer(local float32), float32, [96])")) << text;
  EXPECT_EQ(text.find("x96"), std::string::npos) << text;
}

TEST(SplitWideVectors, AMaskIsMemoryWhereALetOfItIsUsedInParts) {
  const std::string text = split(R"(
  let first: boolx96 = (A[ramp(0, 1, 96)] < broadcast(5f32, 96))
  let mask: boolx96 = (first || first)
  B[ramp(0, 1, 96)] = select(mask, broadcast(1f32, 96), broadcast(2f32, 96))
  )");
  EXPECT_EQ(text.find("x96"), std::string::npos) << text;
}

TEST(SplitWideVectors, ManyLoadsUnderChoicesMakeAVectorWide) {
  const auto with_choices = [](int count) {
    std::string value = "A[ramp(0, 1, 32)]";
    for (int n = 0; n < count; ++n)
      value = "(" + value + " + select((A[ramp(0, 1, 32)] < broadcast(5f32, 32)), A[ramp(" +
              std::to_string(n) + ", 1, 32)], broadcast(2f32, 32)))";
    return "\n  B[ramp(0, 1, 32)] = " + value + "\n  ";
  };
  EXPECT_EQ(split(with_choices(4)), unchanged(with_choices(4)));
  const std::string text = split(with_choices(5));
  EXPECT_TRUE(text.starts_with("for (part: int32, 0, 2) {\n  B[ramp((part*16), 1, 16)]")) << text;
}

TEST(SplitWideVectors, APartIsAsWideAsItsWidestComputationAllows) {
  const std::string text = split(R"(
  B[ramp(0, 1, 96)] = A[floordiv(ramp(0i64, 1i64, 96), broadcast(3i64, 96))]
  )");
  EXPECT_NE(text.find("B[ramp((part*8), 1, 8)] = "), std::string::npos) << text;
}

TEST(SplitWideVectors, WhatMayShareMemoryIsReadBeforeAnyPartIsStored) {
  tir::PrimFunc func = test::parse_function(test::function_text(R"(
  B[ramp(0, 1, 96)] = A[ramp(0, 1, 96)]
  )"));
  func.attrs.noalias = false;
  const tir::PrimFunc result = split_wide_vectors(func, with_vectors(128));
  EXPECT_TRUE(result.body.as<tir::Allocate>());
}

struct Arrays {
  std::vector<float> a = std::vector<float>(1024), b = std::vector<float>(1024);
  Arrays() {
    for (int n = 0; n < 1024; ++n) a[n] = static_cast<float>(n * 37 % 101), b[n] = a[n] - 50;
  }
};

TEST(SplitWideVectors, EveryKindOfValueStaysTheSame) {
  for (
      const char* body : {
          "B[ramp(9, 1, 99)] = B[ramp(0, 1, 99)]\n",
          "B[ramp(0, 1, 99)] = (B[ramp(0, 1, 99)] + A[floordiv(ramp(3, 1, 99), broadcast(4, 99))])\n",
          "B[floormod(ramp(0, 3, 99), broadcast(100, 99))] = A[ramp(0, 1, 99)]\n",
          "B[ramp(0, 2, 99)] = select((A[ramp(0, 1, 99)] < broadcast(30f32, 99)), "
          "cast(float32x99, ramp(0, 1, 99)), max(A[ramp(1, 1, 99)], broadcast(A[7], 99)))\n",
          "let x: float32x99 = A[ramp(0, 1, 99)]\nB[ramp(1, 1, 99)] = (x + B[ramp(0, 1, 99)])\n",
          "B[floormod(cast(int32x99, B[ramp(0, 1, 99)]), broadcast(99, 99))] = A[ramp(0, 1, 99)]\n",
          "B[ramp(0, 1, 99)] = let x: float32x99 = A[ramp(0, 1, 99)] in (x*x)\n",
          "B[ramp(98, -1, 99)] = @tir.exp(A[ramp(0, 1, 99)], dtype=float32x99)\n",
      }) {
    const tir::PrimFunc func = test::parse_function(test::function_text(body));
    for (int bits : {64, 128}) {
      const tir::PrimFunc result = split_wide_vectors(func, with_vectors(bits));
      EXPECT_FALSE(result.body.same_as(func.body)) << body;
      EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << body;
      Arrays expected, actual;
      tir::evaluate(
          func, std::vector<tir::HostValue>{tir::HostArray{expected.a.data(), Float(32), {1024}},
                                            tir::HostArray{expected.b.data(), Float(32), {1024}}});
      tir::evaluate(
          result, std::vector<tir::HostValue>{tir::HostArray{actual.a.data(), Float(32), {1024}},
                                              tir::HostArray{actual.b.data(), Float(32), {1024}}});
      EXPECT_EQ(expected.a, actual.a) << body;
      EXPECT_EQ(expected.b, actual.b) << body;
    }
  }
}

}  // namespace
}  // namespace tenon::lowering
