#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using test::function_text;
using test::normalized;
using test::run;

tir::PrimFunc unroll_and_simplify(const tir::PrimFunc& func, const PassOptions& options) {
  return simplify(unroll_loops(func, options), options);
}

std::string unrolled(std::string_view body, const PassOptions& options = {}) {
  return run(unroll_and_simplify, function_text(body), options);
}

TEST(UnrollLoops, CopiesOfInnerLoopsHaveVariablesOfTheirOwn) {
  EXPECT_EQ(unrolled(R"(
  for (i: int32, 0, 3) "unroll" {
    for (j: int32, 0, 4) {
      B[((i*4) + j)] = A[j]
    }
  }
)"),
            normalized(R"(
for (j: int32, 0, 4) {
  B[j] = A[j]
}
for (j_1: int32, 0, 4) {
  B[(j_1 + 4)] = A[j_1]
}
for (j_2: int32, 0, 4) {
  B[(j_2 + 8)] = A[j_2]
}
)"));
}

TEST(UnrollLoops, CopiesBeginWhereTheLoopDoes) {
  EXPECT_EQ(unrolled(R"(
  for (i: int32, 3, 5) "unroll" {
    B[i] = A[i]
  }
)"),
            normalized(R"(
B[3] = A[3]
B[4] = A[4]
)"));
}

TEST(UnrollLoops, AllocationsOfTheCopiesAreDifferentMemory) {
  EXPECT_EQ(unrolled(R"(
  for (i: int32, 0, 2) "unroll" {
    allocate(T: Pointer(global float32), float32, [1]), storage_scope = global {
      T_1: Buffer(T, float32, [1], [])[0] = A[i]
      B[i] = T_1[0]
    }
  }
)"),
            normalized(R"(
allocate(T: Pointer(global float32), float32, [1]), storage_scope = global {
  T_1: Buffer(T, float32, [1], [])[0] = A[0]
  B[0] = T_1[0]
}
allocate(T_2: Pointer(global float32), float32, [1]), storage_scope = global {
  T_1_1: Buffer(T_2, float32, [1], [])[0] = A[1]
  B[1] = T_1_1[0]
}
)"));
}

TEST(UnrollLoops, SmallLoopsByThemselvesUpToTheStepsOfThePragma) {
  const std::string body = R"(
  attr [IterVar(o: int32, (nullptr), "DataPar", "")] "pragma_auto_unroll_max_step" = 8;
  for (o, 0, 16) {
    for (i: int32, 0, 4) {
      B[((o*4) + i)] = A[i]
      B[((o*4) + i)] = 1f32
    }
  }
)";
  EXPECT_EQ(unrolled(body), normalized(R"(
for (o: int32, 0, 16) {
  B[(o*4)] = A[0]
  B[(o*4)] = 1f32
  B[((o*4) + 1)] = A[1]
  B[((o*4) + 1)] = 1f32
  B[((o*4) + 2)] = A[2]
  B[((o*4) + 2)] = 1f32
  B[((o*4) + 3)] = A[3]
  B[((o*4) + 3)] = 1f32
}
)"));
}

TEST(UnrollLoops, OneStepMoreIsTooMuch) {
  EXPECT_EQ(unrolled(R"(
  attr [IterVar(o: int32, (nullptr), "DataPar", "")] "pragma_auto_unroll_max_step" = 7;
  for (i: int32, 0, 4) {
    B[i] = A[i]
    B[i] = 1f32
  }
)"),
            normalized(R"(
for (i: int32, 0, 4) {
  B[i] = A[i]
  B[i] = 1f32
}
)"));
}

TEST(UnrollLoops, ALoopAroundAnotherThatStaysStays) {
  EXPECT_EQ(unrolled(R"(
  for (i: int32, 0, 2) {
    for (j: int32, 0, 64) {
      B[((i*64) + j)] = A[j]
    }
  }
)",
                     {.unroll = {.auto_max_step = 16}}),
            normalized(R"(
for (i: int32, 0, 2) {
  for (j: int32, 0, 64) {
    B[((i*64) + j)] = A[j]
  }
}
)"));
}

// The TVM 0.9 text "pragma" of the probes.
TEST(UnrollLoops, NotExplicitOnlyMarks) {
  EXPECT_EQ(unrolled(R"(
  attr [IterVar(o: int32, (nullptr), "DataPar", "")] "pragma_auto_unroll_max_step" = 16;
  attr [IterVar(o, (nullptr), "DataPar", "")] "pragma_unroll_explicit" = False;
  for (o, 0, 10) {
    for (i: int32, 0, 10) {
      B[((o*10) + i)] = A[((o*10) + i)]
    }
  }
)"),
            normalized(R"(
for (o: int32, 0, 10) {
  for (i: int32, 0, 10) "unroll" {
    B[((o*10) + i)] = A[((o*10) + i)]
  }
}
)"));
}

TEST(UnrollLoops, TooManyCopiesAreAnErrorThatNamesTheLoop) {
  try {
    unrolled(R"(
  for (i: int32, 0, 512) "unroll" {
    for (j: int32, 0, 512) "unroll" {
      B[((i*512) + j)] = 0f32
    }
  }
)");
    FAIL() << "no error";
  } catch (const LowerError& e) {
    EXPECT_NE(std::string(e.what()).find("`i`"), std::string::npos) << e.what();
  }
}

TEST(UnrollLoops, NoIterationsAreNothing) {
  EXPECT_EQ(unrolled(R"(
  for (i: int32, 0, 0) "unroll" {
    B[i] = 0f32
  }
  B[0] = 1f32
)"),
            normalized("B[0] = 1f32\n"));
}

}  // namespace
}  // namespace tenon::lowering
