#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using test::normalized;

/// `rows` is the size of A, `n` in it a symbol.
std::string narrowed(const std::string& rows, const std::string& body) {
  std::string first_rows = rows;
  if (const std::size_t symbol = rows.find('n'); symbol != rows.npos)
    first_rows.insert(symbol + 1, ": int64");
  return test::run(
      narrow_index_types,
      "@main = primfn(A_1: handle) -> ()\n"
      "  attr = {\"from_legacy_te_schedule\": True, \"global_symbol\": \"main\", \"tir.noalias\": True}\n"
      "  buffers = {A: Buffer(A_2: Pointer(float32), float32, [" +
          first_rows +
          "], [])}\n"
          "  buffer_map = {A_1: A}\n"
          "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [" +
          rows + "], [])} {\n" + body + "}\n");
}

TEST(NarrowIndexTypes, SmallLoopsBecomeInt32) {
  EXPECT_EQ(narrowed("2048i64", R"(
  for (i: int64, 0i64, 32i64) {
    for (j: int64, 0i64, 64i64) {
      A[((i*64i64) + j)] = 1f32
    }
  }
)"),
            normalized(R"(
for (i: int32, 0, 32) {
  for (j: int32, 0, 64) {
    A[((i*64) + j)] = 1f32
  }
}
)"));
}

TEST(NarrowIndexTypes, TheLastInt32PositionStillFits) {
  const std::string body = R"(
  for (i: int64, 0i64, 8i64) {
    for (j: int64, 0i64, 268435456i64) {
      A[((i*268435456i64) + j)] = 1f32
    }
  }
)";
  EXPECT_EQ(narrowed("2147483648i64", body), normalized(R"(
for (i: int32, 0, 8) {
  for (j: int32, 0, 268435456) {
    A[((i*268435456) + j)] = 1f32
  }
}
)"));
}

TEST(NarrowIndexTypes, OnePositionMoreNeedsInt64) {
  const std::string body = R"(
  for (i: int64, 0i64, 8i64) {
    for (j: int64, 0i64, 268435457i64) {
      A[((i*268435457i64) + j)] = 1f32
    }
  }
)";
  EXPECT_EQ(narrowed("2147483656i64", body), normalized(R"(
for (i: int64, 0i64, 8i64) {
  for (j: int64, 0i64, 268435457i64) {
    A[((i*268435457i64) + j)] = 1f32
  }
}
)"));
}

TEST(NarrowIndexTypes, ALoopThatEndsBeyondInt32StaysWide) {
  // All of its positions fit; what it counts up to does not.
  EXPECT_EQ(narrowed("2147483648i64", R"(
  for (i: int64, 2147483640i64, 2147483648i64) {
    A[i] = 1f32
  }
)"),
            normalized(R"(
for (i: int64, 2147483640i64, 2147483648i64) {
  A[i] = 1f32
}
)"));
}

TEST(NarrowIndexTypes, ASymbolicExtentStaysWide) {
  EXPECT_EQ(narrowed("(n - 2i64)", R"(
  for (i: int64, 0i64, (n - 2i64)) {
    A[i] = 1f32
  }
)"),
            normalized(R"(
for (i: int64, 0i64, (n - 2i64)) {
  A[i] = 1f32
}
)"));
}

TEST(NarrowIndexTypes, ElsewhereThanInIndicesTheVariableIsCastBack) {
  EXPECT_EQ(narrowed("64i64", R"(
  for (i: int64, 0i64, 64i64) {
    if (i < 30i64) {
      A[i] = cast(float32, i)
    }
  }
)"),
            normalized(R"(
for (i: int32, 0, 64) {
  if (cast(int64, i) < 30i64) {
    A[i] = cast(float32, i)
  }
}
)"));
}

TEST(NarrowIndexTypes, FunctionsOfInt32AreNotTouched) {
  const tir::PrimFunc func =
      test::parse_function(test::function_text("  for (i: int32, 0, 8) {\n    B[i] = A[i]\n  }\n"));
  EXPECT_TRUE(narrow_index_types(func, {}).body.same_as(func.body));
}

}  // namespace
}  // namespace tenon::lowering
