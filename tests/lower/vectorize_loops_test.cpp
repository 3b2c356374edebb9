#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"

namespace tenon::lowering {
namespace {

using test::function_text;
using test::normalized;
using test::run;

std::string vectorized(std::string_view body, const PassOptions& options = {}) {
  return run(vectorize_loops, function_text(body), options);
}

tir::PrimFunc vectorize_and_simplify(const tir::PrimFunc& func, const PassOptions& options) {
  return simplify(vectorize_loops(func, options), options);
}

TEST(VectorizeLoops, IndicesBecomeRamps) {
  EXPECT_EQ(vectorized(R"(
  for (o: int32, 0, 4) {
    for (i: int32, 0, 8) "vectorized" {
      B[((o*8) + i)] = ((A[(i*2)] + A[o])*2f32)
    }
  }
)"),
            normalized(R"(
for (o: int32, 0, 4) {
  B[ramp((o*8), 1, 8)] = ((A[ramp(0, 2, 8)] + broadcast(A[o], 8))*broadcast(2f32, 8))
}
)"));
}

TEST(VectorizeLoops, DescendingIndicesHaveNegativeStrides) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 16) "vectorized" {
    B[i] = A[(15 - i)]
  }
)"),
            normalized("B[ramp(0, 1, 16)] = A[ramp(15, -1, 16)]\n"));
}

TEST(VectorizeLoops, ASymbolicStrideIsFoundBySimplification) {
  EXPECT_EQ(run(vectorize_and_simplify,
                R"(
@main = primfn(A_1: handle, B_1: handle) -> ()
  attr = {"from_legacy_te_schedule": True, "global_symbol": "main", "tir.noalias": True}
  buffers = {A: Buffer(A_2: Pointer(float32), float32, [(stride: int32*64)], [], type="auto"),
             B: Buffer(B_2: Pointer(float32), float32, [64], [])}
  buffer_map = {A_1: A, B_1: B}
)"
                "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [64], [stride], "
                "type=\"auto\"), B_1: B_3: Buffer(B_2, float32, [64], [])} {\n"
                R"(
  for (o: int32, 0, 16) {
    for (i: int32, 0, 4) "vectorized" {
      B[((o*4) + i)] = A[(((o*4) + i)*stride)]
    }
  }
}
)"),
            normalized(R"(
for (o: int32, 0, 16) {
  B[ramp((o*4), 1, 4)] = A[ramp(((o*4)*stride), stride, 4)]
}
)"));
}

// The TVM 0.9 text "vec sel" of the probes.
TEST(VectorizeLoops, SelectsCastsAndMathsWorkByLanes) {
  EXPECT_EQ(
      vectorized(R"(
  for (i: int32, 0, 16) "vectorized" {
    B[i] = select((i < 8), cast(float32, cast(int8, A[i])), @tir.exp(A[i], dtype=float32))
  }
)"),
      normalized(
          "B[ramp(0, 1, 16)] = select((ramp(0, 1, 16) < broadcast(8, 16)), cast(float32x16, cast(int8x16, "
          "A[ramp(0, 1, 16)])), @tir.exp(A[ramp(0, 1, 16)], dtype=float32x16))\n"));
}

// The TVM 0.9 text "vec ite" of the probes.
TEST(VectorizeLoops, AChoiceOfOneSideIsSerialInText) {
  EXPECT_EQ(test::run(vectorize_loops_as_text, function_text(R"(
  for (i: int32, 0, 16) "vectorized" {
    B[i] = @tir.if_then_else((i < 8), A[i], 0f32, dtype=float32)
  }
)")),
            normalized(R"(
for (i.s: int32, 0, 16) {
  B[i.s] = @tir.if_then_else((i.s < 8), A[i.s], 0f32, dtype=float32)
}
)"));
}

TEST(VectorizeLoops, AChoiceOfOneSideIsASelectByLanes) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 16) "vectorized" {
    B[i] = @tir.if_then_else((i < 8), A[i], 0f32, dtype=float32)
  }
)"),
            normalized(R"(
B[ramp(0, 1, 16)] = select((ramp(0, 1, 16) < broadcast(8, 16)), A[ramp(0, 1, 16)], broadcast(0f32, 16))
)"));
}

