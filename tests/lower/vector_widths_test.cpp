// Passes that change the width of vectors.
#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

// ---- split_wide_vectors -------------------------------------------------------------------------

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

/// The condition reads what the stores change.
TEST(SplitWideVectors, AStoreUnderLanesOfAConditionIsSplitWithIt) {
  EXPECT_EQ(split(R"(
  if (A[ramp(0, 1, 96)] < B[ramp(0, 1, 96)]) {
    B[ramp(0, 1, 96)] = broadcast(1f32, 96)
  }
  )"),
            R"(allocate(whole: Pointer(local int8), bool, [96]), storage_scope = local {
  for (part: int32, 0, 6) {
    whole_1: Buffer(whole, bool, [96], [], scope="local")[ramp((part*16), 1, 16)] = (A[ramp((part*16), 1, 16)] < B[ramp((part*16), 1, 16)])
  }
  for (part_1: int32, 0, 6) {
    if whole_1[ramp((part_1*16), 1, 16)] {
      B[ramp((part_1*16), 1, 16)] = broadcast(1f32, 16)
    }
  }
}
)");
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

// ---- widen_vectors ------------------------------------------------------------------------------

std::string widened(std::string_view body, int bits = 512) {
  return test::run(widen_vectors, test::function_text(body), with_vectors(bits));
}

TEST(WidenVectors, NeighboursThatContinueEachOtherBecomeOneVector) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 4) {
    B[ramp((j*8), 1, 8)] = (A[ramp((j*8), 1, 8)]*broadcast(2f32, 8))
  })"),
            R"(for (j: int32, 0, 2) {
  B[ramp(((j*2)*8), 1, 16)] = (A[ramp(((j*2)*8), 1, 16)]*broadcast(2f32, 16))
}
)");
}

/// Two vectors of 8 in memory of the loop's own: the vectors of neighbouring iterations follow each
/// other there as well.
TEST(WidenVectors, MemoryOfTheLoopsOwnGrows) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 4) {
    allocate(Y: Pointer(global float32), float32, [16]), storage_scope = global {
      Y_1: Buffer(Y, float32, [16], [])[ramp(0, 1, 8)] = A[ramp((j*8), 1, 8)]
      Y_1[ramp(8, 1, 8)] = A[ramp(((j*8) + 64), 1, 8)]
      B[ramp((j*8), 1, 8)] = (Y_1[ramp(0, 1, 8)]*Y_1[ramp(8, 1, 8)])
    }
  })"),
            R"(for (j: int32, 0, 2) {
  allocate(Y: Pointer(global float32), float32, [32]), storage_scope = global {
    Y_1: Buffer(Y, float32, [32], [])[ramp(0, 1, 16)] = A[ramp(((j*2)*8), 1, 16)]
    Y_1[ramp(16, 1, 16)] = A[ramp((((j*2)*8) + 64), 1, 16)]
    B[ramp(((j*2)*8), 1, 16)] = (Y_1[ramp(0, 1, 16)]*Y_1[ramp(16, 1, 16)])
  }
}
)");
}

/// An element of an iteration's own memory is another one in each iteration.
TEST(WidenVectors, AnElementOfItsOwnMemoryIsNoBroadcast) {
  const char* const body = R"(
  for (j: int32, 0, 4) {
    allocate(Y: Pointer(global float32), float32, [8]), storage_scope = global {
      Y_1: Buffer(Y, float32, [8], [])[ramp(0, 1, 8)] = A[ramp((j*8), 1, 8)]
      B[ramp((j*8), 1, 8)] = broadcast(Y_1[0], 8)
    }
  })";
  EXPECT_EQ(widened(body), unchanged(body));
}

TEST(WidenVectors, WhatAllIterationsReadIsBroadcast) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 2) {
    for (k: int32, 0, 3) {
      B[ramp((j*8), 1, 8)] = (B[ramp((j*8), 1, 8)] + broadcast(A[k], 8))
    }
  })"),
            R"(for (j: int32, 0, 1) {
  for (k: int32, 0, 3) {
    B[ramp(((j*2)*8), 1, 16)] = (B[ramp(((j*2)*8), 1, 16)] + broadcast(A[k], 16))
  }
}
)");
}

