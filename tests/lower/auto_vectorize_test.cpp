#include "lower/passes.h"

#include <gtest/gtest.h>

#include <random>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

// ---- auto_vectorize -----------------------------------------------------------------------------

using test::unchanged;
using test::with_vectors;

std::string vectorized(std::string_view body, int bits = 256) {
  return test::run(auto_vectorize, test::function_text(body), with_vectors(bits));
}

TEST(VectorizePlainLoops, WhatIsLeftOfAnExtentTakesNarrowerVectors) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 101) {
    B[i] = (A[(i + 7)] + 1f32)
  })"),
            R"(for (i: int32, 0, 3) {
  B[ramp((i*32), 1, 32)] = (A[ramp(((i*32) + 7), 1, 32)] + broadcast(1f32, 32))
}
B[ramp(96, 1, 4)] = (A[ramp(103, 1, 4)] + broadcast(1f32, 4))
for (i_1: int32, 100, 101) {
  B[i_1] = (A[(i_1 + 7)] + 1f32)
}
)");
}

TEST(VectorizePlainLoops, TheTailIsOneVectorWhereRegistersHaveMasks) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 30) {
    B[i] = (A[(i + 7)] + 1f32)
  })",
                       512),
            R"(B[ramp(0, 1, 16)] = (A[ramp(7, 1, 16)] + broadcast(1f32, 16))
B[ramp(16, 1, 14)] = (A[ramp(23, 1, 14)] + broadcast(1f32, 14))
)");
}

TEST(VectorizePlainLoops, AShortExtentIsOneVectorWhereRegistersHaveMasks) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 11) {
    B[i] = (A[i] + 1f32)
  })",
                       512),
            "B[ramp(0, 1, 11)] = (A[ramp(0, 1, 11)] + broadcast(1f32, 11))\n");
}

TEST(VectorizePlainLoops, ATailOfOneIterationRemainsScalar) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 17) {
    B[i] = (A[i] + 1f32)
  })",
                       512),
            R"(B[ramp(0, 1, 16)] = (A[ramp(0, 1, 16)] + broadcast(1f32, 16))
for (i: int32, 16, 17) {
  B[i] = (A[i] + 1f32)
}
)");
}

TEST(VectorizePlainLoops, ABeginningThatIsNotZero) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 3, 67) {
    B[i] = A[7]
  })"),
            R"(for (i: int32, 0, 2) {
  B[ramp(((i*32) + 3), 1, 32)] = broadcast(A[7], 32)
}
)");
}

TEST(VectorizePlainLoops, LetsWhoseValuesDifferBecomeVectors) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) {
    let x: float32 = A[i]
    let y: float32 = A[100]
    B[i] = (x*y)
  })"),
            R"(let x: float32x8 = A[ramp(0, 1, 8)]
let y: float32 = A[100]
B[ramp(0, 1, 8)] = (x*broadcast(y, 8))
)");
}

TEST(VectorizePlainLoops, WhereTheInnerLoopIsASumTheLoopAroundItHasTheLanes) {
  EXPECT_EQ(vectorized(R"(
  for (j: int32, 0, 8) {
    B[j] = 0f32
    for (k: int32, 0, 5) {
      B[j] = (B[j] + (A[k]*A[((k*8) + j)]))
    }
  })"),
            R"(B[ramp(0, 1, 8)] = broadcast(0f32, 8)
for (k: int32, 0, 5) {
  B[ramp(0, 1, 8)] = (B[ramp(0, 1, 8)] + (broadcast(A[k], 8)*A[ramp((k*8), 1, 8)]))
}
)");
}

TEST(VectorizePlainLoops, TheTailAroundAnInnerLoopIsAVector) {
  EXPECT_EQ(vectorized(R"(
  for (j: int32, 0, 12) {
    for (k: int32, 0, 5) {
      B[j] = (B[j] + (A[k]*A[((k*24) + (j*2))]))
    }
  })"),
            R"(for (k: int32, 0, 5) {
  B[ramp(0, 1, 8)] = (B[ramp(0, 1, 8)] + (broadcast(A[k], 8)*A[ramp((k*24), 2, 8)]))
}
for (k_1: int32, 0, 5) {
  B[ramp(8, 1, 4)] = (B[ramp(8, 1, 4)] + (broadcast(A[k_1], 4)*A[ramp(((k_1*24) + 16), 2, 4)]))
}
)");
}

