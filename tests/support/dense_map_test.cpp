#include "tenon/support/dense_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace tenon {
namespace {

TEST(DenseMap, FindsWhatAMapFinds) {
  std::mt19937 random(1);
  // Few and many, near each other and far apart, and such that the upper bits alone tell apart.
  for (const std::int64_t step : {1ll, 1024ll, 1ll << 40})
    for (const int range : {5, 9, 200, 5000}) {
      DenseMap<std::int64_t, int> map;
      std::map<std::int64_t, int> expected;
      for (int n = 0; n < 2 * range; ++n) {
        const std::int64_t key = (static_cast<std::int64_t>(random() % range) - range / 2) * step;
        EXPECT_EQ(map.try_emplace(key, n).second, expected.try_emplace(key, n).second);
      }
      EXPECT_EQ(map.size(), expected.size());
      for (int n = -range; n <= range; ++n) {
        const auto known = expected.find(n * step);
        const int* found = map.find(n * step);
        ASSERT_EQ(found != nullptr, known != expected.end()) << n << " of " << range;
        EXPECT_EQ(map.contains(n * step), found != nullptr);
        if (found) {
          EXPECT_EQ(*found, known->second);
        }
      }
    }
}

TEST(DenseMap, GoesThroughKeysInTheOrderOfTheirComing) {
  DenseMap<int, std::string> map;
  for (int n = 0; n < 40; ++n) map[n * 7919 % 40] += "x";
  int n = 0;
  for (const auto& [key, text] : map) EXPECT_EQ(key, n++ * 7919 % 40);
  EXPECT_EQ(n, 40);
}

TEST(DenseMap, KeepsTheFirstValueOfAKey) {
  DenseMap<const int*, int> map;
  const int things[2] = {};
  EXPECT_TRUE(map.try_emplace(&things[0], 3).second);
  const auto [value, is_new] = map.try_emplace(&things[0], 4);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(*value, 3);
  EXPECT_FALSE(map.contains(&things[1]));
}

}  // namespace
}  // namespace tenon
