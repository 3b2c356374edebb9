// What a schedule consists of: the module, what its handles stand for, the trace, the dice.
#pragma once

#include <map>

#include "tenon/s_tir/program.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// What a random variable stands for. Blocks and loops are found by what stays the same through
/// rewriting; a loop may also be the root or the inlining that sample_compute_location can draw.
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

/// The random numbers of the minimal standard generator: small, and the same everywhere.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x123456789ull) {}
  /// Uniform in [0, n).
  std::uint64_t below(std::uint64_t n);
  /// Uniform in [0, 1).
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
  /// The functions as programs, made when they are asked for; shared by copies.
  std::map<std::string, std::shared_ptr<const Program>> programs;
};

}  // namespace tenon::s_tir
