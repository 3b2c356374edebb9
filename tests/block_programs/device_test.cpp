// Block programs whose loops are bound to threads, run on OpenCL's device where there is one.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <tenon/tooling/check_functions.h>

#include "tests/block_programs/any_size.h"

namespace tenon::s_tir {
namespace {

/// A product of matrices of `n` by `n` elements.
tir::IRModule product(int n) {
  FuncBuilder f("main");
  auto A = f.param({n, n}, "A"), B = f.param({n, n}, "B"), C = f.param({n, n}, "C");
  f.grid({n, n, n}, {"i", "j", "k"}, [&](Var i, Var j, Var k) {
    f.block("C", f.remap("SSR", {i, j, k}, {"vi", "vj", "vk"}), [&](Var vi, Var vj, Var vk) {
      f.init([&] { C[{vi, vj}] = 0.0f; });
      C[{vi, vj}] = C[{vi, vj}] + A[{vi, vk}] * B[{vk, vj}];
    });
  });
  return tir::IRModule{{{"main", f.get()}}};
}

/// A tile of 8 by 8 for each block of threads, which load their parts of A and B together.
Schedule tiled_in_shared_memory(const tir::IRModule& mod) {
  Schedule sch(mod);
  const BlockRV C = sch.get_block("C");
  const auto loops = sch.get_loops(C);
  const auto i = sch.split(loops[0], {std::nullopt, 8}), j = sch.split(loops[1], {std::nullopt, 8}),
             k = sch.split(loops[2], {std::nullopt, 8});
  sch.reorder({i[0], j[0], i[1], j[1], k[0], k[1]});
  sch.bind(i[0], "blockIdx.y");
  sch.bind(j[0], "blockIdx.x");
  sch.bind(i[1], "threadIdx.y");
  sch.bind(j[1], "threadIdx.x");
  for (const int input : {0, 1}) {
    const BlockRV copy = sch.cache_read(C, input, "shared");
    sch.compute_at(copy, k[0], {.preserve_unit_loops = true});
    const auto own = sch.get_loops(copy);
    sch.bind(own[own.size() - 2], "threadIdx.y");
    sch.bind(own.back(), "threadIdx.x");
  }
  sch.reverse_compute_at(sch.cache_write(C, 0, "local"), j[1], {.preserve_unit_loops = true});
  sch.decompose_reduction(C, k[0]);
  return sch;
}

void expect_right(const tir::IRModule& mod, const Schedule& sch) {
  const tir::PrimFunc &before = mod.functions.at("main"), &after = sch.mod().functions.at("main");
  EXPECT_TRUE(check_functions(before, lower(after).functions.at("main")).fine());
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  EXPECT_TRUE(check_functions(before, after, {.target = Target("opencl")}).fine());
}

TEST(BlocksOnDevices, AProductWhoseThreadsLoadTilesTogether) {
  const tir::IRModule mod = product(32);
  const Schedule sch = tiled_in_shared_memory(mod);
  std::ostringstream text;
  text << lower(sch.mod().functions.at("main"), {.simple_mode = true});
  // No thread copies a tile alone.
  EXPECT_EQ(text.str().find("for (ax"), std::string::npos) << text.str();
  expect_right(mod, sch);
}

TEST(BlocksOnDevices, SumsOfThreadsTogether) {
  const tir::IRModule mod = product(32);
  Schedule sch(mod);
  const auto loops = sch.get_loops(sch.get_block("C"));
  const auto k = sch.split(loops[2], {std::nullopt, 8});
  sch.bind(sch.fuse({loops[0], loops[1]}), "blockIdx.x");
  sch.bind(k[1], "threadIdx.x");
  expect_right(mod, sch);
}

/// Both loops of a sum's elements are of one thread index: each thread has all of a row.
TEST(BlocksOnDevices, OneThreadIndexTwice) {
  const tir::IRModule mod = product(16);
  Schedule sch(mod);
  const auto loops = sch.get_loops(sch.get_block("C"));
  sch.bind(loops[0], "threadIdx.x");
  sch.bind(loops[1], "threadIdx.x");
  expect_right(mod, sch);
}

TEST(BlocksOnDevices, ASizeThatIsKnownWhenTheProgramRuns) {
  const tir::IRModule mod = twice_of_any_size();
  Schedule sch(mod);
  const auto parts = sch.split(sch.fuse(sch.get_loops(sch.get_block("C"))), {std::nullopt, 8});
  sch.bind(parts[0], "blockIdx.x");
  sch.bind(parts[1], "threadIdx.x");
  expect_right(mod, sch);
}

}  // namespace
}  // namespace tenon::s_tir
