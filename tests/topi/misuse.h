// Checks misuse of the library: a TypeError whose sentence contains every one of the parts, with
// the user's line.
//
//   EXPECT_TRUE(refuses([&] { topi::add(A, B); }, {"`A`", "`B`"}));
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "tenon/support/error.h"

namespace tenon::topi {

/// The error names a line from the one where the call begins to `kSpan` lines after.
inline constexpr unsigned kSpan = 6;

inline ::testing::AssertionResult refuses(const std::function<void()>& misuse,
                                          const std::vector<std::string>& parts,
                                          SourceLocation where = SourceLocation::current()) {
  try {
    misuse();
  } catch (const TypeError& error) {
    const std::string text = error.what();
    for (const std::string& part : parts)
      if (text.find(part) == std::string::npos)
        return ::testing::AssertionFailure() << "`" << part << "` is not in: " << text;
    if (!error.where() || std::string(error.where()->file_name()) != where.file_name() ||
        error.where()->line() < where.line() || error.where()->line() > where.line() + kSpan)
      return ::testing::AssertionFailure() << "another line than " << where.line() << ": " << text;
    return ::testing::AssertionSuccess();
  } catch (const std::exception& error) {
    return ::testing::AssertionFailure() << "an error of another type: " << error.what();
  }
  return ::testing::AssertionFailure() << "accepted";
}

}  // namespace tenon::topi