TEST(WidenVectors, NoVectorIsWiderThanARegister) {
  const std::string_view body = R"(
  for (j: int32, 0, 4) {
    B[ramp((j*8), 1, 8)] = A[ramp((j*8), 1, 8)]
  })";
  EXPECT_EQ(widened(body, 256), unchanged(body));
  EXPECT_NE(widened(body, 511), widened(body, 512));
}

TEST(WidenVectors, ALetFollowsTheFirstOfTheIterations) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 4) {
    let cse_var_1: int32 = (j*8)
    B[ramp(cse_var_1, 1, 8)] = A[ramp((cse_var_1 + 64), 1, 8)]
  })"),
            R"(for (j: int32, 0, 2) {
  let cse_var_1: int32 = ((j*2)*8)
  B[ramp(cse_var_1, 1, 16)] = A[ramp((cse_var_1 + 64), 1, 16)]
}
)");
}

TEST(WidenVectors, ALetOfABroadcastIsAScalarForVectorsOfAnyWidth) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 4) {
    let x: float32x8 = broadcast(A[100], 8)
    B[ramp((j*8), 1, 8)] = (A[ramp((j*8), 1, 8)]*(x + x))
  })"),
            R"(for (j: int32, 0, 2) {
  let x: float32 = A[100]
  B[ramp(((j*2)*8), 1, 16)] = (A[ramp(((j*2)*8), 1, 16)]*broadcast((x + x), 16))
}
)");
}

class KeepsItsWidth : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(KeepsItsWidth, Loop) { EXPECT_EQ(widened(GetParam().second), unchanged(GetParam().second)); }

INSTANTIATE_TEST_SUITE_P(WidenVectors, KeepsItsWidth,
                         testing::Values(std::pair{"RowsApart", R"(
  for (j: int32, 0, 4) {
    B[ramp((j*64), 1, 8)] = A[ramp((j*8), 1, 8)]
  })"},
                                         std::pair{"AScalarOfEachIteration", R"(
  for (j: int32, 0, 4) {
    B[ramp((j*8), 1, 8)] = broadcast(A[j], 8)
  })"},
                                         std::pair{"AnIterationThatReadsWhatTheOneBeforeWrote", R"(
  for (j: int32, 0, 4) {
    B[ramp(((j*8) + 8), 1, 8)] = B[ramp((j*8), 1, 8)]
  })"},
                                         std::pair{"AnOddNumberOfIterations", R"(
  for (j: int32, 0, 3) {
    B[ramp((j*8), 1, 8)] = A[ramp((j*8), 1, 8)]
  })"},
                                         std::pair{"IterationsOfSeveralThreads", R"(
  for (j: int32, 0, 4) "parallel" {
    B[ramp((j*8), 1, 8)] = A[ramp((j*8), 1, 8)]
  })"}),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(WidenVectors, KnownProgramsStayWellFormed) {
  int changed = 0;
  for (const test::KnownText& known : test::known_functions()) {
    const tir::PrimFunc func = test::parse_function(known.text);
    const tir::PrimFunc result = widen_vectors(func, with_vectors(512));
    changed += !result.body.same_as(func.body);
    if (tir::verify(func, tir::Form::Lowered).empty()) {
      EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << known.name;
    }
  }
  EXPECT_GE(changed, 3) << "the vectorised, the parallel and the unrolled step of the ladder";
}

TEST(WidenVectors, CallsByLanesBecomeWider) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 4) {
    B[ramp((j*8), 1, 8)] = @tir.exp(@tir.tanh(A[ramp((j*8), 1, 8)], dtype=float32x8), dtype=float32x8)
  })"),
            R"(for (j: int32, 0, 2) {
  B[ramp(((j*2)*8), 1, 16)] = @tir.exp(@tir.tanh(A[ramp(((j*2)*8), 1, 16)], dtype=float32x16), dtype=float32x16)
}
)");
}

TEST(WidenVectors, AnOddIterationKeepsItsWidth) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 9) {
    B[ramp((j*8), 1, 8)] = A[ramp((j*8), 1, 8)]
  })"),
            R"(for (j: int32, 0, 4) {
  B[ramp(((j*2)*8), 1, 16)] = A[ramp(((j*2)*8), 1, 16)]
}
for (j_1: int32, 8, 9) {
  B[ramp((j_1*8), 1, 8)] = A[ramp((j_1*8), 1, 8)]
}
)");
}

