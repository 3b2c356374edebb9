#include "tenon/lower/checks.h"

#include <gtest/gtest.h>

#include "lower/passes.h"
#include "pass_text.h"
#include "tenon/lower/pipeline.h"
#include "tenon/support/error.h"

namespace tenon::lowering {
namespace {

using tir::PrimFunc;

/// Four blocks `b` of eight threads `t` that share T and U, around the statements.
std::string launch(const std::string& statements) {
  return "allocate(T_1: Pointer(global float32), float32, [1024]), storage_scope = global;\n"
         "allocate(U_1: Pointer(global float32), float32, [1024]), storage_scope = global {\n"
         "attr [IterVar(b: int32, (nullptr), \"ThreadIndex\", \"blockIdx.x\")] \"thread_extent\" "
         "= 4;\n"
         "attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" "
         "= 8 {\n" +
         statements + "}\n}\n";
}

const std::string T = "T: Buffer(T_1, float32, [1024], [])";
const std::string U = "U: Buffer(U_1, float32, [1024], [])";

std::string refusal(const std::string& statements) {
  try {
    run_passes(device_passes(), test::parse_function(test::function_text(launch(statements))));
  } catch (const LowerError& e) {
    return e.what();
  }
  return "";
}

TEST(BlockRaces, RefuseAReadOfWhatAnotherBlockWrites) {
  const std::string error = refusal(T + "[((b*8) + t)] = A[t]\n B[((b*8) + t)] = T[t]\n");
  EXPECT_EQ(
      error,
      "stage `B` reads T[t], which another block of blockIdx.x may write at the same time: "
      "stage `T` writes T[((b*8) + t)]; blocks of a launch do not wait for each other; bind "
      "the loops of this kernel to threads of one block (threadIdx), or compute the stage that "
      "writes at the root, as a separate kernel");
}

TEST(BlockRaces, RefuseAReadByAllBlocksOfWhatOneOfThemWrites) {
  EXPECT_NE(refusal("if (b < 1) {\n" + T + "[t] = A[t]\n}\n B[((b*8) + t)] = T[t]\n"), "");
}

TEST(BlockRaces, RefuseAWriteByOneBlockOfWhatAnotherOneWrites) {
  EXPECT_EQ(
      refusal("if (b < 1) {\n" + T + "[t] = A[t]\n}\n T[((b*4) + t)] = 1f32\n")
          .find("stage `T` writes T[((b*4) + t)], which another block of blockIdx.x may write"),
      0u);
}

TEST(BlockRaces, AllowBlocksToWriteOtherElementsThanOneOfThem) {
  EXPECT_EQ(refusal("if (b < 1) {\n" + T + "[t] = A[t]\n}\n T[(((b*8) + t) + 8)] = 1f32\n"), "");
}

TEST(BlockRaces, AllowABlockToReadWhatItWrites) {
  EXPECT_EQ(refusal(T + "[((b*8) + t)] = A[t]\n B[((b*8) + t)] = T[((b*8) + (7 - t))]\n"), "");
}

TEST(BlockRaces, AllowReadsByTheOnlyBlockThatWrites) {
  EXPECT_EQ(refusal("if (b == 2) {\n" + T + "[t] = A[t]\n B[t] = T[(7 - t)]\n}\n"), "");
}

TEST(BlockRaces, AllowReadsOfWhatEveryBlockHasComputedBefore) {
  EXPECT_EQ(refusal(T + "[0] = A[0]\n for (i: int32, 0, 8) {\n T[(i + 1)] = (T[i]*2f32)\n }\n"
                        " B[((b*8) + t)] = T[t]\n"),
            "");
}

TEST(BlockRaces, RefuseAScanOfWhichOneBlockComputesAState) {
  const std::string states = T + "[0] = A[0]\n " + U + "[0] = A[0]\n for (i: int32, 0, 8) {\n";
  const std::string error =
      refusal(states + " T[(i + 1)] = (T[i] + U[i])\n if (b < 1) {\n U[(i + 1)] = U[i]\n }\n }\n");
  EXPECT_NE(error.find("stage `T` reads U[i], which another block of blockIdx.x may write"),
            std::string::npos)
      << error;
  EXPECT_EQ(refusal(states + " T[(i + 1)] = (T[i] + U[i])\n U[(i + 1)] = U[i]\n }\n"), "");
}

// Block 1 may set the sum to 0 when block 0 has added to it.
TEST(BlockRaces, RefuseASumThatEveryBlockComputes) {
  EXPECT_NE(refusal(T + "[0] = 0f32\n for (k: int32, 0, 8) {\n T[0] = (T[0] + A[k])\n }\n"), "");
}

TEST(BlockRaces, AllowASumOfEachBlock) {
  EXPECT_EQ(refusal(T + "[((b*8) + t)] = 0f32\n for (k: int32, 0, 8) {\n"
                        " T[((b*8) + t)] = (T[((b*8) + t)] + A[k])\n }\n"),
            "");
}

// Block 0 may have changed the element before block 1 reads it.
TEST(BlockRaces, RefuseWhatEveryBlockReadsAndThenOverwrites) {
  EXPECT_NE(refusal("B[((b*8) + t)] = " + T + "[0]\n T[0] = A[0]\n"), "");
}

TEST(BlockRaces, RefuseWhatEveryBlockComputesFromWhatDiffers) {
  EXPECT_NE(refusal("allocate(L_1: Pointer(local float32), float32, [1]), storage_scope = local {\n"
                    "L: Buffer(L_1, float32, [1], [], scope=\"local\")[0] = A[b]\n" +
                    T + "[t] = L[0]\n B[((b*8) + t)] = T[(7 - t)]\n}\n"),
            "");
}

TEST(BlockRaces, AreNotSoughtBetweenKernels) {
  const std::string first =
      "attr [IterVar(b: int32, (nullptr), \"ThreadIndex\", \"blockIdx.x\")] \"thread_extent\" = 4 "
      "{\n B[b] = A[b]\n}\n";
  const std::string second =
      "attr [IterVar(c: int32, (nullptr), \"ThreadIndex\", \"blockIdx.x\")] \"thread_extent\" = 4 "
      "{\n B[(c + 8)] = B[(3 - c)]\n}\n";
  EXPECT_NO_THROW(
      run_passes(device_passes(), test::parse_function(test::function_text(first + second))));
}

TEST(BlockRaces, AllowEachBlockItsColumnsOfARowOfSymbolicLength) {
  const PrimFunc func = test::parse_function(
      "@main = primfn(A_1: handle) -> ()\n  attr = {\"global_symbol\": \"main\"}\n"
      "  buffers = {A: Buffer(A_2: Pointer(float32), float32, [(8*n: int32)], [])}\n"
      "  buffer_map = {A_1: A}\n"
      "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [8, n], [])} {\n"
      "  attr [IterVar(b: int32, (nullptr), \"ThreadIndex\", \"blockIdx.x\")] \"thread_extent\" = "
      "floordiv((n + 7), 8);\n"
      "  attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = "
      "8;\n"
      "  for (i: int32, 0, 7) {\n    if (((b*8) + t) < n) {\n"
      "      A[((((i + 1)*n) + (b*8)) + t)] = A[(((i*n) + (b*8)) + t)]\n    }\n  }\n}\n");
  EXPECT_NO_THROW(run_passes(device_passes(), func));
}

TEST(ThreadRaces, RefuseAnElementThatEachThreadGivesItsOwnValue) {
  const std::string error = refusal(T + "[b] = A[t]\n B[((b*8) + t)] = T[b]\n");
  EXPECT_NE(error.find("all threads of `threadIdx.x` write T[b] of scope \"global\", which they "
                       "share, with different values (A[t])"),
            std::string::npos)
      << error;
}

TEST(ThreadRaces, AllowAnElementThatOneThreadWrites) {
  EXPECT_EQ(refusal("if (t == 0) {\n" + T + "[b] = (A[t] + 1f32)\n}\n B[((b*8) + t)] = T[b]\n"),
            "");
}

TEST(ThreadRaces, AllowAnElementThatAllThreadsGiveTheSameValue) {
  EXPECT_EQ(refusal(T + "[b] = A[b]\n B[((b*8) + t)] = T[b]\n"), "");
}

TEST(ThreadRaces, RefuseAReadOfWhatAnotherThreadWritesInTheSameStatement) {
  const std::string error = refusal(T + "[((b*16) + t)] = (T[(((b*16) + t) + 1)] + 1f32)\n");
  EXPECT_NE(error.find("while another may still read it to compute"), std::string::npos) << error;
}

TEST(ThreadRaces, RefuseAReadAtADistanceThatVaries) {
  EXPECT_NE(refusal(T + "[((b*8) + t)] = T[(((b*8) + 7) - t)]\n").find("threads of a block race"),
            std::string::npos);
}

TEST(ThreadRaces, RefuseAReadOfANeighborBySomeOfTheThreads) {
  EXPECT_NE(refusal("if (t < 6) {\n" + T + "[((b*8) + t)] = T[(((b*8) + t) + 1)]\n}\n")
                .find("threads of a block race"),
            std::string::npos);
}

/// Wraps the statements in an allocation of local memory `L`.
std::string with_own_memory(const std::string& statements) {
  return "allocate(L_1: Pointer(local float32), float32, [8]), storage_scope = local {\n"
         "L: Buffer(L_1, float32, [8], [], scope=\"local\")" +
         statements + "}\n";
}

TEST(ThreadRaces, RefuseAValueOfEachThreadThatOwnMemoryCarries) {
  EXPECT_NE(refusal(with_own_memory("[0] = A[t]\n" + T + "[b] = L[0]\n B[((b*8) + t)] = T[b]\n"))
                .find("all threads of `threadIdx.x` write T[b]"),
            std::string::npos);
}

TEST(ThreadRaces, AllowAValueOfAllThreadsThatOwnMemoryCarries) {
  EXPECT_EQ(refusal(with_own_memory("[0] = A[t]\n" + U + "[((b*8) + t)] = L[0]\n L[0] = A[b]\n" +
                                    T + "[b] = L[0]\n B[((b*8) + t)] = T[b]\n")),
            "");
}

TEST(ThreadRaces, RefuseAReadOfOwnMemoryThatOnlyOtherThreadsWrite) {
  EXPECT_EQ(refusal(with_own_memory("[t] = A[t]\n B[((b*8) + t)] = L[(7 - t)]\n"))
                .find("each thread has its own `L_1`, of scope \"local\", and the thread "
                      "threadIdx.x = 0 reads element 7 of it, which it does not write"),
            0u);
}

TEST(ThreadRaces, RefuseAPermutationOfOwnMemoryThatKeepsTheEnds) {
  const std::string swap = "select((t == 3), 4, select((t == 4), 3, t))";
  EXPECT_EQ(refusal(with_own_memory("[t] = A[t]\n B[((b*8) + t)] = L[" + swap + "]\n"))
                .find("each thread has its own `L_1`, of scope \"local\", and the thread "
                      "threadIdx.x = 3 reads element 4 of it, which it does not write"),
            0u);
}

TEST(ThreadRaces, RefuseAReadOfOwnMemoryWhoseWriteTheThreadSkips) {
  EXPECT_NE(refusal(with_own_memory("[0] = 0f32\n if (t < 4) {\n L[1] = A[t]\n}\n"
                                    "B[((b*8) + t)] = L[1]\n"))
                .find("the thread threadIdx.x = 7 reads element 1 of it, which it does not write"),
            std::string::npos);
}

/// A launch of two axes `y` and `x` whose threads use the memory M of 64 elements.
std::string refusal_of_copies(const std::string& scope, const std::string& tag_of_y,
                              const std::string& statements) {
  const auto axis = [](const std::string& name, const std::string& tag, const std::string& extent) {
    return "attr [IterVar(" + name + ": int32, (nullptr), \"ThreadIndex\", \"" + tag +
           "\")] \"thread_extent\" = " + extent;
  };
  const std::string text = test::function_text(
      axis("y", tag_of_y, "2") + ";\n" + axis("x", "threadIdx.x", "32") +
      " {\nallocate(M_1: Pointer(" + scope + " float32), float32, [64]), storage_scope = " + scope +
      " {\nM: Buffer(M_1, float32, [64], [], scope=\"" + scope + "\")" + statements + "}\n}\n");
  try {
    run_passes(device_passes(), test::parse_function(text));
  } catch (const LowerError& e) {
    return e.what();
  }
  return "";
}

TEST(ThreadRaces, RefuseAReadOfWhatOnlyAnotherWarpWrites) {
  EXPECT_EQ(refusal_of_copies("warp", "threadIdx.y",
                              "[((y*32) + x)] = A[x]\n B[((y*32) + x)] = M[(63 - ((y*32) + x))]\n"),
            "each warp has its own `M_1`, of scope \"warp\", and the warp threadIdx.y = 0 reads "
            "element 63 of it, which it does not write; keep `M_1` in scope \"shared\"");
}

TEST(ThreadRaces, RefuseAReadOfWhatOnlyAnotherBlockWrites) {
  EXPECT_EQ(refusal_of_copies("shared", "blockIdx.y",
                              "[((y*32) + x)] = A[x]\n B[((y*32) + x)] = M[((32 - (y*32)) + x)]\n"),
            "each block has its own `M_1`, of scope \"shared\", and the block blockIdx.y = 0 reads "
            "element 32 of it, which it does not write; compute `M_1` at the root, in scope "
            "\"global\"");
}

TEST(ThreadRaces, AllowAReadOfWhatOtherThreadsOfTheWarpOrBlockWrite) {
  const std::string own = "[((y*32) + x)] = A[x]\n B[((y*32) + x)] = M[((y*32) + (31 - x))]\n";
  EXPECT_EQ(refusal_of_copies("warp", "threadIdx.y", own), "");
  EXPECT_EQ(refusal_of_copies("shared", "blockIdx.y", own), "");
}

TEST(HoistThreadAxes, EveryThreadWritesItsOwnCopyOutsideOfTheAxis) {
  const auto hoisted = [](const std::string& scope) {
    const std::string axis = "attr [IterVar(x: int32, (nullptr), \"ThreadIndex\", \"";
    return test::run(
        hoist_thread_axes,
        test::function_text(axis +
                            "blockIdx.x\")] \"thread_extent\" = 2 {\n"
                            "allocate(M_1: Pointer(" +
                            scope + " float32), float32, [4]), storage_scope = " + scope +
                            " {\nM: Buffer(M_1, float32, [4], [], scope=\"" + scope +
                            "\")[0] = A[0]\n"
                            "attr [IterVar(y: int32, (nullptr), \"ThreadIndex\", "
                            "\"threadIdx.y\")] \"thread_extent\" = 4;\n"
                            "attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", "
                            "\"threadIdx.x\")] \"thread_extent\" = 32 {\n"
                            "B[((y*32) + t)] = M[0]\n}\n}\n}\n"));
  };
  const std::string shared = hoisted("shared"), warp = hoisted("warp"), local = hoisted("local");
  EXPECT_NE(shared.find("if (t == 0)"), std::string::npos) << shared;
  EXPECT_NE(shared.find("if (y == 0)"), std::string::npos) << shared;
  EXPECT_NE(warp.find("if (t == 0)"), std::string::npos) << warp;
  EXPECT_EQ(warp.find("if (y == 0)"), std::string::npos) << warp;
  EXPECT_EQ(local.find("if ("), std::string::npos) << local;
}

TEST(ThreadRaces, AllowAReadOfOwnMemoryThatTheThreadWrites) {
  EXPECT_EQ(refusal(with_own_memory("[t] = A[t]\n B[((b*8) + t)] = L[t]\n")), "");
  EXPECT_EQ(refusal(with_own_memory("[t] = A[t]\n for (k: int32, 0, 8) {\n if (k == t) {\n"
                                    "B[((b*8) + t)] = L[k]\n}\n}\n")),
            "");
}

TEST(ThreadRaces, AllowAReadOfOwnMemoryBehindAConditionThatSkipsOtherElements) {
  EXPECT_EQ(refusal(with_own_memory("[t] = A[t]\n for (k: int32, 0, 8) {\n L[k] = A[k]\n}\n"
                                    "if ((t < 7) && (0f32 < L[(t + 1)])) {\n"
                                    "B[((b*8) + t)] = 1f32\n}\n")),
            "");
}

TEST(ThreadRaces, AllowAnElementOfOwnMemoryThatIsAlikeInAllThreads) {
  EXPECT_EQ(refusal(with_own_memory("[0] = A[t]\n L[1] = 1f32\n" + T +
                                    "[b] = L[1]\n B[((b*8) + t)] = (T[b] + L[0])\n")),
            "");
}

TEST(ThreadRaces, RefuseAValueOfEachThreadThatALetNames) {
  EXPECT_NE(refusal("let v: float32 = (A[b] + cast(float32, t)) {\n" + T +
                    "[b] = v\n B[((b*8) + t)] = T[b]\n}\n")
                .find("all threads of `threadIdx.x` write T[b]"),
            std::string::npos);
}

TEST(ThreadRaces, ALaunchWithoutThreadsIsAllowed) {
  const std::string axis = "attr [IterVar(";
  const std::string no_threads =
      axis + "x: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 0;\n" +
      axis + "y: int32, (nullptr), \"ThreadIndex\", \"threadIdx.y\")] \"thread_extent\" = 4 {\n" +
      "B[((x*4) + y)] = B[(((x*4) + y) + 1)]\n}\n";
  EXPECT_NO_THROW(
      run_passes(device_passes(), test::parse_function(test::function_text(no_threads))));
}

TEST(ThreadRaces, AllowATreeOfSums) {
  EXPECT_EQ(
      refusal("allocate(S_1: Pointer(shared float32), float32, [8]), storage_scope = shared {\n"
              "for (k: int32, 0, 3) {\n if (t < @tir.shift_right(4, k, dtype=int32)) {\n"
              "S: Buffer(S_1, float32, [8], [], scope=\"shared\")[t] = "
              "(S[t] + S[(t + @tir.shift_right(4, k, dtype=int32))])\n}\n}\n}\n")
          .find("race:"),
      std::string::npos);
}

TEST(ThreadRaces, AllowHalvesThatSwapTheirRoles) {
  EXPECT_EQ(refusal("for (k: int32, 0, 4) {\n" + T +
                    "[((b*16) + ((floormod((k + 1), 2)*8) + t))] = T[((b*16) + ((floormod(k, 2)*8) "
                    "+ (7 - t)))]\n}\n"),
            "");
}

TEST(ThreadRaces, AllowReadsOfElementsThatNoThreadWritesThere) {
  EXPECT_EQ(refusal("if (t < 4) {\n B[((b*8) + t)] = B[(((b*8) + t) + 4)]\n}\n"), "");
  EXPECT_EQ(refusal("B[(((b*8) + t)*2)] = B[((((b*8) + t)*2) + 1)]\n"), "");
  EXPECT_EQ(refusal("if (floormod(t, 2) == 0) {\n" + T + "[t] = T[(t + 1)]\n}\n").find("race"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::lowering
