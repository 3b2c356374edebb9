#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string trimmed(std::string_view body) {
  return test::run(tighten_loop_bounds, test::function_text(body));
}

TEST(TrimLoops, AConditionAroundAllOfTheBodyEndsTheLoop) {
  EXPECT_EQ(trimmed(R"(
  for (i: int32, 0, 16) {
    if (i < 4) {
      B[i] = A[i]
    }
  })"),
            R"(for (i: int32, 0, 4) {
  B[i] = A[i]
}
)");
  EXPECT_EQ(trimmed(R"(
  for (i: int32, 2, 16) {
    if @tir.likely((i <= 4), dtype=bool) {
      B[i] = A[i]
    }
  })"),
            R"(for (i: int32, 2, 5) {
  B[i] = A[i]
}
)");
}

TEST(TrimLoops, OtherConditionsStay) {
  EXPECT_EQ(trimmed(R"(
  for (j: int32, 0, 9) {
    for (i: int32, 0, 16) {
      if ((j < i) && (i < 4)) {
        B[i] = A[j]
      }
    }
  })"),
            R"(for (j: int32, 0, 9) {
  for (i: int32, 0, 4) {
    if (j < i) {
      B[i] = A[j]
    }
  }
}
)");
}

TEST(TrimLoops, NoIterationMayBeLeft) {
  EXPECT_EQ(trimmed(R"(
  for (i: int32, 8, 16) {
    if (i < 4) {
      B[i] = A[i]
    }
  })"),
            R"(for (i: int32, 8, 8) {
  B[i] = A[i]
}
)");
}

TEST(TrimLoops, LoopsWithoutASerialIdleTailKeepTheirExtent) {
  for (
      const char* body :
      {"for (i: int32, 0, 16) {\n  if (i < 4) {\n    B[i] = A[i]\n  } else {\n    B[i] = 0f32\n  }\n}\n",
       "for (i: int32, 0, 16) {\n  B[i] = 0f32\n  if (i < 4) {\n    B[i] = A[i]\n  }\n}\n",
       "for (i: int32, 0, 16) {\n  if (3 < i) {\n    B[i] = A[i]\n  }\n}\n",
       "for (i: int32, 0, 16) {\n  if (i < 20) {\n    B[i] = A[i]\n  }\n}\n",
       "for (i: int32, 0, 16) \"parallel\" {\n  if (i < 4) {\n    B[i] = A[i]\n  }\n}\n"})
    EXPECT_EQ(trimmed(body), body);
}

}  // namespace
}  // namespace tenon::lowering