TEST(WidenVectors, ChoicesBecomeWider) {
  EXPECT_EQ(widened(R"(
  for (j: int32, 0, 4) {
    B[ramp((j*8), 1, 8)] = @tir.if_then_else((A[ramp((j*8), 1, 8)] < broadcast(0f32, 8)), @tir.sqrt(A[ramp((j*8), 1, 8)], dtype=float32x8), broadcast(0f32, 8), dtype=float32x8)
  })"),
            R"(for (j: int32, 0, 2) {
  B[ramp(((j*2)*8), 1, 16)] = @tir.if_then_else((A[ramp(((j*2)*8), 1, 16)] < broadcast(0f32, 16)), @tir.sqrt(A[ramp(((j*2)*8), 1, 16)], dtype=float32x16), broadcast(0f32, 16), dtype=float32x16)
}
)");
}

// ---- interleave_lanes ---------------------------------------------------------------------------

std::string interleaved(std::string_view body) {
  return test::run(interleave_lanes, test::function_text(body), with_vectors(256));
}

TEST(InterleaveLanes, StoresThatFillEachOthersGapsBecomeOne) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 2, 4)] = A[ramp((i*4), 1, 4)]
    B[ramp(((i*8) + 1), 2, 4)] = A[ramp(((i*4) + 100), 1, 4)]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*8), 1, 8)] = shuffle([A[ramp((i*4), 1, 4)], A[ramp(((i*4) + 100), 1, 4)]], [0, 4, 1, 5, 2, 6, 3, 7])
}
)");
}

TEST(InterleaveLanes, StoresThatLeaveAGapStay) {
  const char* const body = R"(
  for (i: int32, 0, 8) {
    B[ramp((i*12), 3, 4)] = A[ramp((i*4), 1, 4)]
    B[ramp(((i*12) + 1), 3, 4)] = A[ramp(((i*4) + 100), 1, 4)]
  })";
  EXPECT_EQ(interleaved(body), unchanged(body));
}

TEST(InterleaveLanes, AStoreThatReadsWhatAnEarlierOneStoresStays) {
  const char* const body = R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 2, 4)] = A[ramp((i*4), 1, 4)]
    B[ramp(((i*8) + 1), 2, 4)] = B[ramp((i*8), 2, 4)]
  })";
  EXPECT_EQ(interleaved(body), unchanged(body));
}

TEST(InterleaveLanes, AGatherOfChannelsInTurnBecomesDenseLoads) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 1, 8)] = A[((floormod(ramp(0, 1, 8), broadcast(2, 8))*broadcast(100, 8)) + (floordiv(ramp(0, 1, 8), broadcast(2, 8)) + broadcast((i*4), 8)))]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*8), 1, 8)] = shuffle([A[ramp((i*4), 1, 4)], A[ramp(((i*4) + 100), 1, 4)]], [0, 4, 1, 5, 2, 6, 3, 7])
}
)");
}

TEST(InterleaveLanes, AGatherOfClampedNeighboursBecomesAVectorInAnotherOrder) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 1, 8)] = A[(max(ramp(-1, 1, 8), broadcast(0, 8)) + broadcast((i*64), 8))]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*8), 1, 8)] = shuffle([A[ramp((i*64), 1, 4)], A[ramp(((i*64) + 3), 1, 4)]], [0, 0, 1, 2, 3, 5, 6, 7])
}
)");
}

TEST(InterleaveLanes, AGatherOfSelectedNeighboursBecomesAVectorInAnotherOrder) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*4), 1, 4)] = A[(broadcast((i*9), 4) + select((ramp(0, 1, 4) < broadcast(1, 4)), ramp(1, -1, 4), ramp(-1, 1, 4)))]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*4), 1, 4)] = shuffle([A[ramp((i*9), 1, 2)], A[ramp(((i*9) + 1), 1, 2)]], [1, 0, 1, 3])
}
)");
}

TEST(InterleaveLanes, AGatherOfDistantElementsStays) {
  const char* const body = R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 1, 8)] = A[((max(ramp(-1, 1, 8), broadcast(0, 8))*broadcast(2, 8)) + broadcast((i*64), 8))]
  })";
  EXPECT_EQ(interleaved(body), unchanged(body));
}

}  // namespace
}  // namespace tenon::lowering
