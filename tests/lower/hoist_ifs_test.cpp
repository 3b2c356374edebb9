#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string hoisted(std::string_view body) {
  return test::run(hoist_ifs, test::function_text(body));
}

TEST(HoistIfs, EveryKnownTextHasItsConditionsOutsideAlready) {
  for (const test::KnownText& known : test::known_functions()) {
    SCOPED_TRACE(known.name);
    const tir::PrimFunc func = test::without_lets(test::parse_function(known.text));
    EXPECT_EQ(test::text_of(hoist_ifs(func, {})), test::text_of(func));
  }
}

TEST(HoistIfs, AConditionGoesAboveTheLoopsItDoesNotUse) {
  EXPECT_EQ(hoisted(R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 8) {
      for (k: int32, 0, 8) {
        if @tir.likely((i < 6), dtype=bool) {
          if @tir.likely((j < 6), dtype=bool) {
            B[((i*64) + (j*8))] = 1f32
          }
        }
      }
    }
  })"),
            R"(for (i: int32, 0, 8) {
  if @tir.likely((i < 6), dtype=bool) {
    for (j: int32, 0, 8) {
      if @tir.likely((j < 6), dtype=bool) {
        for (k: int32, 0, 8) {
          B[((i*64) + (j*8))] = 1f32
        }
      }
    }
  }
}
)");
}

TEST(HoistIfs, AConditionWithoutLoopVariablesGoesToTheTop) {
  const std::string text = hoisted(R"(
  for (i: int32, 0, 8) {
    if (B_1 == B_1) {
      B[i] = 1f32
    }
  })");
  EXPECT_TRUE(text.starts_with("if (B_1 == B_1) {\n  for (i: int32, 0, 8) {\n    B[i]")) << text;
}

TEST(HoistIfs, AnElseTakesACopyOfTheLoop) {
  EXPECT_EQ(hoisted(R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 8) {
      if (i < 6) {
        B[j] = 1f32
      } else {
        B[j] = 2f32
      }
    }
  })"),
            R"(for (i: int32, 0, 8) {
  if (i < 6) {
    for (j: int32, 0, 8) {
      B[j] = 1f32
    }
  } else {
    for (j_1: int32, 0, 8) {
      B[j_1] = 2f32
    }
  }
}
)");
}

/// Expects that the pass leaves the body unchanged.
void expect_stays(const std::string& body) { EXPECT_EQ(hoisted(body), body); }

TEST(HoistIfs, NothingPassesASequence) {
  expect_stays(R"(for (i: int32, 0, 8) {
  for (j: int32, 0, 8) {
    B[j] = 0f32
    if (i < 6) {
      B[j] = 1f32
    }
  }
}
)");
}

TEST(HoistIfs, ASequenceOutsideDoesNotHoldWhatIsInside) {
  EXPECT_NE(hoisted(R"(
  for (i: int32, 0, 8) {
    B[i] = 0f32
    for (j: int32, 0, 8) {
      if (i < 6) {
        B[j] = 1f32
      }
    }
  })")
                .find("  if (i < 6) {\n    for (j"),
            std::string::npos);
}

TEST(HoistIfs, WhatAnElseNeedsStays) {
  // Taking j < 3 out of the loop over k would take B[1] = 2 away where it does not hold.
  expect_stays(R"(for (j: int32, 0, 8) {
  for (k: int32, 0, 8) {
    if (k < 5) {
      if (j < 3) {
        B[0] = 1f32
      }
    } else {
      B[1] = 2f32
    }
  }
}
)");
}

TEST(HoistIfs, LoadsLetsAndThreadsHoldAConditionBack) {
  expect_stays("for (i: int32, 0, 8) {\n  if (A[0] < 1f32) {\n    B[i] = 1f32\n  }\n}\n");
  expect_stays(
      "for (i: int32, 0, 8) {\n  let x: int32 = cast(int32, A[0])\n  if (x < 1) {\n    B[i] = 1f32\n  "
      "}\n}\n");
  expect_stays(
      R"(attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 8;
for (i: int32, 0, 8) {
  if (threadIdx.x < 5) {
    B[i] = 1f32
  }
}
)");
  expect_stays(R"(for (i: int32, 0, 8) {
  attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 8;
  if (B_1 == B_1) {
    B[i] = 1f32
  }
}
)");
}

}  // namespace
}  // namespace tenon::lowering
