#include "lower/cpu/tile_registers.h"

#include <gtest/gtest.h>

#include "lower/passes.h"
#include "pass_text.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using test::unchanged;

PassOptions with_registers(int registers) {
  PassOptions options;
  options.vector_registers = tir::VectorRegisters{.bits = 256, .for_sums = registers};
  return options;
}

// ---- unroll and jam -----------------------------------------------------------------------------

tir::PrimFunc jam(const tir::PrimFunc& func, const PassOptions& options) {
  AutotunedLoops autotuned(func, options);
  tir::PrimFunc result = func;
  result.body = unroll_and_jam(func.body, autotuned, *options.vector_registers);
  return result;
}

/// Jams loops for `registers` registers of 8 lanes; a sum of one register may have half of them.
std::string jammed(std::string_view body, int registers = 4) {
  return test::run(jam, test::function_text(body), with_registers(registers));
}

TEST(UnrollAndJam, RowsOfSumsRunSideBySide) {
  EXPECT_EQ(jammed(R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"),
            R"(for (i: int32, 0, 4) {
  for (k: int32, 0, 8) {
    B[ramp(((i*2)*64), 1, 8)] = (B[ramp(((i*2)*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    B[ramp((((i*2) + 1)*64), 1, 8)] = (B[ramp((((i*2) + 1)*64), 1, 8)] + A[ramp((k*8), 1, 8)])
  }
}
)");
}

TEST(UnrollAndJam, EveryCopyHasMemoryOfItsOwn) {
  EXPECT_EQ(jammed(R"(
  for (i: int32, 0, 2) {
    allocate(Y: Pointer(global float32), float32, [8]), storage_scope = global {
      Y_1: Buffer(Y, float32, [8], [])[ramp(0, 1, 8)] = broadcast(0f32, 8)
      for (k: int32, 0, 8) {
        Y_1[ramp(0, 1, 8)] = (Y_1[ramp(0, 1, 8)] + A[ramp(((i*64) + (k*8)), 1, 8)])
      }
      B[ramp((i*8), 1, 8)] = Y_1[ramp(0, 1, 8)]
    }
  })"),
            R"(allocate(Y: Pointer(global float32), float32, [8]), storage_scope = global;
allocate(Y_1: Pointer(global float32), float32, [8]), storage_scope = global {
  Y_1_1: Buffer(Y, float32, [8], [])[ramp(0, 1, 8)] = broadcast(0f32, 8)
  Y_1_2: Buffer(Y_1, float32, [8], [])[ramp(0, 1, 8)] = broadcast(0f32, 8)
  for (k: int32, 0, 8) {
    Y_1_1[ramp(0, 1, 8)] = (Y_1_1[ramp(0, 1, 8)] + A[ramp((k*8), 1, 8)])
    Y_1_2[ramp(0, 1, 8)] = (Y_1_2[ramp(0, 1, 8)] + A[ramp((64 + (k*8)), 1, 8)])
  }
  B[ramp(0, 1, 8)] = Y_1_1[ramp(0, 1, 8)]
  B[ramp(8, 1, 8)] = Y_1_2[ramp(0, 1, 8)]
}
)");
}

TEST(UnrollAndJam, UnrollsAShortLoopCompletely) {
  EXPECT_EQ(jammed(R"(
  for (i: int32, 0, 2) {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"),
            R"(for (k: int32, 0, 8) {
  B[ramp(0, 1, 8)] = (B[ramp(0, 1, 8)] + A[ramp((k*8), 1, 8)])
  B[ramp(64, 1, 8)] = (B[ramp(64, 1, 8)] + A[ramp((k*8), 1, 8)])
}
)");
}

TEST(UnrollAndJam, LeavesRemainingIterationsInALoop) {
  EXPECT_EQ(jammed(R"(
  for (i: int32, 0, 5) {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"),
            R"(for (i: int32, 0, 2) {
  for (k: int32, 0, 8) {
    B[ramp(((i*2)*64), 1, 8)] = (B[ramp(((i*2)*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    B[ramp((((i*2) + 1)*64), 1, 8)] = (B[ramp((((i*2) + 1)*64), 1, 8)] + A[ramp((k*8), 1, 8)])
  }
}
for (i_1: int32, 4, 5) {
  for (k_1: int32, 0, 8) {
    B[ramp((i_1*64), 1, 8)] = (B[ramp((i_1*64), 1, 8)] + A[ramp((k_1*8), 1, 8)])
  }
}
)");
}

TEST(UnrollAndJam, KeepsTheFirstIterationOfALoopThatDoesNotStartAtZero) {
  EXPECT_EQ(jammed(R"(
  for (i: int32, 3, 8) {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"),
            R"(for (i: int32, 0, 2) {
  for (k: int32, 0, 8) {
    B[ramp((((i*2) + 3)*64), 1, 8)] = (B[ramp((((i*2) + 3)*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    B[ramp((((i*2) + 4)*64), 1, 8)] = (B[ramp((((i*2) + 4)*64), 1, 8)] + A[ramp((k*8), 1, 8)])
  }
}
for (i_1: int32, 7, 8) {
  for (k_1: int32, 0, 8) {
    B[ramp((i_1*64), 1, 8)] = (B[ramp((i_1*64), 1, 8)] + A[ramp((k_1*8), 1, 8)])
  }
}
)");
}

TEST(UnrollAndJam, RegistersAreSharedBetweenTwoLoops) {
  const std::string text = jammed(R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 8) {
      for (k: int32, 0, 8) {
        B[ramp(((i*64) + (j*8)), 1, 8)] = (B[ramp(((i*64) + (j*8)), 1, 8)] + A[ramp(((j*64) + (k*8)), 1, 8)])
      }
    }
  })",
                                  16);
  EXPECT_NE(text.find("for (i: int32, 0, 4) {\n  for (k: int32, 0, 8) {\n"), std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '='), 16) << text;
}

TEST(UnrollAndJam, StatementsThatAddToOneVectorAreOneSum) {
  const std::string text = jammed(R"(
  for (i: int32, 0, 4) {
    for (k: int32, 0, 4) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*16), 1, 8)])
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp(((k*16) + 8), 1, 8)])
    }
  })");
  EXPECT_TRUE(text.starts_with("for (i: int32, 0, 2) {\n")) << text;
}

TEST(UnrollAndJam, JamsContiguousSumsWithFewAdditions) {
  const std::string text = jammed(R"(
  for (j: int32, 0, 2) {
    for (k: int32, 0, 4) {
      B[ramp((j*8), 1, 8)] = (B[ramp((j*8), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })");
  EXPECT_TRUE(text.starts_with("for (k: int32, 0, 4) {\n")) << text;
}

TEST(UnrollAndJam, EveryCopyHasALetOfItsOwn) {
  EXPECT_EQ(jammed(R"(
  for (i: int32, 0, 2) {
    let cse_var_1: int32 = (i*64)
    for (k: int32, 0, 8) {
      B[ramp(cse_var_1, 1, 8)] = (B[ramp(cse_var_1, 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"),
            R"(let cse_var_1: int32 = 0
let cse_var_1_1: int32 = 64
for (k: int32, 0, 8) {
  B[ramp(cse_var_1, 1, 8)] = (B[ramp(cse_var_1, 1, 8)] + A[ramp((k*8), 1, 8)])
  B[ramp(cse_var_1_1, 1, 8)] = (B[ramp(cse_var_1_1, 1, 8)] + A[ramp((k*8), 1, 8)])
}
)");
}

class KeepsLoop : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(KeepsLoop, Loop) { EXPECT_EQ(jammed(GetParam().second, 16), unchanged(GetParam().second)); }

INSTANTIATE_TEST_SUITE_P(UnrollAndJam, KeepsLoop,
                         testing::Values(std::pair{"IterationsThatAddToTheSameVector", R"(
  for (i: int32, 0, 8) {
    B[ramp(0, 1, 8)] = (B[ramp(0, 1, 8)] + A[ramp((i*8), 1, 8)])
  })"},
                                         std::pair{"VectorsOfNeighboursThatOverlap", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 8) {
      B[ramp((i*7), 1, 8)] = (B[ramp((i*7), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"},
                                         std::pair{"AnIterationThatReadsWhatTheNextOneWrites", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + B[ramp(((i*64) + 64), 1, 8)])
    }
  })"},
                                         std::pair{"UnknownPositions", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 8) {
      B[ramp(@tir.popcount(i, dtype=int32), 1, 8)] = (B[ramp(@tir.popcount(i, dtype=int32), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"},
                                         std::pair{"Scalars", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 8) {
      B[(i*64)] = (B[(i*64)] + A[(k*8)])
    }
  })"},
                                         std::pair{"SumsWithFewAdditions", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 7) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"},
                                         std::pair{"AlternatingSums", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 16) {
      for (j: int32, 0, 4) {
        B[ramp(((i*64) + (j*8)), 1, 8)] = (B[ramp(((i*64) + (j*8)), 1, 8)] + A[ramp(((k*32) + (j*8)), 1, 8)])
      }
    }
  })"},
                                         std::pair{"VectorsWithOneAddition", R"(
  for (i: int32, 0, 8) {
    B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((i*8), 1, 8)])
  })"},
                                         std::pair{"ParallelLoops", R"(
  for (i: int32, 0, 8) "parallel" {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"},
                                         std::pair{"GuardedStatements", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 8) {
      if (i < 5) {
        B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
      }
    }
  })"}),
                         [](const auto& info) { return std::string(info.param.first); });

// ---- promotion of accumulators ------------------------------------------------------------------

tir::PrimFunc promote(const tir::PrimFunc& func, const PassOptions& options) {
  tir::PrimFunc result = func;
  result.body = promote_accumulators(func.body, *options.vector_registers);
  return result;
}

std::string promoted(std::string_view body, int registers = 8) {
  return test::run(promote, test::function_text(body), with_registers(registers));
}

TEST(PromoteAccumulators, ASumIsReadOnceBeforeTheLoopAndStoredOnceAfterIt) {
  EXPECT_EQ(promoted(R"(
  for (k: int32, 0, 4) {
    B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + A[ramp((k*8), 1, 8)])
  })"),
            R"(allocate(sums: Pointer(local float32), float32, [8]), storage_scope = local {
  sums_1: Buffer(sums, float32, [8], [], scope="local")[ramp(0, 1, 8)] = B[ramp(16, 1, 8)]
  for (k: int32, 0, 4) {
    sums_1[ramp(0, 1, 8)] = (sums_1[ramp(0, 1, 8)] + A[ramp((k*8), 1, 8)])
  }
  B[ramp(16, 1, 8)] = sums_1[ramp(0, 1, 8)]
}
)");
}

TEST(PromoteAccumulators, LoadsBeforeTheOutermostLoopInWhichTheSumIsInvariant) {
  const std::string text = promoted(R"(
  for (i: int32, 0, 4) {
    for (k: int32, 0, 4) {
      for (l: int32, 0, 4) {
        B[ramp((i*8), 1, 8)] = (B[ramp((i*8), 1, 8)] + A[ramp(((k*32) + (l*8)), 1, 8)])
      }
    }
  })");
  EXPECT_TRUE(text.starts_with("for (i: int32, 0, 4) {\n  allocate(sums: ")) << text;
}

TEST(PromoteAccumulators, InlinesTheLetsOfAnIndex) {
  const std::string text = promoted(R"(
  for (i: int32, 0, 4) {
    for (k: int32, 0, 4) {
      let cse_var_1: int32 = (i*8)
      B[ramp(cse_var_1, 1, 8)] = (B[ramp(cse_var_1, 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })");
  EXPECT_TRUE(text.starts_with("for (i: int32, 0, 4) {\n  allocate(sums: ")) << text;
  EXPECT_NE(text.find("= B[ramp((i*8), 1, 8)]\n"), std::string::npos) << text;
  // Sums in the buffer itself would be lost: the local memory is stored over it.
  EXPECT_EQ(text.find("B[ramp(cse_var_1, 1, 8)]"), std::string::npos) << text;
}

TEST(PromoteAccumulators, StatementsThatAddToOneVectorShareItsLocalMemory) {
  EXPECT_EQ(promoted(R"(
  B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + A[ramp(0, 1, 8)])
  B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + A[ramp(8, 1, 8)])
  )"),
            R"(allocate(sums: Pointer(local float32), float32, [8]), storage_scope = local {
  sums_1: Buffer(sums, float32, [8], [], scope="local")[ramp(0, 1, 8)] = B[ramp(16, 1, 8)]
  sums_1[ramp(0, 1, 8)] = (sums_1[ramp(0, 1, 8)] + A[ramp(0, 1, 8)])
  sums_1[ramp(0, 1, 8)] = (sums_1[ramp(0, 1, 8)] + A[ramp(8, 1, 8)])
  B[ramp(16, 1, 8)] = sums_1[ramp(0, 1, 8)]
}
)");
}

TEST(PromoteAccumulators, LetsReadTheLocalMemoryToo) {
  EXPECT_EQ(promoted(R"(
  for (k: int32, 0, 4) {
    let low: float32x8 = min(B[ramp(0, 1, 8)], A[ramp((k*8), 1, 8)])
    let high: float32x8 = max(B[ramp(0, 1, 8)], B[ramp(8, 1, 8)])
    B[ramp(0, 1, 8)] = low
    B[ramp(8, 1, 8)] = high
  })"),
            R"(allocate(sums: Pointer(local float32), float32, [8]), storage_scope = local;
allocate(sums_1: Pointer(local float32), float32, [8]), storage_scope = local {
  sums_2: Buffer(sums_1, float32, [8], [], scope="local")[ramp(0, 1, 8)] = B[ramp(0, 1, 8)]
  sums_3: Buffer(sums, float32, [8], [], scope="local")[ramp(0, 1, 8)] = B[ramp(8, 1, 8)]
  for (k: int32, 0, 4) {
    let low: float32x8 = min(sums_2[ramp(0, 1, 8)], A[ramp((k*8), 1, 8)])
    let high: float32x8 = max(sums_2[ramp(0, 1, 8)], sums_3[ramp(0, 1, 8)])
    sums_2[ramp(0, 1, 8)] = low
    sums_3[ramp(0, 1, 8)] = high
  }
  B[ramp(0, 1, 8)] = sums_2[ramp(0, 1, 8)]
  B[ramp(8, 1, 8)] = sums_3[ramp(0, 1, 8)]
}
)");
}

class KeepsSumInMemory : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(KeepsSumInMemory, Sum) {
  EXPECT_EQ(promoted(GetParam().second), unchanged(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(PromoteAccumulators, KeepsSumInMemory,
                         testing::Values(std::pair{"AVectorThatMovesWithTheLoop", R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 1, 8)] = (B[ramp((i*8), 1, 8)] + A[ramp((i*8), 1, 8)])
  })"},
                                         std::pair{"ElementsThatAnotherStatementReads", R"(
  for (i: int32, 0, 8) {
    B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + A[ramp((i*8), 1, 8)])
    B[ramp(64, 1, 8)] = B[ramp((i + 10), 1, 8)]
  })"},
                                         std::pair{"ElementsThatAreReadAtOtherDistances", R"(
  for (i: int32, 0, 8) {
    B[ramp(16, 1, 13)] = (B[ramp(16, 1, 13)] + A[ramp((i*13), 1, 13)])
    B[ramp(64, 1, 4)] = B[ramp(16, 4, 4)]
  })"},
                                         std::pair{"ElementsThatALetReadsByOtherLanes", R"(
  for (i: int32, 0, 8) {
    let x: float32x8 = B[ramp(20, 1, 8)]
    B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + x)
  })"},
                                         std::pair{"AVectorWhosePositionTheLoopChanges", R"(
  for (i: int32, 0, 8) {
    A[ramp(@tir.bitwise_not(cast(int32, A[3]), dtype=int32), 1, 8)] = (A[ramp(@tir.bitwise_not(cast(int32, A[3]), dtype=int32), 1, 8)] + B[ramp((i*8), 1, 8)])
  })"},
                                         std::pair{"ScalarsAreForTheCodeGenerator", R"(
  for (i: int32, 0, 8) {
    B[16] = (B[16] + A[i])
  })"},
                                         std::pair{"LoopsThatMayNotRun", R"(
  for (i: int32, 0, @tir.popcount(7, dtype=int32)) {
    B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + A[ramp((i*8), 1, 8)])
  })"},
                                         std::pair{"AVectorThatIsChangedOnce", R"(
  B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + A[ramp(0, 1, 8)])
  B[ramp(32, 1, 8)] = A[ramp(8, 1, 8)]
  )"},
                                         std::pair{"SumsUnderACondition", R"(
  for (i: int32, 0, 8) {
    if (i < 5) {
      B[ramp(16, 1, 8)] = (B[ramp(16, 1, 8)] + A[ramp((i*8), 1, 8)])
    }
  })"}),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(PromoteAccumulators, KeepsMoreSumsThanRegistersInMemory) {
  const std::string_view body = R"(
  for (i: int32, 0, 8) {
    B[ramp(16, 1, 24)] = (B[ramp(16, 1, 24)] + A[ramp((i*24), 1, 24)])
  })";
  EXPECT_EQ(promoted(body, 1), unchanged(body)) << "three registers, and two there are";
  EXPECT_NE(promoted(body, 2), unchanged(body));
}

// ---- the order of accumulations -----------------------------------------------------------------

tir::PrimFunc schedule(const tir::PrimFunc& func, const PassOptions& options) {
  tir::PrimFunc result = func;
  result.body = schedule_accumulations(func.body, *options.vector_registers);
  return result;
}

/// Orders accumulations for `registers` registers of eight floats.
std::string ordered(std::string_view body, int registers) {
  PassOptions options;
  options.vector_registers = tir::VectorRegisters{.bits = 256, .count = registers, .for_sums = 2};
  return test::run(
      schedule,
      test::function_text(
          "allocate(sums: Pointer(local float32), float32, [16]), storage_scope = local {\n" +
          std::string(body) + "}\n"),
      options);
}

std::string addition(int sum, int factor, int row) {
  const std::string place = "sums_1[ramp(" + std::to_string(sum * 8) + ", 1, 8)]";
  return "  " + place + " = (" + place + " + (broadcast(A[" + std::to_string(factor) +
         "], 8)*B[ramp(" + std::to_string(row * 8) + ", 1, 8)]))\n";
}

/// The buffer is declared where it is first named.
std::string declared(std::string text) {
  const std::size_t first = text.find("sums_1[");
  return text.replace(first, 6, "sums_1: Buffer(sums, float32, [16], [], scope=\"local\")");
}

/// The statements' sums and factors, "0:0 1:0 ...".
std::string order_in(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; (at = text.find(" + (broadcast(A[", at)) != text.npos; ++at) {
    const std::size_t place = text.rfind("[ramp(", at);
    result += text[place + 6] == '0' ? "0:" : "1:";
    result += std::string(1, text[at + 16]) + " ";
  }
  return result;
}

const std::string kHalves = declared(addition(0, 0, 0) + addition(0, 1, 1) + addition(0, 2, 2) +
                                     addition(1, 0, 3) + addition(1, 1, 4) + addition(1, 2, 5));

TEST(ScheduleAccumulations, PlacesStatementsWithACommonOperandNextToEachOther) {
  EXPECT_EQ(order_in(ordered(kHalves, 4)), "0:0 1:0 0:1 1:1 0:2 1:2 ");
}

TEST(ScheduleAccumulations, KeepsTheOrderIfRegistersSuffice) {
  // Two sums, three factors that are kept for the second half, and a row.
  EXPECT_EQ(order_in(ordered(kHalves, 6)), "0:0 0:1 0:2 1:0 1:1 1:2 ");
  EXPECT_EQ(order_in(ordered(kHalves, 5)), "0:0 1:0 0:1 1:1 0:2 1:2 ");
}

TEST(ScheduleAccumulations, MovesNothingAcrossAnotherStatement) {
  const std::string text = declared(addition(0, 0, 0) + addition(0, 1, 1) + addition(0, 2, 2) +
                                    "  sums_1[ramp(8, 1, 8)] = broadcast(0f32, 8)\n" +
                                    addition(1, 0, 3) + addition(1, 1, 4) + addition(1, 2, 5));
  EXPECT_EQ(order_in(ordered(text, 2)), "0:0 0:1 0:2 1:0 1:1 1:2 ");
}

TEST(ScheduleAccumulations, MovesNothingAcrossAReaderOfAnotherSum) {
  const std::string text =
      declared(addition(0, 0, 0) + addition(0, 1, 1) + addition(0, 2, 2) +
               "  sums_1[ramp(8, 1, 8)] = (sums_1[ramp(8, 1, 8)] + sums_1[ramp(0, 1, 8)])\n" +
               addition(1, 0, 3) + addition(1, 1, 4) + addition(1, 2, 5));
  EXPECT_EQ(order_in(ordered(text, 2)), "0:0 0:1 0:2 1:0 1:1 1:2 ");
}

// ---- the pass -----------------------------------------------------------------------------------

TEST(ScheduleAccumulations, MovesNothingAcrossASumOfSomeOfTheSameElements) {
  std::string text = kHalves;
  for (std::size_t at; (at = text.find("[ramp(8, 1, 8)] = ")) != text.npos;)
    for (int n = 0; n < 2; ++n) text.replace(text.find("sums_1[ramp(8", at - 7) + 12, 1, "4");
  EXPECT_EQ(order_in(ordered(text, 4)), "0:0 0:1 0:2 1:0 1:1 1:2 ");
}

TEST(TileRegisters, LeavesBuffersThatMayOverlapAlone) {
  tir::PrimFunc func = test::parse_function(test::function_text(R"(
  for (i: int32, 0, 2) {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"));
  EXPECT_NE(test::text_of(tile_registers(func, with_registers(4))), test::text_of(func));
  func.attrs.noalias = false;
  EXPECT_EQ(test::text_of(tile_registers(func, with_registers(4))), test::text_of(func));
}

TEST(TileRegisters, KeepsKnownProgramsWellFormed) {
  int changed = 0;
  for (const test::KnownText& known : test::known_functions()) {
    const tir::PrimFunc func = test::parse_function(known.text);
    const tir::PrimFunc result = tile_registers(func, with_registers(8));
    changed += !result.body.same_as(func.body);
    if (tir::verify(func, tir::Form::Lowered).empty()) {
      EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << known.name;
    }
  }
  EXPECT_GE(changed, 2) << "the vectorized and the parallel step of the ladder";
}

}  // namespace
}  // namespace tenon::lowering
