#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using test::normalized;

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

TEST(WidenIndexTypes, ArithmeticOfElementsWrapsAsBefore) {
  const std::string text = widened(R"(
for (i: int32, 3, (n + 3)) {
  A[i] = cast(float32, (cast(int32, A[i])*cast(int32, A[i])))
}
)");
  EXPECT_NE(text.find("i: int64, 3i64"), std::string::npos) << text;
  EXPECT_NE(text.find("(cast(int32, A[i])*cast(int32, A[i]))"), std::string::npos) << text;
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

}  // namespace
}  // namespace tenon::lowering
