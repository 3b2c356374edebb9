#include "tenon/support/similar_name.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace tenon {

namespace {

/// The number of characters per allowed edit. A name that needs more edits is not considered
/// similar.
constexpr int kCharactersForEachMistake = 3;

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

int spelling_distance(std::string_view a, std::string_view b) {
  // Three rows of the matrix of edit distances. `row` is for the current prefix of `a`; `above` and
  // `two_above` are for the prefixes that are one and two characters shorter.
  std::vector<int> row(b.size() + 1), above, two_above;
  for (std::size_t n = 0; n <= b.size(); ++n) row[n] = static_cast<int>(n);
  for (std::size_t m = 1; m <= a.size(); ++m) {
    two_above = std::exchange(above, row);
    row[0] = static_cast<int>(m);
    for (std::size_t n = 1; n <= b.size(); ++n) {
      const int replaced = above[n - 1] + (same(a[m - 1], b[n - 1]) ? 0 : 1);
      row[n] = std::min({above[n] + 1, row[n - 1] + 1, replaced});
      if (m > 1 && n > 1 && same(a[m - 1], b[n - 2]) && same(a[m - 2], b[n - 1]))
        row[n] = std::min(row[n], two_above[n - 2] + 1);
    }
  }
  return row.back();
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> names) {
  int best = std::max(1, static_cast<int>(given.size()) / kCharactersForEachMistake) + 1;
  std::string_view closest;
  for (const std::string_view name : names) {
    const int distance = spelling_distance(given, name);
    // A name with as many edits as characters has nothing in common with `given`, so it is not
    // suggested.
    if (distance >= best || distance >= static_cast<int>(std::max(given.size(), name.size())))
      continue;
    best = distance;
    closest = name;
  }
  return closest.empty() ? "" : "; did you mean `" + std::string(closest) + "`?";
}

}  // namespace tenon
