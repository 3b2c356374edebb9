// Row reductions as parts of CPU schedules.
#pragma once

#include <optional>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

/// The stages of a reduction of each row: several vectors of partial results, because the latency
/// of an operation exceeds its issue interval; their sum as one vector; the halves of that vector,
/// and their halves, as vectors; the final result.
struct RowReduction {
  te::Tensor result;
  /// In the order of computation; empty for few terms and for tuples.
  std::vector<te::Tensor> partial;

  /// Splits the reduction, before anything else is done to its stage.
  RowReduction(const te::Schedule& s, const te::Tensor& reduction, const tir::TargetFacts& target);
  /// Arranges the loops of the stages. The partial results are computed at `place`, a loop of
  /// `stage`; without a place, they remain separate stages.
  void arrange(const te::Schedule& s, const te::Stage& stage,
               const std::optional<te::IterVar>& place) const;

 private:
  /// Adds a stage of partial results, each of which has every `results`-th term.
  void add_part(const te::Schedule& s, const te::IterVar& terms, int results);

  int lanes_;
};

}  // namespace tenon::topi::cpu
