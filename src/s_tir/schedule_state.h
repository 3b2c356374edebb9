// The state of a schedule: the module, the targets of its handles, the trace, and the random
// generator.
#pragma once

#include <map>

#include "tenon/s_tir/program.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// The target of a random variable. Blocks and loops are identified by properties that rewrites
/// preserve. A loop may also be one of the results of sample_compute_location that are not loops:
/// the root, or inlining.
struct BlockHandle {
  std::string function;
  BlockKey key;
};
struct LoopHandle {
  std::string function;
  tir::Var var;
};
enum class NoLoop : unsigned char { Root, Inline };
using Meaning = std::variant<BlockHandle, LoopHandle, NoLoop, std::int64_t>;

/// A small random generator with the same results on every platform.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x123456789ull) {}
  /// Returns a uniform number in [0, n).
  std::uint64_t below(std::uint64_t n);
  /// Returns a uniform number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t next();
  std::uint64_t state_;
};

struct Schedule::State {
  tir::IRModule mod;
  Trace trace;
  std::vector<Meaning> meanings;
  Rng dice{0};
  /// The functions as programs, created on demand and shared by copies.
  std::map<std::string, std::shared_ptr<const Program>> programs;
};

}  // namespace tenon::s_tir
