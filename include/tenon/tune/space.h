// Spaces of schedules: what a tuner chooses among.
//
//   tune::Space by_hand = tune::schedule_fn([](s_tir::Schedule& sch) {
//     auto loops = sch.get_loops(sch.get_block("C"));
//     sch.split(loops[1], sch.sample_perfect_tile(loops[1], {.n = 2}));
//   });
//   tune::Space found = tune::post_order_apply();           // the default rules of the target
//   found.designs(mod, Target("llvm -num-cores=1")).size()  // 3 for a product of matrices
//
// A *design* is a schedule whose sampling steps stand for everything that they could have drawn:
// its trace, replayed with other draws, gives the programs of the space. What a design's function
// does must therefore not depend on the values drawn, except through the handles that sampling
// gives.
#pragma once

#include "tenon/tune/rules.h"

namespace tenon::tune {

class Space {
 public:
  /// From a schedule on which nothing has been done yet.
  using Generate =
      std::function<std::vector<s_tir::Schedule>(const s_tir::Schedule& fresh, const Target&)>;
  explicit Space(Generate generate) : generate_(std::move(generate)) {}

  /// The designs for a module, in an order that depends on nothing else. Throws what the space's
  /// own functions throw: ScheduleError where a step is refused.
  std::vector<s_tir::Schedule> designs(const tir::IRModule& mod, const Target& target,
                                       std::uint64_t seed = 0) const {
    return generate_(s_tir::Schedule(mod, {.seed = seed}), target);
  }

 private:
  Generate generate_;
};

/// One design, made by a function of the user's: `void(Schedule&)`, or one that takes a schedule
/// and returns it, `Schedule(Schedule)`.
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

/// The designs that rules make: each rule in turn at each block, from the last block to the first,
/// on every design so far; a rule may leave a design as it is, change it, or make several of it.
/// Without rules: default_rules of the target.
Space post_order_apply(std::vector<ScheduleRule> rules = {});

}  // namespace tenon::tune
