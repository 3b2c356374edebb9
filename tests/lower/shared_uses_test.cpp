#include "lower/gpu/shared_uses.h"

#include <gtest/gtest.h>

#include "lower/passes.h"
#include "pass_text.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// Barriers in a kernel of 32 threads `t`.
int barriers_in(const std::string& body) {
  const std::string text = test::function_text(
      "  attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 32 {\n" +
      body + "  }\n");
  const PrimFunc func = synchronize_threads(test::parse_function(text), {});
  int barriers = 0;
  walk(func.body, [&](const Call& call) { barriers += call.is(Intrin::tvm_storage_sync); });
  return barriers;
}

TEST(SharedUses, GlobalMemoryThatOtherThreadsHaveWrittenIsWaitedFor) {
  EXPECT_EQ(barriers_in("      B[t] = A[t]\n      B[(t + 32)] = B[(31 - t)]\n"), 1);
}

TEST(SharedUses, NobodyWaitsForItsOwnElementsOfGlobalMemory) {
  EXPECT_EQ(barriers_in("      B[t] = 0f32\n      for (k: int32, 0, 8) {\n"
                        "        B[t] = (B[t] + A[((t*8) + k)])\n      }\n"),
            0);
}

/// The statements with a matrix of 16 x 16 sums, and 1024 floats of the block beside it.
int barriers_of_matrices(const std::string& body) {
  return barriers_in(
      "    allocate(S_1: Pointer(shared float32), float32, [1024]), storage_scope = shared {\n"
      "    allocate(F: Pointer(wmma.accumulator float32), float32, [256]), storage_scope = "
      "wmma.accumulator {\n" +
      body + "    }\n    }\n");
}

/// Loads or stores a matrix in S from there on, whose rows are so far apart.
std::string matrix(bool is_store, const std::string& from, int stride) {
  return std::string("      @tir.") + (is_store ? "tvm_store" : "tvm_load") +
         "_matrix_sync(F, 16, 16, 16, 0, "
         "@tir.tvm_access_ptr(@tir.type_annotation(, dtype=float32), S_1, " +
         from + ", 256, " + (is_store ? "2" : "1") + ", dtype=handle), " + std::to_string(stride) +
         ", \"row_major\", dtype=handle)\n";
}

TEST(SharedUses, AMatrixThatThreadsReadIsWaitedFor) {
  const std::string read =
      "      B[t] = S: Buffer(S_1, float32, [1024], [], scope=\"shared\")[t]\n";
  EXPECT_EQ(barriers_of_matrices(matrix(true, "0", 16) + read), 1);
  EXPECT_EQ(barriers_of_matrices(matrix(true, "512", 16) + read), 0);
}

TEST(SharedUses, WhatThreadsHaveWrittenIsWaitedForBeforeAMatrixIsLoaded) {
  const std::string fill =
      "      S: Buffer(S_1, float32, [1024], [], scope=\"shared\")[t] = A[t]\n";
  EXPECT_EQ(barriers_of_matrices(fill + matrix(false, "0", 16)), 1);
  EXPECT_EQ(barriers_of_matrices(fill + matrix(false, "32", 16)), 0);
}

TEST(SharedUses, MatricesSideBySideAreStoredWithoutWaiting) {
  const auto stored = [](int columns) {
    return barriers_of_matrices("      for (j: int32, 0, 2) {\n" +
                                matrix(true, "(j*" + std::to_string(columns) + ")", 32) +
                                "      }\n");
  };
  EXPECT_EQ(stored(16), 0);
  EXPECT_EQ(stored(8), 1);
}

}  // namespace
}  // namespace tenon::lowering