TEST(VectorizeLoops, AConditionOfTheLaneMakesItsStatementSerialAndNoMore) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    B[i] = 0f32
    for (k: int32, 0, 4) {
      if (i < 5) {
        B[i] = (B[i] + A[((k*8) + i)])
      }
    }
  }
)"),
            normalized(R"(
B[ramp(0, 1, 8)] = broadcast(0f32, 8)
for (k: int32, 0, 4) {
  for (i.s: int32, 0, 8) {
    if (i.s < 5) {
      B[i.s] = (B[i.s] + A[((k*8) + i.s)])
    }
  }
}
)"));
}

TEST(VectorizeLoops, AConditionOfTheWholeStays) {
  EXPECT_EQ(vectorized(R"(
  for (o: int32, 0, 8) {
    for (i: int32, 0, 8) "vectorized" {
      if (o < 5) {
        B[((o*8) + i)] = A[i]
      } else {
        B[((o*8) + i)] = 1f32
      }
    }
  }
)"),
            normalized(R"(
for (o: int32, 0, 8) {
  if (o < 5) {
    B[ramp((o*8), 1, 8)] = A[ramp(0, 1, 8)]
  } else {
    B[ramp((o*8), 1, 8)] = broadcast(1f32, 8)
  }
}
)"));
}

TEST(VectorizeLoops, EveryLaneHasMemoryOfItsOwn) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    allocate(T: Pointer(global float32), float32, [2]), storage_scope = global {
      for (k: int32, 0, 2) {
        T_1: Buffer(T, float32, [2], [])[k] = A[((i*2) + k)]
      }
      B[i] = (T_1[0] + T_1[1])
    }
  }
)"),
            normalized(R"(
allocate(T: Pointer(global float32), float32, [16]), storage_scope = global {
  for (k: int32, 0, 2) {
    T_1: Buffer(T, float32, [16], [])[ramp((k*8), 1, 8)] = A[ramp(k, 2, 8)]
  }
  B[ramp(0, 1, 8)] = (T_1[ramp(0, 1, 8)] + T_1[ramp(8, 1, 8)])
}
)"));
}

// A known fault: a let around a statement that is done serially.
TEST(VectorizeLoops, ALetAroundASerialStatementBecomesSerial) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    let x: float32 = A[i]
    if (i < 5) {
      B[i] = x
    }
  }
)"),
            normalized(R"(
for (i.s: int32, 0, 8) {
  let x: float32 = A[i.s]
  if (i.s < 5) {
    B[i.s] = x
  }
}
)"));
}

TEST(VectorizeLoops, ALetOfLanesIsAVector) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    let x: float32 = A[i]
    B[i] = (x*x)
  }
)"),
            normalized(R"(
let x: float32x8 = A[ramp(0, 1, 8)]
B[ramp(0, 1, 8)] = (x*x)
)"));
}

// A known fault: eight iterations that add to one element are not one.
TEST(VectorizeLoops, AReductionIsSerial) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    B[0] = (B[0] + A[i])
    B[1] = (B[1] + 1f32)
  }
)"),
            normalized(R"(
for (i.s: int32, 0, 8) {
  B[0] = (B[0] + A[i.s])
}
for (i.s_1: int32, 0, 8) {
  B[1] = (B[1] + 1f32)
}
)"));
}

TEST(VectorizeLoops, CallsOfFunctionsAreSerial) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    B[i] = @tir.call_pure_extern("f", A[i], dtype=float32)
  }
)"),
            normalized(R"(
for (i.s: int32, 0, 8) {
  B[i.s] = @tir.call_pure_extern("f", A[i.s], dtype=float32)
}
)"));
}

TEST(VectorizeLoops, OfNestedOnesTheInnermostIsDoneByLanes) {
  EXPECT_EQ(vectorized(R"(
  for (o: int32, 0, 4) "vectorized" {
    for (i: int32, 0, 8) "vectorized" {
      B[((o*8) + i)] = A[i]
    }
  }
)"),
            normalized(R"(
for (o: int32, 0, 4) {
  B[ramp((o*8), 1, 8)] = A[ramp(0, 1, 8)]
}
)"));
}

TEST(VectorizeLoops, AnExtentThatVariesIsSerial) {
  EXPECT_EQ(vectorized(R"(
  for (o: int32, 0, 4) {
    for (i: int32, 0, (o + 1)) "vectorized" {
      B[i] = A[i]
    }
  }
)"),
            normalized(R"(
for (o: int32, 0, 4) {
  for (i: int32, 0, (o + 1)) {
    B[i] = A[i]
  }
}
)"));
}

TEST(VectorizeLoops, ASymbolicExtentIsAMistakeThatNamesTheLoop) {
  const std::string text = R"(
@main = primfn(A_1: handle) -> ()
  attr = {"from_legacy_te_schedule": True, "global_symbol": "main", "tir.noalias": True}
  buffers = {A: Buffer(A_2: Pointer(float32), float32, [(stride: int32*n: int32)], [], type="auto")}
  buffer_map = {A_1: A}
  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [n], [stride], type="auto")} {
  for (i: int32, 0, n) "vectorized" {
    A[(i*stride)] = 1f32
  }
}
)";
  try {
    run(vectorize_loops, text);
    FAIL() << "no error";
  } catch (const LowerError& e) {
    EXPECT_NE(std::string(e.what()).find("`i`"), std::string::npos) << e.what();
  }
}

