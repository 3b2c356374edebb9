#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/topi/schedule.h"
#include "topi/cpu_arrange.h"
#include "topi/products.h"

namespace tenon::topi {

namespace cpu {

bool is_core(const Tensor& x) { return is_product(x) || is_convolution(x); }

namespace {

/// By what it is; the first that fits.
void arrange(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  if (const std::optional<Request> product = find_request(s, out, is_product))
    return arrange_matmul(s, *product, target);
  if (const std::optional<Request> convolution = find_request(s, out, is_convolution))
    return arrange_conv2d(s, *convolution, target);
  if (arrange_attention(s, out, target)) return;
  if (out.op().reduce_axis().empty() ? arrange_rows(s, out, target)
                                     : arrange_reduction(s, out, target))
    return;
  if (arrange_transpose(s, out, target)) return;
  if (te::is_injective(out.op())) arrange_elementwise(s, out, target);
}

}  // namespace

}  // namespace cpu

void schedule(const te::Schedule& s, const std::vector<te::Tensor>& outs,
              const tir::TargetFacts& target, SourceLocation where) {
  if (target.is_gpu())
    throw ScheduleError(
        "topi::schedule: the target is a device; topi/gpu.h has schedules of single operators",
        where);
  for (const te::Tensor& out : outs) s[{out, where}];
  const std::vector<te::Stage> stages = s.stages();
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const te::Operation op = stage->op();
    if (op.as<te::Compute>() && te::is_untouched(*stage)) cpu::arrange(s, op.output(0), target);
  }
}

}  // namespace tenon::topi
