// Parsers for the number of threads that the environment requests. In a file of their own, so that
// a test can link them: the library exports only the declarations of public headers.
#pragma once

#include <optional>
#include <string_view>

namespace tenon::runtime {

/// Parses TENON_NUM_THREADS. RuntimeError if it is not a valid number of threads.
int parse_num_threads(std::string_view text);

/// Returns the number of processors of a control group's quota, at least 1, rounded up; nullopt
/// without a quota. `text` is the content of cpu.max (version 2, "200000 100000"), or quota and
/// period of version 1 separated by a blank.
std::optional<int> processors_of_quota(std::string_view text);

}  // namespace tenon::runtime
