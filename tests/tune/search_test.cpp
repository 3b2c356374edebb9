// The search, and the models that predict which candidates are fast.
#include "tune/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/trace_steps.h"
#include "tenon/tune/cost_model.h"
#include "tenon/tune/report.h"
#include "tests/tune/programs.h"
#include "tune/search/features.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {
namespace {

// ---- cost models --------------------------------------------------------------------------------

// Features read from programs, and whether the learned model orders what it has not seen.

/// The product with its loop j split so, and the inner part vectors or not.
tir::IRModule tiled(std::int64_t factor, bool is_vector) {
  s_tir::Schedule sch(product(64));
  const auto loops = sch.get_loops(sch.get_block("C"));
  const auto parts = sch.split(loops[1], {std::nullopt, factor});
  sch.reorder({loops[0], parts[0], loops[2], parts[1]});
  if (is_vector) sch.vectorize(parts[1]);
  return sch.mod();
}

TEST(Features, AreARowForEachStore) {
  const Features rows = features_of(loops_of(product_relu(16)));
  // The init, the update and the maximum.
  ASSERT_EQ(rows.size(), 3u);
  for (const std::vector<float>& row : rows) EXPECT_EQ(row.size(), feature_count());
}

TEST(Features, CountOperationsOfAllIterations) {
  const Features rows = features_of(loops_of(product(16)));
  ASSERT_EQ(rows.size(), 2u);
  // The first two numbers of the update: additions and multiplications, log2(1 + 16^3).
  EXPECT_FLOAT_EQ(rows[1][0], std::log2(1.0f + 16 * 16 * 16));
  EXPECT_FLOAT_EQ(rows[1][1], std::log2(1.0f + 16 * 16 * 16));
}

TEST(Features, TellTilesAndKindsOfLoopsApart) {
  EXPECT_NE(features_of(loops_of(tiled(4, false))), features_of(loops_of(tiled(8, false))));
  EXPECT_NE(features_of(loops_of(tiled(8, false))), features_of(loops_of(tiled(8, true))));
  EXPECT_EQ(features_of(loops_of(tiled(8, true))), features_of(loops_of(tiled(8, true))));
}

constexpr tir::VectorRegisters kWide{.bits = 512, .count = 32, .for_sums = 24},
    kNarrow{.bits = 256, .count = 16, .for_sums = 12};

TEST(WorkOf, AMapCountsRegisters) {
  // 64 floats are 4 registers of 512 bits, and 8 of 256.
  for (const auto& [registers, expected] : {std::pair(kWide, 4.0), {kNarrow, 8.0}}) {
    const Work work = work_of(loops_of(sum_with(1, 64)), {.vector_registers = registers});
    EXPECT_EQ(work.loads, expected);
    EXPECT_EQ(work.operations, expected);
    EXPECT_EQ(work.stores, expected);
    EXPECT_EQ(work.gathered, 0);
    EXPECT_EQ(work.waits, 0);
  }
}

TEST(WorkOf, LoopInvariantLoadsCountOutsideTheLoop) {
  // The row of B[k, j] is invariant in the loop of 64: A[i, k] is read once for all of it.
  s_tir::Schedule sch(product(64));
  const auto loops = sch.get_loops(sch.get_block("C"));
  sch.reorder({loops[0], loops[2], loops[1]});
  sch.vectorize(sch.split(loops[1], {std::nullopt, 16})[1]);
  sch.decompose_reduction(sch.get_block("C"), loops[2]);
  EXPECT_EQ(work_of(loops_of(sch.mod()), {.vector_registers = kWide}).broadcasts, 64 * 64);
}

TEST(WorkOf, SumsWaitForEachOther) {
  // Rows may be added up side by side, but a row's sum waits for each of its 64 elements.
  const Work work = work_of(loops_of(row_sums(1, 64)), {.vector_registers = kWide});
  EXPECT_EQ(work.waits + work.memory_waits, 64);
  EXPECT_GE(work.cycles, 4 * 64);
}

/// Small caches of 8 ways: the first keeps 64 lines.
constexpr tir::CacheBytes kCaches{.l1 = 4096, .l2 = 1 << 20};

TEST(TrafficOf, WhatTheFirstCacheHoldsIsFetchedOnce) {
  // Three arrays of 16 x 16 floats are 16 lines each; the init touches one of them.
  EXPECT_EQ(traffic_of(loops_of(product(16)), kCaches).into_l1, 16 + 3 * 16);
}

TEST(TrafficOf, WhatDoesNotFitIsFetchedForEachIterationOutside) {
  // 64 x 64 floats are 256 lines, and the second factor does not fit: of each row of the results
  // it is fetched anew, while rows of the first factor and of the results are fetched once.
  s_tir::Schedule sch(product(64));
  const auto loops = sch.get_loops(sch.get_block("C"));
  sch.reorder({loops[0], loops[2], loops[1]});
  sch.decompose_reduction(sch.get_block("C"), loops[2]);
  EXPECT_EQ(traffic_of(loops_of(sch.mod()), kCaches).into_l1, 256 + 256 + 256 + 64 * 256);
  EXPECT_EQ(traffic_of(loops_of(sch.mod()), kCaches).into_l2, 256 + 3 * 256);
}

TEST(TrafficOf, RowsThatFallOntoTheSameSetsTakeMoreRoom) {
  // A tile of 32 rows of a line each. Where rows are 4 KiB apart all of them are in one set, and
  // the next row of results finds none of them; 128 bytes more, and it finds them all.
  const auto tile = [](std::int64_t width) {
    s_tir::Schedule sch(product(width));
    const auto loops = sch.get_loops(sch.get_block("C"));
    const auto columns = sch.split(loops[1], {std::nullopt, 16});
    const auto terms = sch.split(loops[2], {std::nullopt, 32});
    sch.reorder({columns[0], terms[0], loops[0], terms[1], columns[1]});
    return traffic_of(loops_of(sch.mod()), {.l1 = 1 << 14, .l2 = 1 << 20}).into_l1 /
           static_cast<double>(width * width * width);
  };
  EXPECT_GT(tile(1024), 2 * tile(1056));
}

TEST(RandomModel, GuessesTheSameWithTheSameSeed) {
  const std::vector<tir::IRModule> mods(5, product(16));
  EXPECT_EQ(random_model(3)->predict(mods), random_model(3)->predict(mods));
  EXPECT_NE(random_model(3)->predict(mods), random_model(4)->predict(mods));
}

TEST(BoostedTrees, OrderWhatTheyHaveNotSeen) {
  if (!has_boosted_trees()) {
    EXPECT_THROW(boosted_trees(), RuntimeError);
    GTEST_SKIP() << "this build has no XGBoost";
  }
  // A first guess needs no lessons: elements of a column are read and stored one by one.
  s_tir::Schedule slow(product(64));
  const auto loops = slow.get_loops(slow.get_block("C"));
  const auto rows = slow.split(loops[0], {std::nullopt, 16});
  slow.reorder({rows[0], loops[1], loops[2], rows[1]});
  slow.vectorize(rows[1]);
  const std::vector<double> guesses = boosted_trees()->predict({slow.mod(), tiled(16, true)});
  EXPECT_LT(guesses[0], guesses[1]);
  // A made-up machine, on which wide tiles and vectors are fast.
  const auto speed = [](std::int64_t factor, bool is_vector) {
    return static_cast<double>(factor) / 64 * (is_vector ? 1 : 0.4);
  };
  std::vector<Lesson> lessons;
  std::vector<tir::IRModule> unseen;
  std::vector<double> speeds;
  for (const std::int64_t factor : {1, 2, 4, 8, 16, 32, 64})
    for (const bool is_vector : {false, true}) {
      if (factor == 1 && is_vector) continue;
      if (factor == 4 || factor == 16) {
        unseen.push_back(tiled(factor, is_vector));
        speeds.push_back(speed(factor, is_vector));
      } else {
        lessons.push_back({tiled(factor, is_vector), speed(factor, is_vector)});
      }
    }
  const auto model = boosted_trees();
  const std::vector<std::string> lines = model->learn(lessons);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("XGB iter   0: tr-p-rmse: 0.")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("XGB iter  25: tr-p-rmse: 0.")) << lines[1];
  // It falls.
  EXPECT_GT(lines[0].substr(26, 8), lines[1].substr(26, 8));
  EXPECT_GT(rank_correlation(model->predict(unseen), speeds), 0.6);
}

