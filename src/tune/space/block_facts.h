// Queries about blocks for the rules of the search space, and about the memory accesses of
// statements.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/s_tir/schedule.h"
#include "tenon/tir/block.h"
#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"

namespace tenon::tune {

/// Return the name and the body of the program's only function.
std::string function_name(const s_tir::Schedule& sch);
const tir::Stmt& body_of(const s_tir::Schedule& sch);

/// Whether the handle still refers to a block.
bool exists(const s_tir::Schedule& sch, s_tir::BlockRV block);

bool is_root(const s_tir::Schedule& sch, s_tir::BlockRV block);

/// Returns the kind of the iterators whose values use the loop variable, if all of them are spatial
/// or all of them are reductions; otherwise nullopt. A loop that no value uses is spatial if it has
/// one iteration.
std::optional<tir::IterKind> kind_of(const tir::BlockRealize& realize, const tir::For& loop);

/// Returns the constant extent of the loop; 0 if it is not constant.
std::int64_t extent_of(const tir::For& loop);
/// Returns the value of a constant extent; 1 for any other extent.
double extent_or_one(const tir::Expr& extent);

/// Whether each iterator is bound to exactly one loop, in the order of the loops.
bool is_trivially_bound(const s_tir::Schedule& sch, s_tir::BlockRV block);

/// Whether tiling is worthwhile: the block has independent elements and reductions, and reads some
/// elements repeatedly (the condition of MetaSchedule's rule).
bool reuses_data(const s_tir::Schedule& sch, s_tir::BlockRV block);

/// Returns the number of independent elements that a reduction computes, and the number of terms
/// per element. Nullopt unless the block is a reduction with an init, writes one buffer and is
/// trivially bound.
std::optional<std::pair<double, double>> reduction_lengths(const s_tir::Schedule& sch,
                                                           s_tir::BlockRV block);

/// Whether the block is elementwise: it reads its inputs only at indices that are iterators of the
/// block or constants.
bool is_elementwise(const tir::Block& block);

// Enumerates the stores of a program with their loops, and finds the elements that they access in
// some of the loops.

/// A loop or thread axis around a store.
struct Loop {
  tir::Var var;
  tir::ForKind kind;
  double extent;
};

/// The size of a cache line in bytes.
inline constexpr double kLineBytes = 64;

struct StoreInLoops {
  const tir::Store* store = nullptr;
  /// The enclosing loops, outermost first.
  std::vector<Loop> loops = {};
  /// The value of the enclosing pragma auto_unroll_max_step.
  double unroll = 0;
  /// The number of conditions around the store.
  double guards = 0;
  /// The number of loops around the allocation of each buffer that is allocated inside loops.
  std::unordered_map<const tir::BufferNode*, std::size_t> loops_around_memory = {};

  /// Returns the number of iterations of the loops from `first` inwards.
  double iterations_from(std::size_t first) const;
};

/// Lowers the candidate's blocks to loops over multi-dimensional arrays. Throws LowerError for a
/// program that cannot be lowered.
tir::IRModule loops_of(const tir::IRModule& candidate);

/// Calls `visit` for each store of a program without blocks, in textual order.
void for_each_store(const tir::Stmt& body, const std::function<void(const StoreInLoops&)>& visit);

/// All accesses of one statement to one array.
struct Access {
  tir::Buffer buffer;
  std::vector<std::vector<tir::Expr>> places;
  bool is_read = false, is_written = false;
  /// The number of loops around the allocation. All iterations of these loops use the same memory.
  std::size_t loops_around_memory = 0;
};
std::vector<Access> accesses_of(const StoreInLoops& at);

/// Returns the extents of the bounding box of the elements that are accessed in the loops from
/// `first` inwards. The box is exact if the indices are monotone in the loop variables.
std::vector<double> spans_of(const Access& access, const std::vector<Loop>& loops,
                             std::size_t first);

/// Returns the number of bytes of the elements in a bounding box.
double bytes_of(const Access& access, const std::vector<double>& spans);
/// Returns the number of cache lines of a bounding box. Assumes that its rows (along the last
/// dimension) are not adjacent in memory.
double lines_of(const Access& access, const std::vector<double>& spans);

/// Returns the distance, in elements, between the accesses of consecutive iterations of a loop. The
/// loop is the innermost one on which the access depends. Returns 0 if there is no such loop.
double stride_of(const Access& access, const std::vector<Loop>& loops);

}  // namespace tenon::tune
