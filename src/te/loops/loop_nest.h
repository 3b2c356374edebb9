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

struct LoopShell {
  Var var;
  Expr min, extent;
  tir::ForKind kind;
};
/// An attribute statement: ThreadExtent, VirtualThread or Pragma.
struct AttrShell {
  tir::AttrKind kind;
  IterVar subject;
  std::string key;
  Expr value;
};
/// A prefetch, before the body, of the elements of the buffer that the body reads `offset`
/// iterations later.
struct PrefetchShell {
  tir::Buffer buffer;
  Var loop;
  Expr offset;
};
struct GuardShell {
  Expr condition;
};
/// A let statement for the value of a fused axis, if it is large.
struct LetShell {
  Var var;
  Expr value;
};
using LoopHeader = std::variant<LoopShell, AttrShell, PrefetchShell, GuardShell, LetShell>;

/// Loop headers, outermost first.
using Shells = std::vector<LoopHeader>;

Stmt wrap(const LoopHeader& shell, Stmt body);
Stmt wrap(const Shells& shells, Stmt body);
/// Whether one of the headers defines the variable.
bool defines(const Shells& shells, const Expr& var);

struct LoopNest {
  /// The positions of the leaves in loop order, outermost first.
  std::vector<std::size_t> order;
  /// The loop headers per leaf axis.
  std::vector<Shells> levels;
  /// The values of all axes of the stage.
  AxisValues values;
  /// The same values by variable, for substitution.
  tir::VarMap vars;
  /// Values of axes that are not loop variables, for inner stages: see Program::define.
  std::vector<std::pair<Var, Expr>> defines;
};

struct NestOptions {
  /// The loop order, as in LoopNest::order. Empty means the order of the leaves.
  std::vector<std::size_t> order = {};
  /// Leaves before this one get no loops; `around` has the values of their axes.
  std::size_t begin = 0;
  const LoopNest* around = nullptr;
  /// Whether loops get variables of their own, named `<axis>.init`.
  bool is_init = false;
  /// Axes without loops.
  const AxisFlags* skip = nullptr;
  /// Ranges in place of the inferred ones.
  const AxisRanges* ranges = nullptr;
};

LoopNest make_loop_nest(StageId stage, const Program& program, const NestOptions& options = {});

}  // namespace tenon::te
