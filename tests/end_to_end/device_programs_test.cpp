// Scheduled programs on their way to a device: what kernels they become.
#include <gtest/gtest.h>

#include "tenon/lower/device_passes.h"
#include "tenon/lower/split_kernels.h"
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
  EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
  EXPECT_THROW(device_program(s, {A, C}), LowerError);
}

}  // namespace
}  // namespace tenon::testing