TEST(VectorizePlainLoops, ALoopIsPartedWhereAConditionChanges) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 18) {
    B[i] = @tir.if_then_else(((1 <= i) && (i < 17)), A[(i - 1)], 0f32, dtype=float32)
  })"),
            R"(for (i: int32, 0, 1) {
  B[i] = 0f32
}
B[ramp(1, 1, 16)] = A[ramp(0, 1, 16)]
for (i_1: int32, 17, 18) {
  B[i_1] = 0f32
}
)");
}

TEST(VectorizePlainLoops, AChoiceOfWhichBothSidesAreThereIsASelect) {
  EXPECT_EQ(
      vectorized(R"(
  for (i: int32, 0, 8) {
    B[i] = @tir.if_then_else((floormod(i, 3) < 2), A[i], 0f32, dtype=float32)
  })"),
      R"(B[ramp(0, 1, 8)] = select((floormod(ramp(0, 1, 8), broadcast(3, 8)) < broadcast(2, 8)), A[ramp(0, 1, 8)], broadcast(0f32, 8))
)");
}

TEST(VectorizePlainLoops, AParallelLoopStaysParallel) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 34) "parallel" {
    B[i] = A[i]
  })"),
            R"(for (i: int32, 0, 4) "parallel" {
  B[ramp((i*8), 1, 8)] = A[ramp((i*8), 1, 8)]
}
for (i_1: int32, 32, 34) {
  B[i_1] = A[i_1]
}
)");
}

TEST(VectorizePlainLoops, AConditionThatDiffersBetweenIterationsIsABranchByLanes) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 64) {
    if (A[i] < 3f32) {
      B[i] = A[i]
    } else {
      B[i] = (B[i] + 1f32)
    }
  })"),
            R"(for (i: int32, 0, 2) {
  if (A[ramp((i*32), 1, 32)] < broadcast(3f32, 32)) {
    B[ramp((i*32), 1, 32)] = A[ramp((i*32), 1, 32)]
  } else {
    B[ramp((i*32), 1, 32)] = (B[ramp((i*32), 1, 32)] + broadcast(1f32, 32))
  }
}
)");
}

constexpr const char* kGuardedStore = R"(
  for (i: int32, 0, 64) {
    if (A[i] < 3f32) {
      B[i] = A[i]
    }
  })";

TEST(VectorizePlainLoops, WithoutMasksABranchStaysScalar) {
  EXPECT_EQ(vectorized(kGuardedStore, 128), unchanged(kGuardedStore));
}

/// The loop as vectorize_loops leaves one whose lanes differ, in a stage that a schedule has set.
std::string vectorized_lanes(std::string_view body, int bits) {
  PassOptions options = with_vectors(bits);
  options.autotune_loops = false;
  return test::run(auto_vectorize, test::function_text(body), options);
}

TEST(VectorizePlainLoops, OfAScheduledStageOnlySerialLanesBecomeVectors) {
  EXPECT_EQ(vectorized_lanes(kGuardedStore, 256), unchanged(kGuardedStore));
  EXPECT_EQ(vectorized_lanes(R"(
  for (i.s: int32, 0, 8) {
    if (A[i.s] < 3f32) {
      B[i.s] = A[i.s]
    }
  })",
                             256),
            R"(if (A[ramp(0, 1, 8)] < broadcast(3f32, 8)) {
  B[ramp(0, 1, 8)] = A[ramp(0, 1, 8)]
}
)");
}

TEST(VectorizePlainLoops, TwoSerialLanesBecomeAVector) {
  EXPECT_EQ(vectorized_lanes(R"(
  for (i.s: int32, 0, 2) {
    B[i.s] = (A[i.s] + 1f32)
  })",
                             256),
            "B[ramp(0, 1, 2)] = (A[ramp(0, 1, 2)] + broadcast(1f32, 2))\n");
}

