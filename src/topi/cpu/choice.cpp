#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/topi/schedule.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/ops/patterns.h"

namespace tenon::topi {

namespace cpu {

bool is_core(const Tensor& x) {
  return is_product(x) || is_convolution(x) || is_winograd(x) || is_windowed(x);
}

namespace {

/// Applies the first schedule whose pattern matches the tensor.
void arrange(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  // Attention is matched first, because its products are matched below.
  if (arrange_attention(s, out, target)) return;
  if (const std::optional<Request> product = find_request(s, out, is_product))
    return arrange_matmul(s, *product, target);
  if (const std::optional<Request> convolution = find_request(s, out, is_convolution))
    return arrange_conv2d(s, *convolution, target);
  if (const std::optional<Request> winograd = find_request(s, out, is_winograd);
      winograd && arrange_winograd(s, *winograd, target))
    return;
  if (const std::optional<Request> windows = find_request(s, out, is_windowed))
    return arrange_windows(s, *windows, target);
  if (arrange_running_sums(s, out, target)) return;
  if (out.op().reduce_axis().empty() ? arrange_rows(s, out, target)
                                     : arrange_reduction(s, out, target))
    return;
  if (arrange_transpose(s, out, target)) return;
  if (te::is_injective(out.op())) arrange_elementwise(s, out, target);
}

/// Vectorizes the computations of a single step of a scan.
void arrange_scan(const Schedule& s, const te::Scan& scan, const TargetFacts& target) {
  for (const std::vector<Tensor>* part : {&scan.init, &scan.update})
    for (const Tensor& x : *part) {
      const te::Stage stage = s[x];
      const bool has_vectors = x.op().as<te::Compute>() && x.op().reduce_axis().empty() &&
                               x.ndim() > 1 && te::is_untouched(stage);
      if (has_vectors) vectorize_loop(stage, stage.op().axis().back(), lanes_of(x.dtype(), target));
    }
}

/// Returns the operations of all scans. They are scheduled separately, because their first axis is
/// the time, which must not run in parallel.
std::vector<te::Operation> steps_of_scans(const Schedule& s) {
  std::vector<te::Operation> steps;
  for (const te::Stage& stage : s.stages())
    if (const te::Scan* scan = stage.op().as<te::Scan>())
      for (const std::vector<Tensor>* part : {&scan->init, &scan->update})
        for (const Tensor& x : *part) steps.push_back(x.op());
  return steps;
}

/// Schedules every stage to which no schedule primitive has been applied.
void arrange_all(const Schedule& s, const TargetFacts& target) {
  const std::vector<te::Operation> steps = steps_of_scans(s);
  const std::vector<te::Stage> stages = s.stages();
  std::vector<te::Operation> scheduled;
  for (const te::Stage& stage : stages)
    if (!te::is_untouched(stage)) scheduled.push_back(stage.origin_op());
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const te::Operation op = stage->op();
    if (const te::Scan* scan = op.as<te::Scan>()) arrange_scan(s, *scan, target);
    if (is_one_of(op, steps)) continue;
    if (op.as<te::Compute>() && te::is_untouched(*stage)) arrange(s, op.output(0), target);
  }
  leave_loops_to_compiler(s, scheduled);
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
  // Schedules a copy first, so that an error leaves the original schedule unchanged.
  cpu::arrange_all(s.copy(), target);
  cpu::arrange_all(s, target);
}

}  // namespace tenon::topi
