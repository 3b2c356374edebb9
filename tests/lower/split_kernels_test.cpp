#include "tenon/lower/split_kernels.h"

#include <gtest/gtest.h>

#include <numeric>

#include "lower/passes.h"
#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/lower/pipeline.h"
#include "tenon/support/error.h"
#include "tenon/tir/launch.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

std::string threads(const std::string& var, const std::string& tag, const std::string& extent,
                    const std::string& body) {
  return "attr [IterVar(" + var + ": int32, (nullptr), \"ThreadIndex\", \"" + tag +
         "\")] \"thread_extent\" = " + extent + " {\n" + body + "}\n";
}

PrimFunc program(const std::string& body) {
  return test::parse_function(test::function_text(body));
}

DeviceProgram split(const std::string& body, const TargetFacts& target = {}) {
  return split_kernels(run_passes(device_passes(), program(body)), target);
}

/// B after the function, with A = 0, 1, 2, ...
std::vector<float> result_of(const PrimFunc& func, bool check_races) {
  std::vector<float> a(1024), b(1024, -1);
  std::iota(a.begin(), a.end(), 0.0f);
  const std::vector<HostValue> args{HostArray{a.data(), Float(32), {1024}},
                                    HostArray{b.data(), Float(32), {1024}}};
  evaluate(func, args, {.check_races = check_races});
  return b;
}

/// The split program, its kernels verified, computes what the function does.
void expect_same(const std::string& body, std::size_t kernels) {
  const DeviceProgram program_of_device = split(body);
  EXPECT_EQ(program_of_device.kernels.size(), kernels);
  for (const PrimFunc& kernel : program_of_device.kernels) {
    for (const Violation& v : verify(kernel, Form::Lowered)) ADD_FAILURE() << v.what << v.where;
    for (const Violation& v : verify_kernel(kernel)) ADD_FAILURE() << v.what << ": " << v.where;
  }
  for (const Violation& v : verify(program_of_device.host, Form::Lowered))
    ADD_FAILURE() << v.what << v.where;
  EXPECT_EQ(result_of(join_kernels(program_of_device), true), result_of(program(body), false))
      << print_function(program_of_device.kernels.front());
}

std::string refusal(const std::string& body, const TargetFacts& target = {}) {
  try {
    split(body, target);
  } catch (const LowerError& e) {
    return e.what();
  }
  return "";
}

// Kernels have no vectors for parameters.
TEST(SplitKernels, AVectorOfTheHostIsComputedInEachKernel) {
  const std::string body =
      "let v: int32x4 = ramp(3, 2, 4)\n" +
      threads("t", "threadIdx.x", "8", "B[ramp((t*4), 1, 4)] = cast(float32x4, v)\n");
  expect_same(body, 1);
  const DeviceProgram p = split(body);
  for (const Var& param : p.kernels.front().params)
    EXPECT_TRUE(param.dtype().is_scalar()) << param.name();
}

TEST(SplitKernels, AnAddBecomesALaunchAndAKernel) {
  const DeviceProgram p = split(
      threads("b", "blockIdx.x", "32",
              threads("t", "threadIdx.x", "32", "B[((b*32) + t)] = (A[((b*32) + t)] + 1f32)\n")));
  EXPECT_EQ(test::body_text(p.host),
            "@tir.launch_kernel(\"main_kernel0\", 32, 1, 1, 32, 1, 1, 0, A_2, B_2, "
            "dtype=int32)\n");
  ASSERT_EQ(p.kernels.size(), 1u);
  const PrimFunc& kernel = p.kernels[0];
  EXPECT_EQ(kernel.attrs.global_symbol, "main_kernel0");
  ASSERT_EQ(kernel.params.size(), 2u);
  ASSERT_EQ(kernel.buffers.size(), 2u);
  EXPECT_EQ(kernel.buffers[0].buffer->name, "A");
  EXPECT_EQ(kernel.buffers[1].buffer->name, "B");
}

