// How often a text has a part.
//
//   EXPECT_EQ(count_of(module.get_source("c"), "for ("), 2u);
#pragma once

#include <string>

namespace tenon::testing {

/// Overlapping ones all count.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace tenon::testing
