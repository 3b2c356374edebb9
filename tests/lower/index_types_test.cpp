// Passes that choose the width of indices.

#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

// ---- narrow_index_types -------------------------------------------------------------------------

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

// ---- widen_index_types --------------------------------------------------------------------------

/// A has n rows of m elements.
std::string widened(const std::string& body) {
  return test::run(
      widen_index_types,
      "@main = primfn(A_1: handle) -> ()\n"
      "  attr = {\"from_legacy_te_schedule\": True, \"global_symbol\": \"main\", \"tir.noalias\": True}\n"
      "  buffers = {A: Buffer(A_2: Pointer(float32), float32, [(n: int32*m: int32)], [])}\n"
      "  buffer_map = {A_1: A}\n"
      "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [n, m], [])} {\n" +
          body + "}\n");
}

TEST(WidenIndexTypes, LoopsOverProductsOfSizesCountIn64Bits) {
  EXPECT_EQ(widened(R"(
  for (f: int32, 0, (n*m)) {
    A[((floordiv(f, m)*m) + 1)] = cast(float32, (f*2))
  }
)"),
            normalized(R"(
for (f: int64, 0i64, (cast(int64, n)*cast(int64, m))) {
  A[((floordiv(f, cast(int64, m))*cast(int64, m)) + 1i64)] = cast(float32, cast(int32, (f*2i64)))
}
)"));
}

/// A of n rows, which may be broadcast.
std::string widened_strides(const std::string& body) {
  return test::run(
      widen_index_types,
      "@main = primfn(A_1: handle) -> ()\n"
      "  attr = {\"from_legacy_te_schedule\": True, \"global_symbol\": \"main\", \"tir.noalias\": True}\n"
      "  buffers = {A: Buffer(A_2: Pointer(float32), float32, [(stride: int32*n: int32)], [], type=\"auto\")}\n"
      "  buffer_map = {A_1: A}\n"
      "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [n], [stride], type=\"auto\")} {\n" +
          body + "}\n");
}

TEST(WidenIndexTypes, StridesThatMayBroadcastHave64Bits) {
  EXPECT_EQ(widened_strides(R"(
  A[stride] = 1f32
  for (i: int32, 0, n) {
    A[(i*stride)] = 1f32
  }
)"),
            normalized(R"(
A[stride] = 1f32
for (i: int32, 0, n) {
  A[(cast(int64, i)*stride)] = 1f32
}
)"));
}

TEST(WidenIndexTypes, AStrideThatIsAlsoAValueKeepsItsType) {
  EXPECT_EQ(widened_strides(R"(
  A[stride] = cast(float32, stride)
)"),
            normalized(R"(
A[stride] = cast(float32, stride)
)"));
}

TEST(WidenIndexTypes, OffsetsOfPointersDoNotWrap) {
  EXPECT_EQ(widened(R"(
  @tir.call_extern("f", @tir.tvm_access_ptr(@tir.type_annotation(, dtype=float32), A_2, (n*m), 8, 1, dtype=handle), dtype=int32)
)"),
            normalized(R"(
@tir.call_extern("f", @tir.tvm_access_ptr(@tir.type_annotation(, dtype=float32), A_2, (cast(int64, n)*cast(int64, m)), 8, 1, dtype=handle), dtype=int32)
)"));
}

TEST(WidenIndexTypes, LoopsThatFitKeepTheirTypeAndTheirIndicesDoNotWrap) {
  EXPECT_EQ(widened(R"(
  for (i: int32, 0, n) {
    for (j: int32, 0, m) {
      A[((i*m) + j)] = 1f32
    }
  }
)"),
            normalized(R"(
for (i: int32, 0, n) {
  for (j: int32, 0, m) {
    A[((cast(int64, i)*cast(int64, m)) + cast(int64, j))] = 1f32
  }
}
)"));
}

TEST(WidenIndexTypes, SizesRoundedUpDoNotWrap) {
  EXPECT_EQ(widened(R"(
  for (i.outer: int32, 0, floordiv((n + 23), 24)) {
    for (i.inner: int32, 0, 24) {
      if @tir.likely((((i.outer*24) + i.inner) < n), dtype=bool) {
        A[i.inner] = 1f32
      }
    }
  }
)"),
            normalized(R"(
for (i.outer: int32, 0, cast(int32, floordiv((cast(int64, n) + 23i64), 24i64))) {
  for (i.inner: int32, 0, 24) {
    if @tir.likely((((cast(int64, i.outer)*24i64) + cast(int64, i.inner)) < cast(int64, n)), dtype=bool) {
      A[i.inner] = 1f32
    }
  }
}
)"));
}

TEST(WidenIndexTypes, ExpressionsThatNameASizeDoNotWrap) {
  EXPECT_EQ(widened(R"(
  for (i: int32, 0, let c: int32 = (n*m) in floordiv((c + 3), 4)) {
    if let d: int32 = (n*m) in ((i*4) < d) {
      A[0] = let e: int32 = (i*m) in (A[e] + A[(e + 1)])
    }
  }
)"),
            normalized(R"(
for (i: int64, 0i64, let c: int64 = (cast(int64, n)*cast(int64, m)) in floordiv((c + 3i64), 4i64)) {
  if let d: int64 = (cast(int64, n)*cast(int64, m)) in ((i*4i64) < d) {
    A[0] = let e: int64 = (i*cast(int64, m)) in (A[e] + A[(e + 1i64)])
  }
}
)"));
}

// 2^26 times 32, of which the last is 2^31 - 1.
TEST(WidenIndexTypes, APowerOfTwoIsNoMoreThanReached) {
  EXPECT_EQ(widened(R"(
  for (i.outer: int32, 0, floordiv((n + 31), 32)) {
    for (i.inner: int32, 0, 32) {
      if @tir.likely((((i.outer*32) + i.inner) < n), dtype=bool) {
        A[i.inner] = 1f32
      }
    }
  }
)"),
            normalized(R"(
for (i.outer: int32, 0, cast(int32, floordiv((cast(int64, n) + 31i64), 32i64))) {
  for (i.inner: int32, 0, 32) {
    if @tir.likely((((i.outer*32) + i.inner) < n), dtype=bool) {
      A[i.inner] = 1f32
    }
  }
}
)"));
}

TEST(WidenIndexTypes, FactorsOfASizeOfMemoryStandSideBySide) {
  EXPECT_EQ(widened(R"(
  allocate(T: Pointer(global int8), int8, [(n*n)]), storage_scope = global {
    T_1: Buffer(T, int8, [(n*n)], [])[0] = 1i8
  }
)"),
            normalized(R"(
allocate(T: Pointer(global int8), int8, [cast(int64, n), cast(int64, n)]), storage_scope = global;
T_1: Buffer(T, int8, [(n*n)], [])[0] = 1i8
)"));
}

TEST(WidenIndexTypes, GuardsInValuesDoNotWrap) {
  EXPECT_EQ(widened(R"(
  for (i: int32, 0, n) {
    A[i] = select(((i*m) < n), 1f32, 2f32)
    A[i] = @tir.if_then_else((((i*m) < n) && (n < (i*m))), 1f32, 2f32, dtype=float32)
    A[i] = cast(float32, (cast(int32, ((i*m) < n)) + i))
  }
)"),
            normalized(R"(
for (i: int32, 0, n) {
  A[i] = select(((cast(int64, i)*cast(int64, m)) < cast(int64, n)), 1f32, 2f32)
  A[i] = @tir.if_then_else((((cast(int64, i)*cast(int64, m)) < cast(int64, n)) && (cast(int64, n) < (cast(int64, i)*cast(int64, m)))), 1f32, 2f32, dtype=float32)
  A[i] = cast(float32, (cast(int32, ((cast(int64, i)*cast(int64, m)) < cast(int64, n))) + i))
}
)"));
}

TEST(WidenIndexTypes, QuotientsOfIndicesInValuesDoNotWrap) {
  EXPECT_EQ(widened(R"(
  for (i: int32, 0, n) {
    A[i] = cast(float32, floordiv((i*m), 7))
  }
)"),
            normalized(R"(
for (i: int32, 0, n) {
  A[i] = cast(float32, cast(int32, floordiv((cast(int64, i)*cast(int64, m)), 7i64)))
}
)"));
}

TEST(WidenIndexTypes, IndicesThatAreCastToInt64DoNotWrap) {
  EXPECT_EQ(widened(R"(
  for (i: int32, 0, n) {
    let p: int64 = cast(int64, (i*m))
    if (p < cast(int64, n)) {
      A[cast(int64, (i*m))] = 1f32
    }
  }
)"),
            normalized(R"(
for (i: int32, 0, n) {
  let p: int64 = (cast(int64, i)*cast(int64, m))
  if (p < cast(int64, n)) {
    A[(cast(int64, i)*cast(int64, m))] = 1f32
  }
}
)"));
}

TEST(WidenIndexTypes, ChosenIndicesDoNotWrap) {
  EXPECT_EQ(widened(R"(
  for (i: int32, 0, n) {
    A[@tir.if_then_else((i < 5), (i*m), 0, dtype=int32)] = 1f32
    let c: int32 = select((i < 5), (i*m), 0)
    A[c] = 1f32
  }
)"),
            normalized(R"(
for (i: int32, 0, n) {
  A[@tir.if_then_else((i < 5), (cast(int64, i)*cast(int64, m)), 0i64, dtype=int64)] = 1f32
  let c: int64 = select((i < 5), (cast(int64, i)*cast(int64, m)), 0i64)
  A[c] = 1f32
}
)"));
}

TEST(WidenIndexTypes, ProductsOfLoopsOfConstantLengthDoNotWrap) {
  EXPECT_EQ(test::run(widen_index_types, test::function_text(R"(
  for (i: int32, 0, 50000) {
    B[0] = select(((i*50000) < 2147483647), A[0], 7f32)
  }
)")),
            normalized(R"(
for (i: int32, 0, 50000) {
  B[0] = select(((cast(int64, i)*50000i64) < 2147483647i64), A[0], 7f32)
}
)"));
}

TEST(WidenIndexTypes, ArithmeticOfElementsWrapsAsBefore) {
  const std::string text = widened(R"(
for (i: int32, 3, (n + 3)) {
  A[i] = cast(float32, (cast(int32, A[i])*cast(int32, A[i])))
}
)");
  EXPECT_NE(text.find("i: int64, 3i64"), std::string::npos) << text;
  EXPECT_NE(text.find("(cast(int32, A[i])*cast(int32, A[i]))"), std::string::npos) << text;
}

// A product of data wraps in its own type. Only an index of a buffer of symbolic size multiplies
// data by the length of a row, which must not wrap.
TEST(WidenIndexTypes, ProductsOfDataInIndicesOfConstantBuffersWrap) {
  const std::string text = widened(R"(
allocate(T: Pointer(global float32), float32, [4]), storage_scope = global {
  A[0] = T_1: Buffer(T, float32, [4], [])[(cast(int32, A[1])*-2147483648)]
  A[(cast(int32, A[1])*m)] = 0f32
}
)");
  EXPECT_NE(text.find("[(cast(int32, A[1])*-2147483648)]"), std::string::npos) << text;
  EXPECT_NE(text.find("A[(cast(int64, cast(int32, A[1]))*cast(int64, m))]"), std::string::npos)
      << text;
}

TEST(WidenIndexTypes, WhatFitsIsLeftAlone) {
  const std::string body = R"(
for (i: int32, 0, n) {
  for (j: int32, 0, 100) {
    A[((floormod(i, 64)*1000) + j)] = cast(float32, (i*j))
  }
}
)";
  EXPECT_EQ(widened(body), normalized(body));
}

TEST(WidenIndexTypes, IndicesOfThreadsAndNamesThatFitAreLeftAlone) {
  const std::string body = R"(
attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 64;
let c: int32 = (threadIdx.x*4)
A[((c*4) + let d: int32 = (c + 1) in (d*8))] = 1f32
)";
  EXPECT_EQ(widened(body), normalized(body));
}

TEST(WidenIndexTypes, VectorsOfIndicesThatFitAreLeftAlone) {
  const std::string body = R"(
for (i: int32, 0, 64) {
  A[(floordiv(ramp((i*4), 1, 4), broadcast(3, 4))*broadcast(9, 4))] = broadcast(1f32, 4)
}
)";
  EXPECT_EQ(widened(body), normalized(body));
}

}  // namespace
}  // namespace tenon::lowering
