// Checks of misuse: it must throw a typed error whose sentence names the subject and the user's
// line, and it must not change anything.
//
//   EXPECT_TRUE(refuses<ScheduleError>([&] { s[C].split(i, 0); }, {"split", "`i`", "`C`"}));
//   EXPECT_TRUE(leaves_alone(s, {A, C}, [&] { EXPECT_TRUE(refuses<...>(...)); }));
#pragma once

#include <gtest/gtest.h>
#include <tenon/tenon.h>

namespace tenon::testing {

/// Lines that the call of a helper may span.
inline constexpr unsigned kSpan = 12;

/// "" if the error has the parts and names a line at `where`; else what is wrong with it.
std::string faults_of(const Error& error, const std::vector<std::string>& parts,
                      const SourceLocation& where);

/// `misuse` throws an E that says every one of the parts, with the line of the call.
template <class E>
::testing::AssertionResult refuses(const std::function<void()>& misuse,
                                   const std::vector<std::string>& parts,
                                   SourceLocation where = SourceLocation::current()) {
  try {
    misuse();
  } catch (const E& error) {
    const std::string faults = faults_of(error, parts, where);
    if (faults.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << faults;
  } catch (const std::exception& error) {
    return ::testing::AssertionFailure() << "an error of another type: " << error.what();
  }
  return ::testing::AssertionFailure() << "accepted";
}

/// All that can be seen of a schedule: its stages, their loops, and its lowered text.
std::string picture_of(const te::Schedule& schedule, const std::vector<LowerArgument>& args);

/// The schedule looks the same after `step`.
::testing::AssertionResult leaves_alone(const te::Schedule& schedule,
                                        const std::vector<LowerArgument>& args,
                                        const std::function<void()>& step);

}  // namespace tenon::testing
