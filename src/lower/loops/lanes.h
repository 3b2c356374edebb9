// Expressions and statements with another number of lanes: the only definition, for each kind of
// node, of several iterations as vectors (`in_lanes`) and of one lane of a vector as a scalar
// (`lane_value`). Clients differ in their options:
//
//   vectorize_loops      the iterations of a marked loop
//   auto_vectorize       iterations of a serial loop that are provably independent
//   widen_vectors        iterations of a loop whose vectors continue each other
//   pack_stores          stores to adjacent elements, as a loop over the elements
//   split_wide_vectors   some of the lanes of a vector: lane_value, then in_lanes
#pragma once

#include <optional>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The iterations min, min + 1, ..., min + count - 1 of a variable.
struct LaneRange {
  tir::Var var;
  tir::Expr min;
  int count;
};

struct LaneOptions {
  /// The result for an if_then_else whose condition differs between lanes. Serial makes the
  /// statement a serial loop, as in TVM 0.9 text, also for isnan, isinf and isfinite. Select makes
  /// a select whose lanes evaluate only their own arm. Keep makes a vector if_then_else.
  enum class Choice : std::uint8_t { Serial, Select, Keep };
  Choice choice = Choice::Select;
  /// Whether a statement without a vector form becomes a serial loop over a variable `<name>.s`.
  /// Otherwise the whole result is nullopt.
  bool may_serialize = false;
  /// Whether a branch that differs between lanes becomes a branch with a vector condition.
  bool masks_branches = false;
  /// Whether indices are simplified.
  bool simplifies_indices = false;
};

/// Returns the value or the effect of all iterations. A scalar that differs between iterations
/// becomes a vector of `count` lanes, and a vector becomes one that is `count` times as wide, with
/// the lanes of the first iteration first. A value that is the same in all iterations is unchanged.
std::optional<tir::Expr> in_lanes(const tir::Expr& e, const LaneRange& range,
                                  const LaneOptions& options);
std::optional<tir::Stmt> in_lanes(const tir::Stmt& s, const LaneRange& range,
                                  const LaneOptions& options);

/// Returns the value of the vector in lane `lane`, and a scalar unchanged; nullopt if the lane
/// cannot be computed separately.
std::optional<tir::Expr> lane_value(const tir::Expr& e, const tir::Expr& lane);

/// Returns the increment of `index` per step of `var`; nullopt unless it is the same for all
/// values.
std::optional<tir::Expr> step_of(const tir::Expr& index, const tir::Var& var);

/// Whether the loop is a serial fallback of vectorization; recognized by its variable's name.
bool is_serial_lanes(const tir::For& loop);

}  // namespace tenon::lowering
