#include "lower/passes.h"

#include <gtest/gtest.h>

#include "lower/loops/lanes.h"
#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {
namespace {

// ---- vectorize_loops ----------------------------------------------------------------------------

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

TEST(VectorizeLoops, ALoopWhoseMemoryIsUsedByAddressBecomesSerial) {
  for (const std::string address : {"T", "@tir.address_of(T_1[0], dtype=handle)"}) {
    const std::string text = vectorized(R"(
  for (i: int32, 0, 8) "vectorized" {
    allocate(T: Pointer(global float32), float32, [2]), storage_scope = global {
      T_1: Buffer(T, float32, [2], [])[0] = A[i]
      T_1[1] = A[i]
      @tir.call_extern("f", )" + address +
                                        R"(, dtype=int32)
    }
  }
)");
    EXPECT_TRUE(
        text.starts_with("for (i.s: int32, 0, 8) {\n"
                         "  allocate(T: Pointer(global float32), float32, [2])"))
        << text;
  }
}

TEST(VectorizeLoops, MemoryOfLanesKeepsTheTypeOfItsIndices) {
  EXPECT_EQ(vectorized(R"(
  for (i: int64, 0i64, 8i64) "vectorized" {
    allocate(T: Pointer(global float32), float32, [2]), storage_scope = global {
      T_1: Buffer(T, float32, [2], [])[ramp(0, 1, 2)] = A[ramp(0, 1, 2)]
      B[ramp((i*2i64), 1i64, 2)] = T_1[ramp(0, 1, 2)]
    }
  }
)"),
            normalized(R"(
allocate(T: Pointer(global float32), float32, [16]), storage_scope = global {
  for (i.s: int64, 0i64, 8i64) {
    T_1: Buffer(T, float32, [16], [])[ramp((cast(int32, i.s)*2), 1, 2)] = A[ramp(0, 1, 2)]
  }
  for (i.s_1: int64, 0i64, 8i64) {
    B[ramp((i.s_1*2i64), 1i64, 2)] = T_1[ramp((cast(int32, i.s_1)*2), 1, 2)]
  }
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

// ---- vectorize_elements -------------------------------------------------------------------------

std::string with_vector_elements(std::string_view body) {
  return test::run(vectorize_elements, test::function_text(body, 64, 64));
}

TEST(VectorizeElements, MemoryOfWholeAlignedVectorsHasVectorElements) {
  EXPECT_EQ(with_vector_elements(R"(
  allocate(X: Pointer(global float32), float32, [64]), storage_scope = global {
    for (i: int32, 0, 16) {
      X_1: Buffer(X, float32, [64], [])[ramp((i*4), 1, 4)] = A[ramp((i*4), 1, 4)]
    }
    for (j: int32, 0, 16) {
      B[ramp((j*4), 1, 4)] = X_1[ramp((60 - (j*4)), 1, 4)]
    }
  })"),
            R"(allocate(X: Pointer(global float32x4), float32x4, [16]), storage_scope = global {
  for (i: int32, 0, 16) {
    X_1: Buffer(X, float32x4, [16], [])[floordiv((i*4), 4)] = A[ramp((i*4), 1, 4)]
  }
  for (j: int32, 0, 16) {
    B[ramp((j*4), 1, 4)] = X_1[floordiv((60 - (j*4)), 4)]
  }
}
)");
}

TEST(VectorizeElements, MemoryOfUnalignedVectorsKeepsScalarElements) {
  for (const char* index : {"((j*4) + 2)", "(j*2)"}) {
    const std::string text = with_vector_elements(std::string(R"(
  allocate(X: Pointer(global float32), float32, [68]), storage_scope = global {
    for (i: int32, 0, 17) {
      X_1: Buffer(X, float32, [68], [])[ramp((i*4), 1, 4)] = broadcast(0f32, 4)
    }
    for (j: int32, 0, 16) {
      B[ramp((j*4), 1, 4)] = X_1[ramp()") + index +
                                                  R"(, 1, 4)]
    }
  })");
    EXPECT_NE(text.find("allocate(X: Pointer(global float32), float32, [68])"), std::string::npos)
        << text;
  }
}

// ---- lanes --------------------------------------------------------------------------------------

using namespace tir;

const Var i("i");
const Buffer A = decl_buffer({1024}, Float(32), {.name = "A"});

std::string lanes_of(const Expr& e, const LaneOptions& options = {}, int count = 4) {
  const std::optional<Expr> wide = in_lanes(e, {i, Expr(0), count}, options);
  return wide ? print_expr(*wide) : "none";
}

TEST(InLanes, AnIterationVariableIsARamp) {
  EXPECT_EQ(lanes_of(i * 3 + 1), print_expr(make_ramp(1, 3, 4)));
}

TEST(InLanes, AnInvariantValueIsUnchanged) { EXPECT_EQ(lanes_of(make_load(A, {7})), "A[7]"); }

TEST(InLanes, VectorsThatContinueEachOtherAreMerged) {
  const Expr load = make_load(A, {make_ramp(i * 8, 1, 8)});
  EXPECT_EQ(lanes_of(load), print_expr(make_load(A, {make_ramp(0, 1, 32)})));
}

TEST(InLanes, VectorsWithGapsAreRefused) {
  EXPECT_EQ(lanes_of(make_load(A, {make_ramp(i * 9, 1, 8)})), "none");
}

/// A product of int32 that wraps has another value in int64.
TEST(InLanes, AConvertedNumberIsNotARamp) {
  const Expr number = cast(Int(64), i * 100000);
  EXPECT_EQ(lanes_of(number), print_expr(make_cast(Int(64, 4), make_ramp(0, 100000, 4))));
}

TEST(InLanes, AConvertedIndexIsARamp) {
  const Expr at = make_load(A, {cast(Int(64), i * 2)});
  EXPECT_EQ(lanes_of(at),
            print_expr(make_load(A, {make_ramp(make_int(Int(64), 0), make_int(Int(64), 2), 4)})));
}

TEST(InLanes, AConditionOfAnIterationIsNotRepeatedForItsLanes) {
  const Expr choice =
      make_select(i < 2, make_load(A, {make_ramp(0, 1, 4)}), make_load(A, {make_ramp(4, 1, 4)}));
  EXPECT_EQ(lanes_of(choice), "none");
}

TEST(InLanes, AVectorChoiceIsASelectOrKept) {
  const Expr choice = if_then_else(i < 2, make_load(A, {i}), 0.0f);
  EXPECT_TRUE(lanes_of(choice).starts_with("select(")) << lanes_of(choice);
  const std::string kept = lanes_of(choice, {.choice = LaneOptions::Choice::Keep});
  EXPECT_TRUE(kept.starts_with("@tir.if_then_else(")) << kept;
}

TEST(InLanes, AnIndexIsSimplifiedToARampOnlyWhereItIsLinear) {
  const LaneOptions options{.simplifies_indices = true};
  const Expr linear = floordiv(i * 6, 2), other = floordiv(i, 2);
  EXPECT_EQ(lanes_of(make_load(A, {linear}), options),
            print_expr(make_load(A, {make_ramp(0, 3, 4)})));
  EXPECT_EQ(lanes_of(make_load(A, {other}), options),
            print_expr(make_load(A, {floordiv(make_ramp(0, 1, 4), make_broadcast(2, 4))})));
}

TEST(LaneValue, ALaneOfAVectorIsAScalar) {
  const Expr vector = make_load(A, {make_ramp(8, 2, 4)}) * make_broadcast(2.0f, 4);
  EXPECT_EQ(print_expr(*lane_value(vector, i)), print_expr(make_load(A, {8 + i * 2}) * 2.0f));
}

TEST(LaneValue, ALaneOfAShuffleIsNotComputedSeparately) {
  const Expr vector = make_load(A, {make_ramp(0, 1, 4)});
  EXPECT_FALSE(lane_value(make_shuffle({vector}, {Expr(3), Expr(2)}), i));
}

TEST(LaneValue, LanesOfALaneAreTheVectorAgain) {
  const Expr vector = max(make_load(A, {make_ramp(8, 2, 4)}), make_load(A, {make_ramp(0, 1, 4)}));
  EXPECT_EQ(lanes_of(*lane_value(vector, i)), print_expr(vector));
}

}  // namespace
}  // namespace tenon::lowering
