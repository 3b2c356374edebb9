// The loops of one stage: the loop headers around its statements at each leaf axis, and the value
// of every axis inside.
//
//   leaf i.outer, parallel        ->  for (i.outer, 0, 4) "parallel"
//   leaf i.inner of extent 1      ->  nothing; its value is its minimum
//   leaf j bound to threadIdx.x   ->  attr thread_extent; its value is threadIdx.x
#pragma once

#include "te/loops/program.h"
#include "te/relations/propagate.h"

namespace tenon::te {

/// The header for a prefetch before the body. It fetches the elements of the buffer that the body
/// reads `offset` iterations of `loop` later.
struct PrefetchHeader {
  tir::Buffer buffer;
  Var loop;
  Expr offset;
};
/// A header around the body of a loop: a prefetch, or a statement with an empty body. The statement
/// is a For, a Let for the value of a fused axis, an If for a guard, or an Attr for a thread or a
/// pragma.
using LoopHeader = std::variant<Stmt, PrefetchHeader>;

/// Loop headers, outermost first.
using LoopHeaders = std::vector<LoopHeader>;

/// Returns the header as a statement of this kind; null if it is of another kind.
template <class Node>
const Node* header_as(const LoopHeader& header) {
  const Stmt* s = std::get_if<Stmt>(&header);
  return s ? s->as<Node>() : nullptr;
}
/// Returns the thread that the header binds; null if the header does not bind a thread.
const IterVar* header_thread(const LoopHeader& header);

Stmt wrap(const LoopHeader& header, const Stmt& body);
Stmt wrap(const LoopHeaders& headers, Stmt body);
/// Returns the body nested inside the conditions, the first of which becomes the outermost.
Stmt guarded(const std::vector<Expr>& conditions, Stmt body);
/// Whether one of the headers defines the variable.
bool defines(const LoopHeaders& headers, const Expr& var);

struct LoopNest {
  /// The positions of the leaves in loop order, outermost first.
  std::vector<std::size_t> order;
  /// The loop headers per leaf axis.
  std::vector<LoopHeaders> levels;
  /// The values of all axes of the stage.
  AxisValues values;
  /// The same values by variable, for substitution.
  tir::VarMap vars;
  /// Values of axes that are not loop variables. Inner stages may use these axes (see
  /// Program::define).
  std::vector<std::pair<Var, Expr>> defines;
};

struct NestOptions {
  /// The loop order, as in LoopNest::order. Empty means the order of the leaves.
  std::vector<std::size_t> order = {};
  /// The position of the first leaf that gets a loop. The preceding leaves have the values in
  /// `around`.
  std::size_t begin = 0;
  const LoopNest* around = nullptr;
  /// Whether the loops get their own variables, named `<axis>.init`.
  bool is_init = false;
  /// Axes without loops.
  const AxisFlags* skip = nullptr;
  /// Ranges to use instead of the inferred ones; null for the inferred ones.
  const AxisRanges* ranges = nullptr;
};

LoopNest make_loop_nest(StageId stage, const Program& program, const NestOptions& options = {});

// Guards: conditions around the statements of a stage. They are necessary because loops may
// overshoot their axes.

struct GuardOptions {
  /// Whether to omit the checks that axes are in the ranges that the operation declares.
  bool skip_declared = false;
  /// Axes that may leave the ranges that the operation declares, so that their check is omitted.
  const AxisFlags* beyond = nullptr;
  const AxisFlags* skip = nullptr;
  /// Ranges of the loops, to use instead of the inferred ones; null for the inferred ones.
  const AxisRanges* ranges = nullptr;
};

/// Returns the conditions under which the current iteration is within the ranges of its axes and
/// within the operation's domain. Conditions that provably always hold are omitted.
std::vector<Expr> make_guards(StageId stage, const LoopNest& nest, const Program& program,
                              const GuardOptions& options = {});

}  // namespace tenon::te
