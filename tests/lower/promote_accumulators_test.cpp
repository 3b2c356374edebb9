#include "lower/passes.h"

#include <gtest/gtest.h>

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

std::string localized(std::string_view body, int registers = 8) {
  return test::run(promote_accumulators, test::function_text(body), with_registers(registers));
}

TEST(LocalizeSums, ASumIsReadOnceBeforeTheLoopAndStoredOnceAfterIt) {
  EXPECT_EQ(localized(R"(
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

TEST(LocalizeSums, TheOutermostLoopInWhichASumStands) {
  const std::string text = localized(R"(
  for (i: int32, 0, 4) {
    for (k: int32, 0, 4) {
      for (l: int32, 0, 4) {
        B[ramp((i*8), 1, 8)] = (B[ramp((i*8), 1, 8)] + A[ramp(((k*32) + (l*8)), 1, 8)])
      }
    }
  })");
  EXPECT_TRUE(text.starts_with("for (i: int32, 0, 4) {\n  allocate(sums: ")) << text;
}

TEST(LocalizeSums, ALetThatMakesTheIndexIsSeenThrough) {
  const std::string text = localized(R"(
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

TEST(LocalizeSums, StatementsThatAddToOneVectorPassItOn) {
  EXPECT_EQ(localized(R"(
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

TEST(LocalizeSums, LetsReadTheLocalMemoryToo) {
  EXPECT_EQ(localized(R"(
  for (k: int32, 0, 4) {
    let low: float32x8 = min(B[ramp(0, 1, 8)], A[ramp((k*8), 1, 8)])
    let high: float32x8 = max(B[ramp(0, 1, 8)], B[ramp(8, 1, 8)])
    B[ramp(0, 1, 8)] = low
    B[ramp(8, 1, 8)] = high
  })"),
            R"(allocate(sums: Pointer(local float32), float32, [16]), storage_scope = local {
  sums_1: Buffer(sums, float32, [16], [], scope="local")[ramp(0, 1, 8)] = B[ramp(0, 1, 8)]
  sums_1[ramp(8, 1, 8)] = B[ramp(8, 1, 8)]
  for (k: int32, 0, 4) {
    let low: float32x8 = min(sums_1[ramp(0, 1, 8)], A[ramp((k*8), 1, 8)])
    let high: float32x8 = max(sums_1[ramp(0, 1, 8)], sums_1[ramp(8, 1, 8)])
    sums_1[ramp(0, 1, 8)] = low
    sums_1[ramp(8, 1, 8)] = high
  }
  B[ramp(0, 1, 8)] = sums_1[ramp(0, 1, 8)]
  B[ramp(8, 1, 8)] = sums_1[ramp(8, 1, 8)]
}
)");
}

class StandsWhereItIs : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(StandsWhereItIs, Sum) {
  EXPECT_EQ(localized(GetParam().second), unchanged(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(LocalizeSums, StandsWhereItIs,
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
    A[ramp(@tir.likely(cast(int32, A[3]), dtype=int32), 1, 8)] = (A[ramp(@tir.likely(cast(int32, A[3]), dtype=int32), 1, 8)] + B[ramp((i*8), 1, 8)])
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

TEST(LocalizeSums, MoreSumsThanRegistersStayInTheirBuffer) {
  const std::string_view body = R"(
  for (i: int32, 0, 8) {
    B[ramp(16, 1, 24)] = (B[ramp(16, 1, 24)] + A[ramp((i*24), 1, 24)])
  })";
  EXPECT_EQ(localized(body, 1), unchanged(body)) << "three registers, and two there are";
  EXPECT_NE(localized(body, 2), unchanged(body));
}

TEST(LocalizeSums, KnownProgramsStayWellFormed) {
  int changed = 0;
  for (const test::KnownText& known : test::known_functions()) {
    const tir::PrimFunc func = test::parse_function(known.text);
    const tir::PrimFunc result = promote_accumulators(func, with_registers(8));
    changed += !result.body.same_as(func.body);
    if (tir::verify(func, tir::Form::Lowered).empty()) {
      EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << known.name;
    }
  }
  EXPECT_GE(changed, 2) << "the vectorised and the parallel step of the ladder";
}

}  // namespace
}  // namespace tenon::lowering
