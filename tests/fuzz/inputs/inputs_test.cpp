// Some thousands of mutated inputs of each kind; scripts/fuzz.sh --inputs runs as many as one
// likes.
#include <gtest/gtest.h>

#include "tests/fuzz/inputs/campaign.h"

namespace tenon::fuzz {
namespace {

class Inputs : public testing::TestWithParam<Kind> {};

TEST_P(Inputs, OfTheCorpusAreHandled) {
  const std::vector<std::string> seeds = seeds_of(GetParam());
  EXPECT_GE(seeds.size(), 3u);
  for (const std::string& seed : seeds)
    EXPECT_EQ(try_input(GetParam(), seed).value_or(""), "") << seed;
}

TEST_P(Inputs, ThatAreMutatedAreHandled) {
  run({.kind = GetParam(), .first_seed = 1, .count = 1500}, [](const Finding& finding) {
    ADD_FAILURE() << to_string(GetParam()) << " " << finding.seed << ": " << finding.what << "\n"
                  << finding.text.substr(0, 2000);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Inputs, testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(Mutations, OfOneSeedAreTheSame) {
  const std::vector<std::string> seeds = seeds_of(Kind::Script);
  EXPECT_EQ(mutated(seeds, 7), mutated(seeds, 7));
  EXPECT_NE(mutated(seeds, 7), mutated(seeds, 8));
}

}  // namespace
}  // namespace tenon::fuzz
