// Many mutated inputs in child processes with limits of time and memory.
#pragma once

#include <functional>

#include "tests/fuzz/inputs/input.h"

namespace tenon::fuzz {

struct Campaign {
  Kind kind = Kind::Script;
  std::uint64_t first_seed = 0;
  std::uint64_t count = 1000;
  /// Limit of the processor time for one input.
  int limit_s = 10;
  /// Limit of a child's address space. Deep stacks take 512 MiB of it each.
  std::uint64_t memory_mb = 6144;
};

struct Finding {
  std::uint64_t seed;
  std::string text;
  /// The text of an exception, the signal that ended the process, or that it took too long.
  std::string what;
};

/// Calls on_finding with each input that is not handled. A child that ends early costs its input
/// only.
void run(const Campaign& campaign, const std::function<void(const Finding&)>& on_finding);

}  // namespace tenon::fuzz
