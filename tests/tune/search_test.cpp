// Checks the results of a round of the search.
#include "tune/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tenon/s_tir/trace_steps.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

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
