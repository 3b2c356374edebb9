#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tune/rules.h"

namespace tenon::tune {

namespace {

std::vector<ScheduleRule> rules_for_devices() {
  return {inline_constants(), device_tiling(), auto_inline({.into_producer = true}),
          cross_thread_reduction(),
          parallelize_vectorize_unroll({.max_jobs_per_core = 0,
                                        .max_vectorize_extent = 0,
                                        .unroll_max_steps = {0, 16, 64, 512, 1024}})};
}

}  // namespace

std::vector<ScheduleRule> default_rules(const Target& target) {
  if (target.facts().is_gpu()) return rules_for_devices();
  std::vector<ScheduleRule> rules{inline_constants(), auto_inline()};
  for (const std::string& name : s_tir::tensor_intrin_names())
    rules.push_back(tiling_with_intrinsic(name));
  for (const ScheduleRule& rule : {add_rfactor(), multi_level_tiling(),
                                   parallelize_vectorize_unroll(), random_compute_location()})
    rules.push_back(rule);
  return rules;
}

}  // namespace tenon::tune
