#include "lower/passes/split_wide_vectors.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
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
