#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using test::unchanged;
using test::with_vectors;

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

}  // namespace
}  // namespace tenon::lowering
