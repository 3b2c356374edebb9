#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using test::function_text;
using test::normalized;

std::string cleaned(std::string_view body) { return test::run(remove_no_ops, function_text(body)); }

TEST(RemoveNoOps, EmptyLoopsConditionsAndAllocationsGo) {
  EXPECT_EQ(cleaned(R"(
  for (i: int32, 0, 8) {
    allocate(T: Pointer(global float32), float32, [8]), storage_scope = global;
    if (i < 4) {
      0
    }
  }
  B[0] = 1f32
  for (j: int32, 0, 0) {
    B[j] = 1f32
  }
)"),
            normalized("B[0] = 1f32\n"));
}

TEST(RemoveNoOps, AnEmptyElseGoesAnEmptyThenStays) {
  EXPECT_EQ(cleaned(R"(
  for (i: int32, 0, 8) {
    if (i < 4) {
      B[i] = 1f32
    } else {
      0
    }
    if (i < 4) {
      0
    } else {
      B[i] = 1f32
    }
  }
)"),
            normalized(R"(
for (i: int32, 0, 8) {
  if (i < 4) {
    B[i] = 1f32
  }
  if (i < 4) {
    0
  } else {
    B[i] = 1f32
  }
}
)"));
}

TEST(RemoveNoOps, EffectsOfOperandsStay) {
  EXPECT_EQ(cleaned(R"(
  for (i: int32, 0, @tir.call_extern("count", dtype=int32)) {
    A[0]
  }
)"),
            normalized("@tir.call_extern(\"count\", dtype=int32)\n"));
}

TEST(RemoveNoOps, ASkippedRegionGoes) {
  EXPECT_EQ(cleaned(R"(
  A[0] = 1f32
  attr [IterVar(i: int32, (nullptr), "DataPar", "")] "pragma_debug_skip_region" = 1;
  for (i, 0, 8) {
    B[i] = 1f32
  }
)"),
            normalized("A[0] = 1f32\n"));
}

TEST(RemoveNoOps, KnownTextsHaveNothingToRemove) {
  for (const test::KnownText& known : test::known_functions()) {
    // Put there after this pass, or by it.
    if (known.text.find("OUT OF THE BOUNDS") != std::string::npos ||
        known.text.find(", 0, -8)") != std::string::npos)
      continue;
    EXPECT_EQ(test::text_of(remove_no_ops(test::parse_function(known.text), {})), known.text)
        << known.name;
  }
}

}  // namespace
}  // namespace tenon::lowering
