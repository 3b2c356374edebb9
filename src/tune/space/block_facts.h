// Facts about blocks that rules ask for, and the accesses of statements.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "tenon/s_tir/schedule.h"
#include "tenon/tir/block.h"
#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"

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

// The stores of a program with their loops, and the elements that they access in some of the loops.

/// A loop around a store, or a thread axis.
struct Loop {
  tir::Var var;
  tir::ForKind kind;
  double extent;
};

/// Bytes of a cache line.
inline constexpr double kLineBytes = 64;

struct StoreInLoops {
  const tir::Store& store;
  /// Outermost first.
  const std::vector<Loop>& loops;
  /// The value of the pragma auto_unroll_max_step around it.
  double unroll;
  /// Number of conditions around it.
  double guards;
  /// The number of loops around the allocation, for memory that is allocated inside loops.
  const std::unordered_map<const tir::BufferNode*, std::size_t>& loops_around_memory;

  /// Returns the number of iterations of the loops from `first` inwards.
  double iterations_from(std::size_t first) const;
};

/// Lowers the candidate's blocks to loops over multi-dimensional arrays. Throws LowerError for a
/// program that cannot be lowered.
tir::IRModule loops_of(const tir::IRModule& candidate);

/// Calls `visit` for each store of loops without blocks, in textual order.
void for_each_store(const tir::Stmt& body, const std::function<void(const StoreInLoops&)>& visit);

/// All accesses of a store's statement to one array.
struct Access {
  tir::Buffer buffer;
  std::vector<std::vector<tir::Expr>> places;
  bool is_read = false, is_written = false;
  /// Number of loops around the allocation; each iteration of these loops reuses the same memory.
  std::size_t loops_around_memory = 0;
};
std::vector<Access> accesses_of(const StoreInLoops& at);

/// The hull of the elements accessed in some of the loops: its volume, and the extent of its last
/// dimension. Exact if indices are monotone in the loop variables.
struct Box {
  double elements = 1, last = 1;
};
/// Returns the extents of the hull of the elements accessed in the loops from `first` inwards.
std::vector<double> spans_of(const Access& access, const std::vector<Loop>& loops,
                             std::size_t first);
Box touched(const Access& access, const std::vector<Loop>& loops, std::size_t first);

double bytes_of(const Access& access, const Box& box);
/// Returns the number of cache lines of the box, assuming that its rows (last dimension) are not
/// adjacent in memory.
double lines_of(const Access& access, const Box& box);

/// Returns the distance, in elements, between consecutive iterations of the innermost loop that the
/// access depends on; 0 if it depends on no loop.
double stride_of(const Access& access, const std::vector<Loop>& loops);

}  // namespace tenon::tune
