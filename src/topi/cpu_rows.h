// Parts that schedules of several kinds of operators for processors share.
#pragma once

#include <optional>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

/// For loops that conditions make slow only in their last iteration: that gets loops of its own.
inline constexpr const char* kPartitioned = "loop_partition_hint";

/// Elements of the widest vector, but at least 4.
int lanes_of(DataType type, const tir::TargetFacts& target);

/// How many elements there are; nothing where an extent is symbolic.
std::optional<double> count_of(const std::vector<te::Expr>& extents);

/// Whether so many simple operations take longer than threads take to begin; unknown ones do.
bool is_worth_threads(std::optional<double> operations);

/// Elements along the loop by vectors.
void vectorize_loop(const te::Stage& stage, const te::IterVar& axis, int lanes);
/// The same of a result, which passes by the caches where it is much larger than they are.
void vectorize_result(const te::Stage& stage, const te::IterVar& axis, const te::Tensor& out,
                      const tir::TargetFacts& target);

/// The stages that a reduction of each row is made in: vectors of partial results, several of them
/// since an operation takes longer than to begin the next one; these as one vector; its elements.
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
  int lanes_;
};

}  // namespace tenon::topi::cpu