TEST(VectorizePlainLoops, SerialLanesWithoutMasksBecomeVectorsWhereTheyComputeMuch) {
  EXPECT_EQ(vectorized_lanes(R"(
  for (i.s: int32, 0, 4) {
    if (A[i.s] < 3f32) {
      B[i.s] = ((((A[i.s]*A[i.s])*(A[i.s]*A[i.s]))*((A[i.s]*A[i.s])*A[i.s]))*A[i.s])
    }
  })",
                             128),
            R"(if (A[ramp(0, 1, 4)] < broadcast(3f32, 4)) {
  B[ramp(0, 1, 4)] = ((((A[ramp(0, 1, 4)]*A[ramp(0, 1, 4)])*(A[ramp(0, 1, 4)]*A[ramp(0, 1, 4)]))*((A[ramp(0, 1, 4)]*A[ramp(0, 1, 4)])*A[ramp(0, 1, 4)]))*A[ramp(0, 1, 4)])
}
)");
}

class StaysScalar : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(StaysScalar, Loop) {
  EXPECT_EQ(vectorized(GetParam().second), unchanged(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(VectorizePlainLoops, StaysScalar,
                         testing::Values(std::pair{"AnIterationThatReadsWhatTheOneBeforeWrote", R"(
  for (i: int32, 0, 64) {
    B[(i + 1)] = (B[i] + A[i])
  })"},
                                         std::pair{"AnIterationThatReadsWhatALaterOneWrites", R"(
  for (i: int32, 0, 64) {
    B[i] = (B[(i + 1)] + A[i])
  })"},
                                         std::pair{"AnElementThatAllIterationsWrite", R"(
  for (i: int32, 0, 64) {
    B[7] = A[i]
  })"},
                                         std::pair{"SumsOfFloats", R"(
  for (i: int32, 0, 64) {
    B[7] = (B[7] + A[i])
  })"},
                                         std::pair{"StoresOfWhichNobodyKnowsWhere", R"(
  for (i: int32, 0, 64) {
    B[floormod(i, 8)] = A[i]
  })"},
                                         std::pair{"CallsThatDoMoreThanCompute", R"(
  for (i: int32, 0, 64) {
    B[i] = @tir.call_extern("f", A[i], dtype=float32)
  })"},
                                         std::pair{"ARowOfLoopsForEveryThread", R"(
  for (i: int32, 0, 64) "parallel" {
    for (k: int32, 0, 3) {
      B[i] = (B[i] + A[((k*64) + i)])
    }
  })"},
                                         std::pair{"VectorsOfTheSchedule", R"(
  for (i: int32, 0, 64) {
    B[ramp((i*8), 1, 8)] = A[ramp((i*8), 1, 8)]
  })"},
                                         std::pair{"FewIterations", R"(
  for (i: int32, 0, 3) {
    B[i] = A[i]
  })"}),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(VectorizePlainLoops, NothingIsKnownOfBuffersThatMayOverlap) {
  const std::string_view body = R"(
  for (i: int32, 0, 64) {
    B[i] = A[i]
  })";
  tir::PrimFunc func = test::parse_function(test::function_text(body));
  func.attrs.noalias = false;
  EXPECT_EQ(test::body_text(auto_vectorize(func, with_vectors(256))), test::body_text(func));
}

// ---- random loops, before and after -------------------------------------------------------------

class RandomLoop {
 public:
  explicit RandomLoop(unsigned seed) : random_(seed) {}

  std::string text() {
    std::string body;
    for (int n = pick(1, 3); n > 0; --n) body += statement();
    const int begin = pick(0, 5);
    std::string loop = "for (i: int32, " + std::to_string(begin) + ", " +
                       (pick(0, 2) ? std::to_string(begin + pick(1, 70)) : "n") + ") {\n" + body +
                       "}\n";
    return pick(0, 1) ? loop : "for (j: int32, 0, 3) {\n" + loop + "}\n";
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string position() {
    static const char* const forms[] = {
        "i", "(i + 1)",  "(i*2)", "((i*3) + 2)",    "(200 - i)",
        "7", "(i + 90)", "(i*4)", "floordiv(i, 2)", "floormod(i, 8)"};
    return forms[pick(0, 9)];
  }
  std::string number(int depth) {
    switch (pick(0, depth > 2 ? 2 : 7)) {
      case 0:
        return "A[" + position() + "]";
      case 1:
        return "B[" + position() + "]";
      case 2:
        return std::to_string(pick(1, 3)) + "f32";
      case 3:
        return "(" + number(depth + 1) + " + " + number(depth + 1) + ")";
      case 4:
        return "max(" + number(depth + 1) + ", " + number(depth + 1) + ")";
      case 5:
        return "select((" + number(depth + 1) + " < " + number(depth + 1) + "), " +
               number(depth + 1) + ", " + number(depth + 1) + ")";
      case 6:
        return "@tir.if_then_else(" + condition() + ", " + number(depth + 1) + ", " +
               number(depth + 1) + ", dtype=float32)";
      default:
        return "cast(float32, I[" + position() + "])";
    }
  }
  std::string condition() {
    static const char* const forms[] = {"(3 <= i)",
                                        "(i < 20)",
                                        "((i*2) < 31)",
                                        "(n <= (i + 2))",
                                        "((2 <= i) && (i < n))",
                                        "((i == 4) || (40 < i))",
                                        "(0 <= (7 - i))",
                                        "(floormod(i, 3) < 2)"};
    return forms[pick(0, 7)];
  }
  std::string sometimes(const std::string& statement) {
    return pick(0, 1) ? statement : "if " + condition() + " {\n" + statement + "}\n";
  }
  std::string statement() {
    const std::string name_number = std::to_string(++names_);
    switch (pick(0, 6)) {
      case 6:
        return "if " + condition() + " {\nB[" + position() + "] = " + number(1) + "\n}\n";
      case 0:
        return "let x" + name_number + ": float32 = " + number(1) + "\nB[" + position() + "] = (x" +
               name_number + " + 1f32)\n";
      case 1:
        return sometimes("J[5] = (J[5] + I[" + position() + "])\n");
      case 2:
        return sometimes("J[6] = min(J[6], I[" + position() + "])\n");
      case 3:
        return "for (k" + name_number + ": int32, 0, 3) {\nB[" + position() + "] = (B[" +
               position() + "] + A[((i*3) + k" + name_number + ")])\n}\n";
      default:
        return "B[" + position() + "] = " + number(0) + "\n";
    }
  }

  std::mt19937 random_;
  int names_ = 0;
};

struct Memory {
  std::vector<float> a = std::vector<float>(400), b = std::vector<float>(400);
  std::vector<std::int32_t> i = std::vector<std::int32_t>(400), j = std::vector<std::int32_t>(400);

  Memory() {
    for (int n = 0; n < 400; ++n) {
      a[n] = static_cast<float>(n * 37 % 19 - 9);
      b[n] = static_cast<float>(n * 11 % 23 - 7);
      i[n] = n * 29 % 31 - 14;
      j[n] = n;
    }
  }
  std::vector<tir::HostValue> values(std::int64_t n) {
    return {tir::HostArray{a.data(), Float(32), {400}}, tir::HostArray{b.data(), Float(32), {400}},
            tir::HostArray{i.data(), Int(32), {400}}, tir::HostArray{j.data(), Int(32), {400}}, n};
  }
  bool operator==(const Memory&) const = default;
};

tir::PrimFunc function_of(const std::string& body) {
  return test::parse_function(
      "@main = primfn(A_1: handle, B_1: handle, I_1: handle, J_1: handle, n: int32) -> ()\n"
      "  attr = {\"from_legacy_te_schedule\": True, \"global_symbol\": \"main\", \"tir.noalias\": True}\n"
      "  buffers = {A: Buffer(A_2: Pointer(float32), float32, [400], []),\n"
      "             B: Buffer(B_2: Pointer(float32), float32, [400], []),\n"
      "             I: Buffer(I_2: Pointer(int32), int32, [400], []),\n"
      "             J: Buffer(J_2: Pointer(int32), int32, [400], [])}\n"
      "  buffer_map = {A_1: A, B_1: B, I_1: I, J_1: J}\n"
      "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [400], []),"
      " B_1: B_3: Buffer(B_2, float32, [400], []), I_1: I_3: Buffer(I_2, int32, [400], []),"
      " J_1: J_3: Buffer(J_2, int32, [400], [])} {\n" +
      body + "}\n");
}

TEST(VectorizePlainLoops, LanesThatTakeNoPartInASumAddNothing) {
  const tir::PrimFunc func = function_of(R"(
  J[2] = 0
  for (k: int32, 0, 8) {
    if ((k % 3) != 0) {
      J[2] = (J[2] + I[k])
    }
  })");
  const std::string text = test::body_text(auto_vectorize(func, with_vectors(256)));
  const std::string sum =
      "select(((ramp(0, 1, 8) % broadcast(3, 8)) != broadcast(0, 8)), I[ramp(0, 1, 8)], "
      "broadcast(0, 8))";
  EXPECT_NE(text.find(sum), std::string::npos) << text;
}

// Another thread may access the element where the condition does not hold.
TEST(VectorizePlainLoops, AGuardedSumStaysGuardedWhereTheTaskStoresTheElementNowhereElse) {
  const std::string sums = R"(
    for (j: int32, 0, 64) {
      if ((j % 8) == (p - 1)) {
        J[j] = (J[j] + I[j])
      }
    })";
  const std::string zeros = R"(
    for (z: int32, 0, 64) {
      J[z] = 0
    })";
  const auto is_guarded = [](const std::string& body) {
    const std::string text = test::body_text(auto_vectorize(function_of(body), with_vectors(256)));
    return text.find("if ") != std::string::npos;
  };
  EXPECT_TRUE(is_guarded("  for (p: int32, 0, 8) \"parallel\" {" + sums + "\n  }"));
  EXPECT_TRUE(is_guarded(zeros + "\n  for (p: int32, 0, 8) \"parallel\" {" + sums + "\n  }"));
  EXPECT_FALSE(is_guarded("  for (p: int32, 0, 1) \"parallel\" {" + zeros + sums + "\n  }"));
  EXPECT_FALSE(is_guarded("  for (p: int32, 0, 8) {" + zeros + sums + "\n  }"));
}

// If the condition never holds, the element may not exist and must not be accessed.
TEST(VectorizePlainLoops, ASumOfSomeStaysScalarWhereTheElementMayNotBeThere) {
  const tir::PrimFunc func = function_of(R"(
  for (k: int32, 0, 8) {
    if ((k % 3) == n) {
      J[(n + 399)] = (J[(n + 399)] + I[k])
    }
  })");
  EXPECT_EQ(test::body_text(auto_vectorize(func, with_vectors(256))), test::body_text(func));
}

// If the condition never holds, J[0] may be no element of I.
TEST(VectorizePlainLoops, ASumOfSomeStaysScalarWhereItsIndexReadsMemory) {
  const auto is_guarded = [](const std::string& index) {
    const std::string element = "T_1[" + index + "]";
    const std::string text = test::body_text(auto_vectorize(
        function_of("  allocate(T: Pointer(global int32), int32, [8]),"
                    " storage_scope = global {\n"
                    "    for (k: int32, 0, 8) {\n"
                    "      if (2 < I[k]) {\n        T_1: Buffer(T, int32, [8], [])[" +
                    index + "] = (" + element + " + I[k])\n      }\n    }\n  }\n"),
        with_vectors(256)));
    return text.find("if ") != std::string::npos;
  };
  EXPECT_FALSE(is_guarded("min(max(n, 0), 7)"));
  EXPECT_TRUE(is_guarded("min(max(I[J[0]], 0), 7)"));
}

TEST(VectorizePlainLoops, ALetIsNotInlinedPastAStoreToItsElement) {
  const tir::PrimFunc func = function_of(R"(
  for (k: int32, 0, 8) {
    let x: int32 = J[k] {
      J[k] = 7
      let y: int32 = (x*3)
      I[k] = (y*y)
    }
  })");
  EXPECT_EQ(test::body_text(auto_vectorize(func, with_vectors(256))),
            R"(let x: int32x8 = J[ramp(0, 1, 8)]
 {
  J[ramp(0, 1, 8)] = broadcast(7, 8)
  let y: int32x8 = (x*broadcast(3, 8))
  I[ramp(0, 1, 8)] = (y*y)
}
)");
}

TEST(VectorizePlainLoops, RandomLoopsComputeTheSame) {
  int changed = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    const tir::PrimFunc func = function_of(RandomLoop(seed).text());
    const int bits = 128 << seed % 3;
    const tir::PrimFunc result = auto_vectorize(func, with_vectors(bits));
    changed += !result.body.same_as(func.body);
    EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << seed;
    for (std::int64_t n : {-3, 0, 3, 8, 37, 65}) {
      Memory expected, actual;
      tir::evaluate(func, expected.values(n));
      tir::evaluate(result, actual.values(n));
      ASSERT_TRUE(expected == actual) << "seed " << seed << ", n = " << n << "\n"
                                      << test::text_of(func) << test::text_of(result);
    }
  }
  EXPECT_GE(changed, 90);
}

TEST(VectorizePlainLoops, KnownProgramsStayWellFormed) {
  int changed = 0;
  for (const test::KnownText& known : test::known_functions()) {
    const tir::PrimFunc func = test::parse_function(known.text);
    const tir::PrimFunc result = auto_vectorize(func, with_vectors(512));
    changed += !result.body.same_as(func.body);
    if (tir::verify(func, tir::Form::Lowered).empty()) {
      EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << known.name;
    }
  }
  EXPECT_GE(changed, 30);
}

TEST(VectorizePlainLoops, ShortLoopsOverInterleavedElementsAreUnrolled) {
  EXPECT_EQ(vectorized(R"(
  for (i: int32, 0, 8) {
    for (c: int32, 0, 2) {
      B[((i*2) + c)] = A[((c*100) + i)]
    }
  })"),
            R"(B[ramp(0, 2, 8)] = A[ramp(0, 1, 8)]
B[ramp(1, 2, 8)] = A[ramp(100, 1, 8)]
)");
}

TEST(VectorizePlainLoops, ASideOfAChoiceNeedNotBeInBoundsWhereLoadsAreMasked) {
  const char* const body = R"(
  for (i: int32, 0, 8) {
    B[i] = @tir.if_then_else((A[i] < 1f32), A[(i + 2000)], 0f32, dtype=float32)
  })";
  EXPECT_EQ(
      vectorized(body),
      R"(B[ramp(0, 1, 8)] = select((A[ramp(0, 1, 8)] < broadcast(1f32, 8)), A[ramp(2000, 1, 8)], broadcast(0f32, 8))
)");
  EXPECT_EQ(vectorized(body, 128), unchanged(body));
}