TEST(SplitKernels, KernelsComputeWhatTheFunctionDoes) {
  const std::string add = "B[((b*32) + t)] = (A[((b*32) + t)] + 1f32)\n";
  expect_same(threads("b", "blockIdx.x", "32", threads("t", "threadIdx.x", "32", add)), 1);
}

TEST(SplitKernels, EveryOutermostNestIsAKernel) {
  const std::string first = threads("b", "blockIdx.x", "32",
                                    threads("t", "threadIdx.x", "32", "B[((b*32) + t)] = A[t]\n"));
  const std::string second = threads(
      "c", "blockIdx.x", "16",
      threads("u", "threadIdx.x", "64", "B[((c*64) + u)] = (B[((c*64) + u)] + A[((c*64) + u)])\n"));
  expect_same(first + second, 2);
}

TEST(SplitKernels, MemoryBetweenKernelsStaysWithTheHost) {
  const std::string first =
      threads("b", "blockIdx.x", "1024", "T: Buffer(T_1, float32, [1024], [])[b] = (A[b]*2f32)\n");
  const std::string second = threads("c", "blockIdx.x", "1024", "B[c] = (T[(1023 - c)] + A[c])\n");
  const std::string body =
      "allocate(T_1: Pointer(global float32), float32, [1024]), storage_scope = global {\n" +
      first + second + "}\n";
  expect_same(body, 2);
  const DeviceProgram p = split(body);
  ASSERT_EQ(p.kernels[1].params.size(), 3u);
  // Arrays of the caller's first.
  EXPECT_EQ(Var::of(p.kernels[1].params[2]).name(), "T_1");
  EXPECT_NE(p.host.body.as<Allocate>(), nullptr);
}

TEST(SplitKernels, AKernelFindsWhatTheHostHasDoneBefore) {
  // Run by the interpreter, which must not take the host for one of the threads.
  const PrimFunc func =
      program("B[1] = A[1]\n" + threads("t", "threadIdx.x", "32", "B[(t + 32)] = B[1]\n"));
  EXPECT_EQ(result_of(func, true)[40], 1.0f);
}

TEST(SplitKernels, ALoopOfTheHostLaunchesOverAndOver) {
  const std::string body = "for (i: int32, 0, 32) {\n" +
                           threads("t", "threadIdx.x", "32", "B[((i*32) + t)] = (A[t] + A[i])\n") +
                           "}\n";
  expect_same(body, 1);
  const DeviceProgram p = split(body);
  ASSERT_EQ(p.kernels[0].params.size(), 3u);
  EXPECT_EQ(p.kernels[0].params[2].name(), "i");
}

TEST(SplitKernels, OneTagInSeveralNestsIsOneAxis) {
  const std::string shared =
      "allocate(S_1: Pointer(shared float32), float32, [64]), storage_scope = shared {\n";
  expect_same(
      threads("b", "blockIdx.x", "32",
              shared +
                  threads("t", "threadIdx.x", "64",
                          "S: Buffer(S_1, float32, [64], [], scope=\"shared\")[t] = A[t]\n") +
                  threads("u", "threadIdx.x", "32", "B[((b*32) + u)] = S[(63 - u)]\n") + "}\n"),
      1);
}

TEST(SplitKernels, WhatStandsOutsideOfAnAxisOfTheBlockRunsOnce) {
  // Were the sum added up by all 32 threads, it would be 32 times as large.
  const std::string shared =
      "allocate(S_1: Pointer(shared float32), float32, [1]), storage_scope = shared {\n";
  expect_same(threads("b", "blockIdx.x", "32",
                      shared +
                          "S: Buffer(S_1, float32, [1], [], scope=\"shared\")[0] = 0f32\n"
                          "for (k: int32, 0, 8) {\n S[0] = (S[0] + A[((b*8) + k)])\n}\n" +
                          threads("t", "threadIdx.x", "32", "B[((b*32) + t)] = S[0]\n") + "}\n"),
              1);
}

