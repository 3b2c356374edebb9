#include "tenon/tune/rules.h"

namespace tenon::tune {

std::vector<ScheduleRule> default_rules(const Target& target) {
  if (target.facts().is_gpu())
    throw TargetError("tuning: there are no rules for `" + target.str() +
                      "`; schedule_fn takes a space by hand");
  return {inline_constants(),
          auto_inline(),
          add_rfactor(),
          multi_level_tiling(),
          parallelize_vectorize_unroll(),
          random_compute_location()};
}

}  // namespace tenon::tune
