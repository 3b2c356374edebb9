// What rules and post-processors ask about a block of a schedule.
#pragma once

#include "tenon/s_tir/schedule.h"
#include "tenon/tir/block.h"

namespace tenon::tune {

/// The tuner's programs have one function.
std::string function_name(const s_tir::Schedule& sch);

/// Whether the handle still stands for a block.
bool exists(const s_tir::Schedule& sch, s_tir::BlockRV block);

bool is_root(const s_tir::Schedule& sch, s_tir::BlockRV block);

enum class LoopClass : unsigned char {
  /// Only iterators of independent elements come of it.
  Spatial,
  /// Only iterators that are reduced.
  Reduction,
  /// Both, others, or none.
  Other
};
LoopClass class_of(const tir::BlockRealize& realize, const tir::For& loop);

/// 0 where it is no constant.
std::int64_t extent_of(const tir::For& loop);

/// All iterators are bound to a loop each, in the order of the loops.
bool is_trivially_bound(const s_tir::Schedule& sch, s_tir::BlockRV block);

/// A block of independent elements and reductions that reads some element for several of its own:
/// what is worth tiling (the condition of MetaSchedule's rule).
bool reuses_data(const s_tir::Schedule& sch, s_tir::BlockRV block);

/// Independent elements, and what each sums up.
struct Lengths {
  double spatial = 1, reduction = 1;
};
Lengths lengths_of(const tir::Block& block);

/// Each of its elements is one expression of elements of what it reads, each at indices that are
/// iterators of the block or constants.
bool is_elementwise(const tir::Block& block);

}  // namespace tenon::tune
