#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using test::unchanged;

/// Two registers for sums of eight lanes unless said.
std::string jammed(std::string_view body, int registers = 4) {
  PassOptions options;
  options.vector_registers = tir::VectorRegisters{.bits = 256, .for_sums = registers};
  return test::run(jam_loops, test::function_text(body), options);
}

/// The body as it prints when nothing is done to it.
TEST(JamLoops, RowsOfSumsRunSideBySide) {
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

TEST(JamLoops, EveryCopyHasMemoryOfItsOwn) {
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

TEST(JamLoops, AShortLoopIsWrittenOutWhole) {
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

TEST(JamLoops, WhatIsLeftOverKeepsALoopOfItsOwn) {
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

TEST(JamLoops, ALoopThatBeginsElsewhereKeepsItsBeginning) {
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

TEST(JamLoops, RegistersAreSharedBetweenTwoLoops) {
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

TEST(JamLoops, StatementsThatAddToOneVectorAreOneSum) {
  const std::string text = jammed(R"(
  for (i: int32, 0, 4) {
    for (k: int32, 0, 4) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*16), 1, 8)])
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp(((k*16) + 8), 1, 8)])
    }
  })");
  EXPECT_TRUE(text.starts_with("for (i: int32, 0, 2) {\n")) << text;
}

TEST(JamLoops, NeighboursInARowAreWorthFewAdditions) {
  const std::string text = jammed(R"(
  for (j: int32, 0, 2) {
    for (k: int32, 0, 4) {
      B[ramp((j*8), 1, 8)] = (B[ramp((j*8), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })");
  EXPECT_TRUE(text.starts_with("for (k: int32, 0, 4) {\n")) << text;
}

TEST(JamLoops, EveryCopyHasALetOfItsOwn) {
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

class StaysAsItIs : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(StaysAsItIs, Loop) {
  EXPECT_EQ(jammed(GetParam().second, 16), unchanged(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(JamLoops, StaysAsItIs,
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
                                         std::pair{"PlacesThatNobodyKnows", R"(
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
                                         std::pair{"SumsThatAreStoredAgainSoon", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 7) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"},
                                         std::pair{"SumsThatTakeTurns", R"(
  for (i: int32, 0, 8) {
    for (k: int32, 0, 16) {
      for (j: int32, 0, 4) {
        B[ramp(((i*64) + (j*8)), 1, 8)] = (B[ramp(((i*64) + (j*8)), 1, 8)] + A[ramp(((k*32) + (j*8)), 1, 8)])
      }
    }
  })"},
                                         std::pair{"VectorsThatAreWrittenOnce", R"(
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

TEST(JamLoops, BuffersThatMayOverlapAreLeftAlone) {
  tir::PrimFunc func = test::parse_function(test::function_text(R"(
  for (i: int32, 0, 2) {
    for (k: int32, 0, 8) {
      B[ramp((i*64), 1, 8)] = (B[ramp((i*64), 1, 8)] + A[ramp((k*8), 1, 8)])
    }
  })"));
  func.attrs.noalias = false;
  EXPECT_EQ(test::text_of(jam_loops(func, test::with_vectors(256))), test::text_of(func));
}

TEST(JamLoops, KnownProgramsStayWellFormed) {
  for (const test::KnownText& known : test::known_functions()) {
    const tir::PrimFunc func = test::parse_function(known.text);
    const tir::PrimFunc result = jam_loops(func, test::with_vectors(512));
    if (tir::verify(func, tir::Form::Lowered).empty()) {
      EXPECT_TRUE(tir::verify(result, tir::Form::Lowered).empty()) << known.name;
    }
  }
}

}  // namespace
}  // namespace tenon::lowering
