// Schedules of whole graphs of the library's operators.
//
//   te::Tensor Y = topi::softmax(topi::dense(topi::relu(topi::dense(X, V)), W));
//   te::Schedule s = te::create_schedule(Y);
//   s[...]...                                   // what you would rather do yourself
//   topi::schedule(s, {Y}, target.facts());     // all that is left
//   build(s, {X, V, W, Y}, target);
#pragma once

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi {

/// Arranges the stages that no primitive has touched, from the outputs back, each with what it can
/// be computed together with: products and convolutions with the maps behind them, attention,
/// operators on rows, reductions, transpositions, maps with those in front of them (topi/cpu.h says
/// how). A step of a scan is computed by vectors, and running sums by blocks as many blocks at a
/// time as a vector has elements; extern operations stay as they are.
///
/// For processors. ScheduleError for a device's target, for which topi/gpu.h has schedules of
/// single operators, and for a tensor that the schedule does not compute.
void schedule(const te::Schedule& s, const std::vector<te::Tensor>& outs,
              const tir::TargetFacts& target, SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
