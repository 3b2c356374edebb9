// Scheduled programs on their way to a device: what kernels they become.
#include <gtest/gtest.h>

#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/tir/walk.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

lowering::DeviceProgram device_program(const te::Schedule& s,
                                       const std::vector<LowerArgument>& args) {
  const tir::PrimFunc func = lower(s, args).functions.at("main");
  tir::TargetFacts target;
  target.kind = tir::TargetKind::OpenCl;
  return lowering::split_kernels(lowering::run_passes(lowering::device_passes(), func), target);
}

TEST(DevicePrograms, RowsThatAreAlignedStaySoInTheKernel) {
  te::Tensor A = te::placeholder({32, 32}, "A");
  te::Tensor B = te::compute(
      {32, 32}, {"i", "j"}, [&](Var i, Var j) { return A(j, i); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor AA = s.cache_read(A, "shared", {B.op()});
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  s[AA].compute_root();
  auto [block, rest] = s[B].split(s[B].axis(1), 32);
  s[B].reorder({block, s[B].axis(0), rest}).bind(block, te::thread_axis("blockIdx.x"));
  s[AA].compute_at(s[B], block);
  s[AA].bind(s[AA].axis(0), te::thread_axis("threadIdx.x"));
  s[AA].storage_align(s[AA].axis(0), 32, 1);
  const lowering::DeviceProgram program = device_program(s, {A, B});
  ASSERT_EQ(program.kernels.size(), 1u);
  std::int64_t elements = 0;
  tir::walk(program.kernels[0].body, [&](const tir::Allocate& n) {
    if (n.data.as<tir::VarNode>()->pointer->scope == tir::StorageScope::Shared)
      elements = tir::constant_int(n.extents[0]).value_or(0);
  });
  // 32 rows of 33 elements, the last of which may go without its padding.
  EXPECT_GE(elements, 31 * 33 + 32);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "");
}

TEST(DevicePrograms, AStageOfTheHostIsToldWithItsLoops) {
  te::Tensor A = te::placeholder({32, 16}, "A");
  te::Tensor B = te::compute(
      {32, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {32, 16}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x"));
  try {
    device_program(s, {A, C});
    FAIL() << "B is not bound";
  } catch (const LowerError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("stage `B` is not bound to any thread: its loops `i`", 0),
              0u)
        << e.what();
  }
}

TEST(DevicePrograms, GlobalMemoryInsideOfAKernelIsRefused) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {64}, {"i"}, [&](Var i) { return B(floordiv(i, 32) * 32 + 31 - floormod(i, 32)); }, "C");
  te::Schedule s = te::create_schedule(C);
  auto [block, thread] = s[C].split(s[C].axis(0), 32);
  s[C].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], block).bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  s[B].set_scope("global");
  try {
    device_program(s, {A, C});
    FAIL() << "it is not refused";
  } catch (const LowerError& error) {
    EXPECT_NE(error.sentence().find("memory `B` is global"), std::string::npos) << error.what();
  }
}

