// Bank conflicts, counted by the interpreter over the threads of a warp.
#include <gtest/gtest.h>

#include "tenon/lower/pipeline.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tests/common/one_tile.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// The most ways of any read, and of any write, of each buffer in shared memory.
struct Ways {
  std::map<std::string, int> reads, writes;
};

Ways ways_of(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  const tir::PrimFunc func =
      lowering::run_passes(lowering::device_passes(), lower(s, args).functions.at("main"),
                           {.passes = {.has_async_copies = true}});
  Ways ways;
  const Arguments arguments = make_arguments(args);
  tir::evaluate(func, arguments.values,
                {.check_races = true, .on_warp_access = [&](const tir::WarpAccess& access) {
                   int& most = (access.is_write ? ways.writes : ways.reads)[access.buffer->name];
                   most = std::max(most, access.ways);
                 }});
  const Arguments expected = make_arguments(args);
  tir::evaluate(lower_to_loops(default_schedule(args), args), expected.values);
  EXPECT_EQ(first_difference(expected, arguments), "");
  return ways;
}

/// A 32 x 32 tile that is written by rows and read by columns.
struct Transposed {
  te::Tensor A = te::placeholder({32, 32}, "A");
  te::Tensor B = te::compute(
      {32, 32}, {"i", "j"}, [&](Var i, Var j) { return A(j, i); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor tile = s.cache_read(A, "shared", {B});

  Transposed() {
    const te::IterVar tx = te::thread_axis("threadIdx.x");
    auto [block, row] = s[B].split(s[B].axis(0), 32);
    s[B].bind(block, te::thread_axis("blockIdx.x")).bind(s[B].axis(1), tx);
    s[tile].compute_at(s[B], block).bind(s[tile].axis(1), tx);
  }
};

TEST(BankConflicts, AColumnOfATileOf32RowsLiesInOneBank) {
  Transposed p;
  const Ways ways = ways_of(p.s, {p.A, p.B});
  EXPECT_EQ(ways.reads.at("A.shared"), 32);
  EXPECT_EQ(ways.writes.at("A.shared"), 1);
}

TEST(BankConflicts, RowsThatAreOneNumberLongerHaveNone) {
  Transposed p;
  p.s[p.tile].storage_align(p.s[p.tile].axis(0), 32, 1);
  const Ways ways = ways_of(p.s, {p.A, p.B});
  EXPECT_EQ(ways.reads.at("A.shared"), 1);
  EXPECT_EQ(ways.writes.at("A.shared"), 1);
}

/// 32 threads, each of which reads `lanes` numbers from `distance` times its own number on.
int ways_of_vectors(int lanes, int distance) {
  te::Tensor A = te::placeholder({32 * distance + 16}, "A");
  te::Tensor B = te::compute(
      {32, lanes}, {"i", "j"}, [&](Var i, Var j) { return A(i * distance + j); }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor tile = s.cache_read(A, "shared", {B});
  auto [block, thread] = s[B].split(s[B].axis(0), 32);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[B].vectorize(s[B].axis(1));
  s[tile].compute_at(s[B], block);
  return ways_of(s, {A, B}).reads.at("A.shared");
}

TEST(BankConflicts, VectorsAreServedByHalvesAndQuartersOfAWarp) {
  EXPECT_EQ(ways_of_vectors(4, 4), 1);  // a quarter reads 32 neighbours
  EXPECT_EQ(ways_of_vectors(2, 2), 1);
  EXPECT_EQ(ways_of_vectors(4, 8), 2);  // threads 0 and 4 of a quarter begin in one bank
  EXPECT_EQ(ways_of_vectors(2, 4), 2);
  EXPECT_EQ(ways_of_vectors(4, 32), 8);
}

TEST(BankConflicts, ThreadsThatReadOneWordShareIt) {
  te::Tensor A = te::placeholder({32}, "A");
  te::Tensor B = te::compute(
      {32, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i) + 0 * j; }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor tile = s.cache_read(A, "shared", {B});
  auto [block, row] = s[B].split(s[B].axis(0), 32);
  s[B].bind(block, te::thread_axis("blockIdx.x"));
  s[B].bind(s[B].axis(1), te::thread_axis("threadIdx.x"));
  s[tile].compute_at(s[B], block);
  EXPECT_EQ(ways_of(s, {A, B}).reads.at("A.shared"), 1);
}

/// Tensor cores read eight rows of 16 bytes at once. Here those lie 32 bytes apart, and every
/// fourth one begins in the bank of the first.
TEST(BankConflicts, ShortRowsOfTilesShareBanks) {
  const OneTile p;
  const Ways ways = ways_of(p.s, p.args());
  EXPECT_EQ(ways.reads.at("A.shared"), 2);
  EXPECT_EQ(ways.reads.at("B.shared"), 2);
}

/// (Where rows of a tile are short, several of them are written at once.)
TEST(BankConflicts, TheMatmulOnTensorCoresHasNoneWhereItReads) {
  te::Tensor A = te::placeholder({128, 64}, "A", Float(16)),
             B = te::placeholder({64, 128}, "B", Float(16));
  te::Tensor C = topi::matmul(A, B, {.out_dtype = Float(32)});
  const Target target("cuda -arch=sm_90");
  const Ways ways = ways_of(topi::gpu::schedule_matmul(C, target.facts()), {A, B, C});
  EXPECT_EQ(ways.reads.size(), 2u);
  for (const auto& [name, most] : ways.reads) EXPECT_EQ(most, 1) << name;
}

TEST(BankConflicts, TheBestMatmulHasNone) {
  te::Tensor A = te::placeholder({128, 32}, "A"), B = te::placeholder({32, 128}, "B");
  te::Tensor C = topi::matmul(A, B);
  const Target target("cuda -arch=sm_90");
  const Ways ways = ways_of(topi::gpu::schedule_matmul(C, target.facts()), {A, B, C});
  for (const auto& all : {ways.reads, ways.writes}) {
    EXPECT_EQ(all.size(), 2u);
    for (const auto& [name, most] : all) EXPECT_EQ(most, 1) << name;
  }
}

}  // namespace
}  // namespace tenon::testing
