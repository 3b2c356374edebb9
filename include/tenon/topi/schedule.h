// Schedules of whole graphs of the library's operators.
//
//   te::Tensor Y = topi::softmax(topi::dense(topi::relu(topi::dense(X, V)), W));
//   te::Schedule s = te::create_schedule(Y);
//   s[...]...                                   // schedule some stages by hand
//   topi::schedule(s, {Y}, target.facts());     // schedule all other stages
//   build(s, {X, V, W, Y}, target);
#pragma once

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi {

/// Schedules the stages that no primitive has touched, starting at the outputs, in fused groups:
/// products and convolutions with the elementwise maps that follow, attention, row operators,
/// reductions, transposes, and elementwise maps with the maps before them (see topi/cpu.h). The
/// step of a scan is vectorized, and a blocked prefix sum computes as many blocks at a time as a
/// vector has elements. Extern operations are unchanged.
///
/// CPU targets only. ScheduleError for a device target (topi/gpu.h has schedules of single
/// operators), and for a tensor that the schedule does not compute.
void schedule(const te::Schedule& s, const std::vector<te::Tensor>& outs,
              const tir::TargetFacts& target, SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
