// Reductions of rows, as parts of schedules for processors.
#pragma once

#include <optional>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

/// The stages that a reduction of each row is made in: vectors of partial results, several of them
/// since an operation takes longer than to begin the next one; these as one vector; its halves, and
/// theirs, as vectors; what is left of it.
struct RowReduction {
  te::Tensor result;
  /// In the order in which they are computed; none where there are few terms or they are tuples.
  std::vector<te::Tensor> partial;

  /// Splits the reduction, before anything is done to its stage.
  RowReduction(const te::Schedule& s, const te::Tensor& reduction, const tir::TargetFacts& target);
  /// The loops of the stages, the partial results for each iteration of `place`, a loop of `stage`;
  /// without a place, they stay as stages of their own.
  void arrange(const te::Schedule& s, const te::Stage& stage,
               const std::optional<te::IterVar>& place) const;

 private:
  /// Partial results, of which each has every so many-th of the terms.
  void add_part(const te::Schedule& s, const te::IterVar& terms, int results);

  int lanes_;
};

}  // namespace tenon::topi::cpu
