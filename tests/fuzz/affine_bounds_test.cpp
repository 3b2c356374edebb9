// In programs of affine indices, the memory of every stage is exactly the greatest box that is read
// of it; the interpreter checks at every access that it is not smaller. `build/bench/bounds` shows
// more of them.
#include <gtest/gtest.h>

#include "tenon/inspect/bounds_report.h"
#include "tests/common/ways_to_run.h"
#include "tests/fuzz/affine_program.h"

namespace tenon::fuzz {
namespace {

/// How many stages were counted.
int expect_exact(unsigned seed) {
  const AffineProgram program = affine_program(seed);
  const te::BoundsReport report =
      te::bounds_report(program.schedule, {.most_steps = 100'000, .exact = true});
  if (!report.not_counted.empty()) return 0;
  for (const te::BoundsReport::Row& row : report.rows)
    EXPECT_EQ(row.counts->touched, row.counts->allocated) << "seed " << seed << "\n"
                                                          << program.text << report;
  return static_cast<int>(report.rows.size());
}

TEST(AffineBoundsTest, MemoryIsTheBoxThatIsRead) {
  int stages = 0;
  for (unsigned seed = 0; seed < 150; ++seed) stages += expect_exact(seed);
  EXPECT_GT(stages, 250);
}

/// An end that only shows where a minimum is taken away from itself, an axis that goes two steps
/// where another goes one, and extents of which only all values show that they are one.
TEST(AffineBoundsTest, OnesThatWereLarger) {
  for (const unsigned seed : {3970u, 5076u, 5643u}) EXPECT_GT(expect_exact(seed), 2);
}

TEST(AffineBoundsTest, TheSchedulesComputeTheSame) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const AffineProgram program = affine_program(seed);
    const std::vector<LowerArgument> args(program.arguments.begin(), program.arguments.end());
    EXPECT_EQ(
        testing::compare_with_default(program.schedule, args,
                                      {.compile = false, .run_on_device = false, .most_work = 1e6}),
        "")
        << "seed " << seed << "\n"
        << program.text;
  }
}

}  // namespace
}  // namespace tenon::fuzz
