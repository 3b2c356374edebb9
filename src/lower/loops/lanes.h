// Changes the number of lanes of expressions and statements. This is the only definition, for each
// kind of node, of two conversions: several iterations become vectors (`in_lanes`), and one lane of
// a vector becomes a scalar (`lane_value`). Clients differ in their options:
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
  /// The result for an if_then_else whose condition differs between lanes. Serial: the statement
  /// becomes a serial loop, as in TVM 0.9 text, also if it calls isnan, isinf or isfinite. Select:
  /// the result is a select in which each lane evaluates only its own arm. Keep: the result is a
  /// vector if_then_else.
  enum class Choice : std::uint8_t { Serial, Select, Keep };
  Choice choice = Choice::Select;
  /// Whether a statement without a vector form becomes a serial loop over a variable `<name>.s`. If
  /// not, the result is nullopt.
  bool may_serialize = false;
  /// Whether a branch that differs between lanes becomes a branch with a vector condition.
  bool masks_branches = false;
  /// Whether indices are simplified.
  bool simplifies_indices = false;
};

/// Returns a statement or expression that computes all iterations. A scalar that differs between
/// iterations becomes a vector of `count` lanes. A vector that differs becomes `count` times as
/// wide, and the lanes of the first iteration come first. A value that is the same in all
/// iterations is unchanged.
std::optional<tir::Expr> in_lanes(const tir::Expr& e, const LaneRange& range,
                                  const LaneOptions& options);
std::optional<tir::Stmt> in_lanes(const tir::Stmt& s, const LaneRange& range,
                                  const LaneOptions& options);

/// Returns lane `lane` of the vector; a scalar is returned unchanged. Returns nullopt if the lane
/// cannot be computed separately.
std::optional<tir::Expr> lane_value(const tir::Expr& e, const tir::Expr& lane);

/// Returns the increment of `index` per step of `var`; nullopt unless every step has the same
/// increment.
std::optional<tir::Expr> step_of(const tir::Expr& index, const tir::Var& var);

/// Whether the loop is a serial loop that vectorization has emitted. It is recognized by its
/// variable's name.
bool is_serial_lanes(const tir::For& loop);

}  // namespace tenon::lowering