/// Were the new value computed by all threads, they would have to wait for each other in each
/// iteration before the first one stores it.
TEST(SplitKernels, ANewValueIsComputedByTheOneThreadThatStoresIt) {
  const std::string body =
      threads("b", "blockIdx.x", "32",
              "allocate(S_1: Pointer(shared float32), float32, [2]), storage_scope = shared {\n"
              "S: Buffer(S_1, float32, [2], [], scope=\"shared\")[0] = 0f32\n"
              "S[1] = 0f32\n"
              "for (k: int32, 0, 8) {\n"
              "let next: float32 = (S[1] + (S[0]*A[((b*8) + k)]))\n {\n"
              "S[0] = (S[0] + A[((b*8) + k)])\nS[1] = next\n}\n}\n" +
                  threads("t", "threadIdx.x", "32", "B[((b*32) + t)] = (S[0] + S[1])\n") + "}\n");
  expect_same(body, 1);
  int barriers = 0;
  walk(split(body).kernels.front().body,
       [&](const Call& n) { barriers += n.is(Intrin::tvm_storage_sync); });
  // Before the threads read both.
  EXPECT_EQ(barriers, 1);
}

TEST(SplitKernels, SharedMemoryIsFilledInEveryBlockOfAnAxisInside) {
  const std::string shared =
      "allocate(S_1: Pointer(shared float32), float32, [32]), storage_scope = shared {\n";
  expect_same(
      threads(
          "b", "blockIdx.x", "4",
          shared +
              threads(
                  "t", "threadIdx.x", "32",
                  "S: Buffer(S_1, float32, [32], [], scope=\"shared\")[t] = A[((b*32) + t)]\n") +
              threads("c", "blockIdx.y", "8",
                      threads("u", "threadIdx.x", "32",
                              "B[(((b*256) + (c*32)) + u)] = S[(31 - u)]\n")) +
              "}\n"),
      1);
}

TEST(SplitKernels, BlocksCannotWaitForWhatOneOfThemWrites) {
  const std::string body = threads(
      "b", "blockIdx.x", "4",
      threads("t", "threadIdx.x", "32", "B[((b*32) + t)] = A[t]\n") +
          threads("c", "blockIdx.y", "2",
                  threads("u", "threadIdx.x", "32",
                          "B[((((c*4) + b)*32) + u)] = (B[((b*32) + (31 - u))] + 1f32)\n")));
  EXPECT_NE(refusal(body).find("another block of blockIdx.y may write at the same time"),
            std::string::npos)
      << refusal(body);
}

TEST(SplitKernels, TheHostCannotReachMemoryOfTheDevice) {
  const std::string text = refusal("for (i: int32, 0, 8) {\n B[i] = A[i]\n}\n");
  EXPECT_EQ(text,
            "stage `B` is not bound to any thread: its loops `i` run on the host, which cannot "
            "reach memory of the device; bind one of them, as in `s[B].bind(i, "
            "te::thread_axis(\"blockIdx.x\"))`");
}

TEST(SplitKernels, MoreThreadsThanABlockHasAreRefused) {
  const std::string body = threads("t", "threadIdx.x", "64",
                                   threads("u", "threadIdx.y", "16", "B[((u*64) + t)] = A[t]\n"));
  TargetFacts target;
  target.max_threads_per_block = 256;
  EXPECT_EQ(refusal(body, target),
            "stage `B`: a block (`threadIdx.x` of 64, `threadIdx.y` of 16) has 1024 threads; the "
            "target has at most 256; split the axes by smaller factors");
  target.max_threads_per_block = 1024;
  EXPECT_EQ(refusal(body, target), "");
}

TEST(SplitKernels, MoreSharedMemoryThanABlockHasIsRefused) {
  const std::string body = threads(
      "t", "threadIdx.x", "64",
      "allocate(S_1: Pointer(shared float32), float32, [64]), storage_scope = shared {\n"
      "S: Buffer(S_1, float32, [64], [], scope=\"shared\")[t] = A[t]\nB[t] = S[(63 - t)]\n}\n");
  TargetFacts target;
  target.max_shared_bytes = 255;
  EXPECT_EQ(refusal(body, target),
            "stage `B`: shared memory of a block (`S_1` 256) takes 256 bytes; the target has at "
            "most 255; stage smaller tiles, at a loop further inside");
  target.max_shared_bytes = 256;
  EXPECT_EQ(refusal(body, target), "");
}

