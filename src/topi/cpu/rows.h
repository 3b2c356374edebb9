// Row reductions as parts of CPU schedules.
#pragma once

#include <optional>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

/// The stages of a reduction of each row. First come several vectors of partial results, because
/// the latency of an operation exceeds its issue interval. Their sum is one vector, whose halves
/// are added as vectors repeatedly. The last stage is the final result.
struct RowReduction {
  te::Tensor result;
  /// The stages of partial results in the order of computation; empty for few terms and for tuples.
  std::vector<te::Tensor> partial;

  /// Splits the reduction. Precondition: its stage is unscheduled.
  RowReduction(const te::Schedule& s, const te::Tensor& reduction, const tir::TargetFacts& target);
  /// Arranges the loops of the stages. The partial results are computed at `place`, a loop of
  /// `stage`; if `place` is not given, they remain separate stages.
  void arrange(const te::Schedule& s, const te::Stage& stage,
               const std::optional<te::IterVar>& place) const;

 private:
  /// Adds a stage of partial results. Each of them reduces every `results`-th term.
  void add_part(const te::Schedule& s, const te::IterVar& terms, int results);

  int lanes_;
};

}  // namespace tenon::topi::cpu