// ---- reassociate_accumulations ------------------------------------------------------------------

TEST(ReassociateAccumulations, LanesAccumulateByThemselvesAndAreCombined) {
  EXPECT_EQ(test::run(reassociate_accumulations, test::function_text(R"(
  for (i: int32, 0, 8) {
    B[3] = max(B[3], A[i])
  })"),
                      test::with_vectors(128)),
            R"(allocate(lanes: Pointer(local float32), float32, [8]), storage_scope = local {
  lanes_1: Buffer(lanes, float32, [8], [], scope="local")[ramp(0, 1, 8)] = broadcast(-3.40282e+38f32, 8)
  lanes_1[ramp(0, 1, 8)] = max(lanes_1[ramp(0, 1, 8)], A[ramp(0, 1, 8)])
  let lanes_2: float32x8 = lanes_1[ramp(0, 1, 8)]
  let lanes_3: float32x4 = max(shuffle([lanes_2], [0, 1, 2, 3]), shuffle([lanes_2], [4, 5, 6, 7]))
  let lanes_4: float32x2 = max(shuffle([lanes_3], [0, 1]), shuffle([lanes_3], [2, 3]))
  B[3] = max(B[3], max(shuffle([lanes_4], [0]), shuffle([lanes_4], [1])))
}
)");
}

}  // namespace
}  // namespace tenon::lowering