/// Each thread has the stage for itself and runs all of it, however many a loop of the stage would
/// need: the threads that go on with it are those of the launch.
TEST(DevicePrograms, AStageOfEachThreadsOwnIsComputedByAllOfThem) {
  for (const char* tag : {"threadIdx.x", "blockIdx.x"}) {
    te::Tensor A = te::placeholder({8}, "A");
    te::Tensor B = te::compute(
        {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
    te::Tensor C = te::compute(
        {8}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
    te::Schedule s = te::create_schedule(C);
    s[C].bind(s[C].axis(0), te::thread_axis(tag));
    s[B].compute_at(s[C], s[C].axis(0)).bind(s[B].axis(0), te::thread_axis(tag));
    EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "") << tag;
  }
}

TEST(DevicePrograms, ThreadsAroundAStageOfTheirOwnAreAsManyAsThoseInside) {
  te::Tensor A = te::placeholder({1}, "A");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {4, 8}, {"i", "j"}, [&](Var, Var) { return B(0) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x"));
  s[C].bind(s[C].axis(1), te::thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], s[C].axis(0)).set_scope("local");
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
}

/// 12 threads go on with what 16 fetch inside of them.
TEST(DevicePrograms, AStageMayTakeMoreThreadsThanTheOneAroundIt) {
  te::Tensor A = te::placeholder({19}, "A");
  te::Tensor B = te::compute(
      {12}, {"i"}, [&](Var i) { return A(floordiv(i, 2)) + A(i + 7); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor cache = s.cache_read(A, "shared", {B.op()});
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  s[cache].compute_at(s[B], s[B].axis(0));
  s[cache].bind(s[cache].split(s[cache].axis(0), 16).inner, te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "");
}

/// 3 threads of 31 make a sum that all of them want.
TEST(DevicePrograms, AllThreadsGetTheTotalOfTheFew) {
  te::Tensor A = te::placeholder({3}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 3}, "k");
  te::Tensor S = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "S");
  te::Tensor B = te::compute(
      {31}, {"i"}, [&](Var i) { return S(0) + i; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  s[S].compute_at(s[B], s[B].axis(0)).bind(s[S].reduce_axis(0), te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "");
}

/// Running sums of the columns of A, in one launch.
struct Sums {
  te::Tensor A = te::placeholder({5, 8}, "A", Int(32));
  te::Tensor state = te::placeholder({5, 8}, "state", Int(32));
  te::Tensor init, update, sums;

  explicit Sums(int reads_from)
      : init(te::compute(
            {1, 8}, {"t", "i"}, [&](Var, Var i) { return A(0, i); }, "init")),
        update(te::compute(
            {5, 8}, {"t", "i"},
            [&](Var t, Var i) {
              const Expr from = reads_from == 0 ? Expr(i) : max(i - reads_from, 0);
              return state(t - 1, from) + A(t, i);
            },
            "update")),
        sums(te::scan(init, update, state, {A}, "sums")) {}

  /// Blocks of so many columns each.
  std::string check(int of_init, int of_update) const {
    const te::Schedule s = te::create_schedule(sums);
    s[sums].env_threads({te::thread_axis({0, 1}, "threadIdx.x")});
    s[init].bind(s[init].split(s[init].axis(1), of_init).outer, te::thread_axis("blockIdx.x"));
    s[update].bind(s[update].split(s[update].axis(1), of_update).outer,
                   te::thread_axis("blockIdx.x"));
    try {
      return compare_with_default(s, {A, sums}, {.compile = false});
    } catch (const ScheduleError& error) {
      return error.sentence();
    }
  }
};

TEST(DevicePrograms, BlocksOfAScanStayWithTheirPartOfTheState) {
  EXPECT_EQ(Sums(0).check(2, 2), "");
  const std::string refusal = "the scan runs in one launch, and its blocks cannot wait";
  EXPECT_NE(Sums(0).check(2, 4).find(refusal), std::string::npos);
  EXPECT_NE(Sums(1).check(2, 2).find(refusal), std::string::npos);
}

/// B = A turned round in blocks of 512 threads, which keep 512 numbers.
struct Turned {
  te::Tensor A = te::placeholder({4096}, "A");
  te::Tensor B = te::compute(
      {4096}, {"i"}, [&](Var i) { return A(4095 - i); }, "B");
  te::Schedule s = te::create_schedule(B);

  Turned() {
    auto [block, thread] = s[B].split(s[B].axis(0), 512);
    s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
    te::Tensor cache = s.cache_read(A, "shared", {B.op()});
    s[cache].compute_at(s[B], block).bind(s[cache].axis(0), te::thread_axis("threadIdx.x"));
  }

  std::string refusal(const char* target) const {
    try {
      compile(s, {A, B}, Target(target));
      return "";
    } catch (const LowerError& error) {
      return error.what();
    }
  }
};

TEST(DevicePrograms, BlocksAreHeldToWhatTheTargetSays) {
  const Turned turned;
  for (const std::string kind : {"opencl", "cuda"}) {
    EXPECT_EQ(turned.refusal((kind + " -max-threads=512 -shared-bytes=2048").c_str()), "");
    const std::string threads = turned.refusal((kind + " -max-threads=511").c_str());
    EXPECT_NE(threads.find("stage `B`: a block (`threadIdx.x` of 512) has 512 threads"),
              std::string::npos)
        << threads;
    const std::string shared = turned.refusal((kind + " -shared-bytes=2047").c_str());
    EXPECT_NE(shared.find("stage `B`: shared memory of a block (`A.shared` 2048"),
              std::string::npos)
        << shared;
  }
}

TEST(DevicePrograms, WhatAThreadKeepsIsHeldToTheRegistersOfTheTarget) {
  te::Tensor A = te::placeholder({64, 40}, "A");
  te::Tensor B = te::compute(
      {64, 40}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor own = s.cache_read(A, "local", {B});
  auto [block, thread] = s[B].split(s[B].axis(0), 32);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[own].compute_at(s[B], thread);
  const auto refusal = [&](const char* target) -> std::string {
    try {
      compile(s, {A, B}, Target(target));
      return "";
    } catch (const LowerError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("cuda"), "");
  EXPECT_EQ(refusal("cuda -registers=40"), "");
  const std::string why = refusal("cuda -registers=39");
  EXPECT_NE(why.find("stage `B`: the values that a thread keeps in registers (`A.local` 40) take "
                     "40 "
                     "registers; the target has at most 39"),
            std::string::npos)
      << why;
}

/// Vectors that exceed the registers of every device are computed part by part.
TEST(DevicePrograms, WideVectorsOfKernelsAreSplit) {
  te::Tensor A = te::placeholder({8, 256}, "A");
  te::Tensor B = te::compute(
      {8, 256}, {"i", "j"}, [&](Var i, Var j) { return A(i, 255 - j) * A(i, j); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x")).vectorize(s[B].axis(1));
  const std::string text = compile(s, {A, B}, Target("opencl")).source("opencl");
  EXPECT_NE(text.find("for (int part = 0; part < 16; ++part)"), std::string::npos) << text;
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "");
}

}  // namespace
}  // namespace tenon::testing
