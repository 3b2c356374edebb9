// Spaces of schedules, among which a tuner chooses.
//
//   tune::Space by_hand = tune::schedule_fn([](s_tir::Schedule& sch) {
//     auto loops = sch.get_loops(sch.get_block("C"));
//     sch.split(loops[1], sch.sample_perfect_tile(loops[1], {.n = 2}));
//   });
//   tune::Space found = tune::post_order_apply();           // the default rules of the target
//   found.designs(mod, Target("llvm -num-cores=1")).size()  // 3 for a product of matrices
//
// A *design* is a schedule whose sampling steps represent all values that they could have drawn:
// replaying its trace with other samples yields the programs of the space. The function that makes
// a design must therefore not depend on sampled values, except through the handles that sampling
// returns.
#pragma once

#include "tenon/tune/rules.h"

namespace tenon::tune {

class Space {
 public:
  /// Makes the designs from an unmodified schedule.
  using Generate =
      std::function<std::vector<s_tir::Schedule>(const s_tir::Schedule& fresh, const Target&)>;
  explicit Space(Generate generate) : generate_(std::move(generate)) {}

  /// Returns the designs for a module, in a deterministic order. Throws the errors of the space's
  /// functions: ScheduleError if a step is refused.
  std::vector<s_tir::Schedule> designs(const tir::IRModule& mod, const Target& target,
                                       std::uint64_t seed = 0) const {
    return generate_(s_tir::Schedule(mod, {.seed = seed}), target);
  }

 private:
  Generate generate_;
};

/// Makes a space of one design from a user function: `void(Schedule&)`, or `Schedule(Schedule)`.
template <class F>
Space schedule_fn(F schedule) {
  return Space([schedule](const s_tir::Schedule& fresh, const Target&) {
    s_tir::Schedule sch = fresh;
    if constexpr (std::is_convertible_v<std::invoke_result_t<const F&, s_tir::Schedule&>,
                                        s_tir::Schedule>)
      sch = schedule(sch);
    else
      schedule(sch);
    return std::vector{std::move(sch)};
  });
}

/// Makes a space from rules. Each rule is applied at each block, from the last block to the first,
/// to every design so far, and returns one or more designs for it. Without rules: the default_rules
/// of the target.
Space post_order_apply(std::vector<ScheduleRule> rules = {});

}  // namespace tenon::tune