TEST(VectorizeLoops, DisabledLeavesSerialLoops) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    B[i] = A[i]
  }
)",
                       {.disable_vectorize = true}),
            normalized(R"(
for (i: int32, 0, 8) {
  B[i] = A[i]
}
)"));
}

// Indices past int32 must not turn a contiguous access into a gather.
TEST(VectorizeLoops, AWidenedIndexIsStillARamp) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    B[cast(int64, i)] = A[cast(int64, (i + 8))]
  }
)"),
            normalized("B[ramp(0i64, 1i64, 8)] = A[ramp(8i64, 1i64, 8)]\n"));
}

/// The contents of B after the function ran; A is 0, 1, 2, ...
std::vector<float> result_of(const tir::PrimFunc& func) {
  std::vector<float> a(1024), b(1024, -1.0f);
  for (std::size_t n = 0; n < a.size(); ++n) a[n] = static_cast<float>(n);
  const std::vector<tir::HostValue> args = {tir::HostArray{a.data(), Float(32), {1024}},
                                            tir::HostArray{b.data(), Float(32), {1024}}};
  tir::evaluate(func, args);
  return b;
}

// Modulo that wraps within the lanes, guards, stores that scatter, loops that do not begin at 0,
// lets, a while.
TEST(VectorizeLoops, LanesComputeWhatIterationsCompute) {
  for (
      const char* body : {
          "B[((o*8) + i)] = A[floormod(((o*50) + (i*8)), 20)]",
          "B[((o*8) + i)] = A[floordiv(((o*8) + i), 3)]",
          "B[((o*8) + i)] = cast(float32, floormod(((o*10) + i), 4))",
          "B[(63 - ((o*8) + i))] = A[((i*i) + o)]",
          "if (((o*8) + i) < 61) {\n B[((o*8) + i)] = A[i]\n}",
          "if (o < 3) {\n B[((o*8) + i)] = A[i]\n} else {\n B[((o*8) + i)] = 2f32\n}",
          "let x: float32 = A[((o*8) + i)]\n if (x < 9f32) {\n B[((o*8) + i)] = x\n}",
          "let k: int32 = floormod((i*3), 8)\n B[((o*8) + k)] = cast(float32, k)",
          "B[((o*8) + i)] = 0f32\n for (k: int32, 0, 4) {\n B[((o*8) + i)] = (B[((o*8) + i)] + A[(k*i)])\n}",
          "for (k: int32, 0, i) {\n B[((o*8) + k)] = A[i]\n}",
          "B[((o*8) + i)] = max(min(A[i], 5f32), select((i < 3), 4f32, A[o]))",
          "B[((o*8) + i)] = 0f32\n while ((B[((o*8) + i)] < A[i])) {\n"
          " B[((o*8) + i)] = (B[((o*8) + i)] + 2f32)\n}",
      }) {
    for (const char* range : {"0, 8", "2, 8"}) {
      const std::string text =
          function_text("  for (o: int32, 0, 8) {\n for (i: int32, " + std::string(range) +
                        ") \"vectorized\" {\n" + body + "\n }\n }\n");
      const tir::PrimFunc func = test::parse_function(text);
      const tir::PrimFunc lanes = vectorize_and_simplify(func, {});
      EXPECT_EQ(result_of(lanes), result_of(vectorize_loops(func, {.disable_vectorize = true})))
          << test::body_text(lanes);
    }
  }
}

TEST(VectorizeLoops, KnownTextsHaveNothingLeftToVectorize) {
  for (const test::KnownText& known : test::known_functions())
    EXPECT_EQ(test::text_of(vectorize_loops(test::parse_function(known.text), {})), known.text)
        << known.name;
}

}  // namespace
}  // namespace tenon::lowering
