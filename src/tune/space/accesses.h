// The stores of a program with their loops, and the elements that they access in some of the loops.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"

namespace tenon::tune {

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
