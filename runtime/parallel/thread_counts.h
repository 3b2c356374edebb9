// How many threads the environment asks for, read from its texts. Apart from what uses it, so that
// its test can have it: the library exports only what the public headers declare.
#pragma once

#include <optional>
#include <string_view>

namespace tenon::runtime {

/// The number of threads that the text of TENON_NUM_THREADS asks for; throws RuntimeError for
/// another text.
int parse_num_threads(std::string_view text);

/// How many processors a control group's quota is worth, at least 1, rounded up; none for no quota.
/// `text` is the file cpu.max of version 2 ("200000 100000") or quota and period of version 1, a
/// blank between.
std::optional<int> processors_of_quota(std::string_view text);

}  // namespace tenon::runtime
