// Queries of rules and postprocessors on a block of a schedule.
#pragma once

#include "tenon/s_tir/schedule.h"
#include "tenon/tir/block.h"

namespace tenon::tune {

/// Returns the name of the program's only function.
std::string function_name(const s_tir::Schedule& sch);

/// Whether the handle still refers to a block.
bool exists(const s_tir::Schedule& sch, s_tir::BlockRV block);

bool is_root(const s_tir::Schedule& sch, s_tir::BlockRV block);

enum class LoopClass : unsigned char {
  /// The loop variable occurs only in the values of spatial iterators.
  Spatial,
  /// The loop variable occurs only in the values of reduction iterators.
  Reduction,
  /// The loop variable occurs in both, in the values of other iterators, or in no value.
  Other
};
LoopClass class_of(const tir::BlockRealize& realize, const tir::For& loop);

/// Returns the extent; 0 if it is not constant.
std::int64_t extent_of(const tir::For& loop);

/// Whether each iterator is bound to exactly one loop, in the order of the loops.
bool is_trivially_bound(const s_tir::Schedule& sch, s_tir::BlockRV block);

/// Whether the block has independent elements and reductions, and reads some elements repeatedly,
/// so that tiling is worthwhile (the condition of MetaSchedule's rule).
bool reuses_data(const s_tir::Schedule& sch, s_tir::BlockRV block);

/// The number of independent elements, and the number of terms per element.
struct Lengths {
  double spatial = 1, reduction = 1;
};
Lengths lengths_of(const tir::Block& block);

/// Whether the block is elementwise: it computes each element from input elements at indices that
/// are iterators of the block or constants.
bool is_elementwise(const tir::Block& block);

}  // namespace tenon::tune
