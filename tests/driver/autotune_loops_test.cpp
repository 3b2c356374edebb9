// Checks which serial loops the compiler rearranges for a processor.
#include <gtest/gtest.h>

#include "tenon/driver/build.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"

namespace tenon {
namespace {

using te::IterVar;
using te::Tensor;
using tir::Var;

/// B = 2 A and C = B + 1, each of 64 x 64.
struct Maps {
  Tensor A = te::placeholder({64, 64}, "A");
  Tensor B = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  Tensor C = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
};

/// The lanes of the values that code stores to each buffer.
std::map<std::string, int> lanes_of_stores(const te::Schedule& s,
                                           const std::vector<LowerArgument>& args,
                                           std::optional<bool> autotune_loops = std::nullopt) {
  std::map<std::string, int> lanes;
  BuildOptions options{.autotune_loops = autotune_loops};
  options.passes.on_pass = [&](const lowering::PassOptions::PassReport& report) {
    lanes.clear();
    tir::walk(report.after.body, [&](const tir::Store& store) {
      lanes[store.buffer->name] = store.value.dtype().lanes;
    });
  };
  compile(s, args, Target("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3"), options);
  return lanes;
}

TEST(AutotuneLoops, VectorizesStagesWithoutASchedule) {
  Maps m;
  const auto lanes = lanes_of_stores(m.s, {m.A, m.C});
  EXPECT_GT(lanes.at("B"), 1);
  EXPECT_GT(lanes.at("C"), 1);
}

TEST(AutotuneLoops, LeavesTheLoopsOfAScheduledStageAsTheyAre) {
  Maps m;
  m.s[m.C].reorder({m.s[m.C].axis(1), m.s[m.C].axis(0)});
  const auto lanes = lanes_of_stores(m.s, {m.A, m.C});
  EXPECT_GT(lanes.at("B"), 1);
  EXPECT_EQ(lanes.at("C"), 1);
}

TEST(AutotuneLoops, LeavesAnAttachedStageAndItsConsumerAsTheyAre) {
  Maps m;
  m.s[m.B].compute_at(m.s[m.C], m.s[m.C].axis(0));
  const auto lanes = lanes_of_stores(m.s, {m.A, m.C});
  EXPECT_EQ(lanes.at("B"), 1);
}

TEST(AutotuneLoops, RearrangesAScheduledStageThatAsksForIt) {
  Maps m;
  m.s[m.C].split(m.s[m.C].axis(0), 4);
  m.s[m.C].autotune_loops();
  EXPECT_GT(lanes_of_stores(m.s, {m.A, m.C}).at("C"), 1);
}

TEST(AutotuneLoops, RearrangesNothingIfTheBuildForbidsIt) {
  Maps m;
  const auto lanes = lanes_of_stores(m.s, {m.A, m.C}, false);
  EXPECT_EQ(lanes.at("B"), 1);
  EXPECT_EQ(lanes.at("C"), 1);
}

TEST(AutotuneLoops, RearrangesEverythingIfTheBuildAllowsIt) {
  Maps m;
  m.s[m.C].split(m.s[m.C].axis(0), 4);
  EXPECT_GT(lanes_of_stores(m.s, {m.A, m.C}, true).at("C"), 1);
}

TEST(AutotuneLoops, JamsAProductOnlyIfItHasNoSchedule) {
  const Tensor A = te::placeholder({64, 64}, "A"), B = te::placeholder({64, 64}, "B");
  const IterVar k = te::reduce_axis({0, 64}, "k");
  const Tensor C = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  const auto count_accumulators = [&](const te::Schedule& s) {
    int accumulators = 0;
    BuildOptions options;
    options.passes.on_pass = [&](const lowering::PassOptions::PassReport& report) {
      if (report.pass != "tile-registers") return;
      tir::walk(report.after.body, [&](const tir::Allocate&) { ++accumulators; });
      tir::walk(report.before.body, [&](const tir::Allocate&) { --accumulators; });
    };
    compile(s, {A, B, C}, Target("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3"), options);
    return accumulators;
  };
  const te::Schedule plain = te::create_schedule(C);
  te::Schedule vectorized = te::create_schedule(C);
  const te::Stage stage = vectorized[C];
  stage.reorder({stage.axis(0), stage.reduce_axis(0), stage.axis(1)}).vectorize(stage.axis(1));
  EXPECT_GT(count_accumulators(plain), 1);
  EXPECT_EQ(count_accumulators(vectorized), 1);
}

}  // namespace
}  // namespace tenon
