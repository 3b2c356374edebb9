// Stores of a program within their loops, and what elements they touch while some of the loops run.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"

namespace tenon::tune {

/// A loop around a store, or threads that it runs on.
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
  /// What the pragma auto_unroll_max_step around it says.
  double unroll;
  /// Conditions that it is behind.
  double guards;
  /// For memory that is made inside of loops: how many are around it.
  const std::unordered_map<const tir::BufferNode*, std::size_t>& loops_around_memory;

  /// Of the loops from that one inwards.
  double iterations_from(std::size_t first) const;
};

/// What the candidate's blocks lower to: loops over its arrays, of as many dimensions as they have.
/// LowerError for a program that cannot be lowered.
tir::IRModule loops_of(const tir::IRModule& candidate);

/// Each store of such loops, in the order of the text.
void for_each_store(const tir::Stmt& body, const std::function<void(const StoreInLoops&)>& visit);

/// All accesses of one array in a store's statement.
struct Access {
  tir::Buffer buffer;
  std::vector<std::vector<tir::Expr>> places;
  bool is_read = false, is_written = false;
  /// The loops around the memory itself: in each of their iterations it is the same again.
  std::size_t loops_around_memory = 0;
};
std::vector<Access> accesses_of(const StoreInLoops& at);

/// Elements that all places of an access touch while some loops run: the volume of the box, and the
/// extent of its last dimension. Exact where indices grow with their loops.
struct Box {
  double elements = 1, last = 1;
};
/// The box's extents, while the loops from `first` inwards run.
std::vector<double> spans_of(const Access& access, const std::vector<Loop>& loops,
                             std::size_t first);
Box touched(const Access& access, const std::vector<Loop>& loops, std::size_t first);

double bytes_of(const Access& access, const Box& box);
/// Lines of a cache; rows of the last dimension lie apart.
double lines_of(const Access& access, const Box& box);

/// How far apart in the array two iterations of the innermost loop that matters are, in elements;
/// 0: no loop does.
double stride_of(const Access& access, const std::vector<Loop>& loops);

}  // namespace tenon::tune