TEST(SplitKernels, MoreMemoryOfAThreadsOwnThanCudaGivesIsRefused) {
  const auto body = [](int floats) {
    const std::string size = std::to_string(floats);
    return threads("t", "threadIdx.x", "64",
                   "allocate(L_1: Pointer(local float32), float32, [" + size +
                       "]), storage_scope = local {\nL: Buffer(L_1, float32, [" + size +
                       "], [], scope=\"local\")[0] = A[t]\nB[t] = L[0]\n}\n");
  };
  TargetFacts target;
  target.kind = TargetKind::Cuda;
  EXPECT_EQ(refusal(body(131072), target), "");
  EXPECT_EQ(refusal(body(131073), target),
            "stage `B`: the local memory of a thread (`L_1` 524292) takes 524292 bytes; the "
            "target has at most 524288; compute the stages at loops further inside, or keep them "
            "in global memory");
}

// 4*(2*3 + 8) bytes in the last block.
TEST(SplitKernels, SharedMemoryThatGrowsWithTheBlockCountsAsItsGreatest) {
  const std::string body = threads(
      "b", "blockIdx.x", "4",
      threads("t", "threadIdx.x", "8",
              "allocate(S_1: Pointer(shared float32), float32, [((b*2) + 8)]), storage_scope = "
              "shared {\n"
              "S: Buffer(S_1, float32, [14], [], scope=\"shared\")[t] = A[t]\n"
              "B[((b*8) + t)] = S[(7 - t)]\n}\n"));
  TargetFacts target;
  target.max_shared_bytes = 56;
  EXPECT_EQ(refusal(body, target), "");
  target.max_shared_bytes = 55;
  EXPECT_EQ(refusal(body, target),
            "stage `B`: shared memory of a block (`S_1` 56) takes 56 bytes; the target has at "
            "most 55; stage smaller tiles, at a loop further inside");
}

TEST(SplitKernels, SizesOfTheCallAreParametersAndCheckedBeforeAnythingRuns) {
  PrimFunc func = program(threads("t", "threadIdx.x", "64", "B[t] = A[t]\n"));
  const Var n("n");
  func.params.push_back(n);
  const Attr& attr = *func.body.as<Attr>();
  func.body = make_stmt(Attr{attr.kind, attr.subject, "", n, attr.body});
  TargetFacts target;
  target.max_threads_per_block = 128;
  const DeviceProgram p = split_kernels(run_passes(device_passes(), func), target);
  const Assert* check = p.host.body.as<Assert>();
  ASSERT_NE(check, nullptr);
  EXPECT_EQ(print_expr(check->condition), "(cast(int64, n) <= 128i64)");
  EXPECT_EQ(p.kernels[0].params.back().name(), "n");
  EXPECT_TRUE(verify_kernel(p.kernels[0]).empty());
}

/// The user knows the size, and none of the names that the compiler has for values of it.
TEST(SplitKernels, AnExtentIsNamedByWhatItIsComputedFrom) {
  PrimFunc func = program(threads("t", "threadIdx.x", "64", "B[t] = A[t]\n"));
  const Var n("n"), doubled("cse_var_1");
  func.params.push_back(n);
  const Attr& attr = *func.body.as<Attr>();
  func.body = make_stmt(
      Let{doubled, n * 2, make_stmt(Attr{attr.kind, attr.subject, "", doubled, attr.body})});
  TargetFacts target;
  target.max_threads_per_block = 128;
  const Assert* check = split_kernels(func, target).host.body.as<Assert>();
  ASSERT_NE(check, nullptr);
  EXPECT_EQ(print_expr(check->condition), "((cast(int64, n)*2i64) <= 128i64)");
  EXPECT_EQ(check->message.find("cse_var"), std::string::npos) << check->message;
}

