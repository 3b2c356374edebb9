#include "tenon/tune/rules.h"
#include "tune/search/mutate.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

ScheduleRule parallelize_vectorize_unroll(const ParallelizeOptions& options) {
  return {"parallelize_vectorize_unroll",
          [options](const s_tir::Schedule& sch, s_tir::BlockRV block, const Target& target) {
            if (!is_root(sch, block)) return std::vector{sch};
            s_tir::Schedule own = sch;
            if (options.max_jobs_per_core > 0)
              own.annotate(block, kParallelKey,
                           std::int64_t{options.max_jobs_per_core} * target.facts().cores);
            if (options.max_vectorize_extent > 0)
              own.annotate(block, kVectorizeKey, std::int64_t{options.max_vectorize_extent});
            if (!options.unroll_max_steps.empty()) {
              const std::vector<double> alike(
                  options.unroll_max_steps.size(),
                  1.0 / static_cast<double>(options.unroll_max_steps.size()));
              const s_tir::ExprRV steps = own.sample_categorical(options.unroll_max_steps, alike);
              own.annotate(block, kUnrollExplicitKey, steps);
            }
            return std::vector{own};
          }};
}

}  // namespace tenon::tune