// ---- a round of the search ----------------------------------------------------------------------

/// How many steps of two traces of one design decide otherwise.
int different_decisions(const s_tir::Trace& a, const s_tir::Trace& b) {
  const auto x = without_postproc(a).steps, y = without_postproc(b).steps;
  if (x.size() != y.size()) return static_cast<int>(std::max(x.size(), y.size()));
  int result = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    if (x[n].kind != y[n].kind) return static_cast<int>(x.size());
    result += !(x[n].decision == y[n].decision && x[n].arguments == y[n].arguments);
  }
  return result;
}

TEST(Search, AShareOfARoundIsNearTheFastest) {
  constexpr std::size_t kCount = 20, kFastest = 4;
  const Target target("llvm --num-cores=1");
  const tir::IRModule mod = product(64);
  const CandidateMaker maker(mod, target, default_postprocessors(target));
  std::vector<s_tir::Trace> designs;
  for (const s_tir::Schedule& design : post_order_apply().designs(mod, target))
    designs.push_back(design.trace());
  Search search(maker, designs, {.population = 32, .generations = 1, .share_of_neighbours = 0.5},
                1);
  const std::unique_ptr<CostModel> model = random_model(1);
  const std::vector<Candidate> first = search.next(kCount, *model).value();
  ASSERT_EQ(first.size(), kCount);
  for (std::size_t n = 0; n < kCount; ++n) search.tell(first[n], 1.0 + static_cast<double>(n));

  const std::vector<Candidate> second = search.next(kCount, *model).value();
  ASSERT_EQ(second.size(), kCount);
  const auto is_near = [&](const Candidate& candidate) {
    return std::any_of(first.begin(), first.begin() + kFastest, [&](const Candidate& fast) {
      return different_decisions(candidate.schedule.trace(), fast.schedule.trace()) <= 2;
    });
  };
  // They come first, so that time that runs out takes none of them.
  EXPECT_EQ(std::count_if(second.begin(), second.begin() + kCount / 2, is_near), kCount / 2);
}

}  // namespace
}  // namespace tenon::tune