TEST(SplitKernels, AnExtentThatOnlyTheKernelKnowsIsRefused) {
  PrimFunc func = program(threads("t", "threadIdx.x", "64", "B[t] = A[t]\n"));
  const Attr& attr = *func.body.as<Attr>();
  const Expr memory = cast(Int(32), make_load(func.buffers[0].buffer, {Expr(0)}));
  func.body = make_stmt(For{Var("i"), 0, 2, ForKind::Serial,
                            make_stmt(Attr{attr.kind, attr.subject, "", memory, attr.body})});
  EXPECT_THROW(run_passes(device_passes(), func), LowerError);
}

/// Four threads turn four numbers round in each of six iterations or blocks, by way of shared
/// memory with so many elements, which are 20 in the last one.
std::string turned_round(const std::string& i, const std::string& extent,
                         const std::string& scope = "shared") {
  return "allocate(S_1: Pointer(" + scope + " float32), float32, [" + extent +
         "]), storage_scope = " + scope + " {\nS: Buffer(S_1, float32, [20], [], scope=\"" + scope +
         "\")[t] = A[t]\nB[((" + i + "*4) + t)] = S[(3 - t)]\n}\n";
}

/// The kernel is right and takes nothing but A and B, and its shared memory has 20 elements.
void expect_the_greatest(const std::string& body) {
  expect_same(body, 1);
  const DeviceProgram p = split(body);
  EXPECT_EQ(p.kernels[0].params.size(), 2u);
  walk(p.kernels[0].body,
       [](const Allocate& n) { EXPECT_TRUE(is_constant_int(n.extents[0], 20)); });
}

TEST(SplitKernels, SharedMemoryInsideOfALoopIsAsLargeAsThatOfAnyIteration) {
  expect_the_greatest(
      threads("t", "threadIdx.x", "4",
              "for (i: int32, 0, 6) {\n" + turned_round("i", "(max(i, 1)*4)") + "}\n"));
}

TEST(SplitKernels, SharedMemoryOfASizeThatTheKernelComputesIsAsLargeAsAny) {
  expect_the_greatest(threads(
      "t", "threadIdx.x", "4",
      "for (i: int32, 0, 6) {\nlet n: int32 = max(i, 1)\n" + turned_round("i", "(n*4)") + "}\n"));
}

TEST(SplitKernels, DynamicSharedMemoryIsAsLargeAsThatOfAnyBlock) {
  const std::string body =
      threads("i", "blockIdx.x", "6",
              threads("t", "threadIdx.x", "4", turned_round("i", "(max(i, 1)*4)", "shared.dyn")));
  expect_the_greatest(body);
  // 80 bytes are rounded up to the next multiple of 32.
  EXPECT_EQ(
      test::body_text(split(body).host),
      "@tir.launch_kernel(\"main_kernel0\", 6, 1, 1, 4, 1, 1, 96i64, A_2, B_2, dtype=int32)\n");
}

TEST(SplitKernels, PiecesOfDynamicSharedMemoryBeginAtMultiplesOf32Bytes) {
  const std::string body = threads(
      "t", "threadIdx.x", "30",
      "allocate(S_1: Pointer(shared.dyn float32), float32, [30]), storage_scope = shared.dyn;\n"
      "allocate(T_1: Pointer(shared.dyn float32), float32, [30]), storage_scope = shared.dyn {\n"
      "S: Buffer(S_1, float32, [30], [], scope=\"shared.dyn\")[t] = A[t]\n"
      "T: Buffer(T_1, float32, [30], [], scope=\"shared.dyn\")[t] = (A[t]*2f32)\n"
      "B[t] = (S[(29 - t)] + T[(29 - t)])\n}\n");
  expect_same(body, 1);
  const DeviceProgram p = split(body);
  // Two of 120 bytes, each in 128.
  const Call* launch = p.host.body.as<Evaluate>()->value.as<Call>();
  EXPECT_TRUE(is_constant_int(launch->args[kLaunchSharedBytes], 256));
}

}  // namespace
}  // namespace tenon::lowering
