// Where and how a buffer can roll, and the proof that it may.
#pragma once

#include <optional>
#include <vector>

#include "tenon/arith/facts.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// A dimension whose region moves along a loop.
struct Slide {
  tir::For loop;
  /// Where the region of the current iteration begins.
  tir::Expr begin;
  /// Where, relative to that, the elements begin (or end, if the region moves backwards) that the
  /// iteration before has computed: those before `overlap` are old, or new if it moves backwards.
  tir::Expr overlap;
  bool is_backwards = false;
};

struct RollingPlan {
  /// Which of the loops around the buffer the memory goes around: an index of the list given.
  std::size_t loop;
  /// By dimension; absent where the region stays.
  std::vector<std::optional<Slide>> slides;
  /// The dimension that becomes a ring, and the ring's size.
  int ring;
  tir::Expr ring_size;
  /// What is kept; the ring's is [0, ring_size).
  std::vector<tir::Range> bounds;
};

/// `loops`: the loops around the realize, outermost first, that nothing but sequences and memory
/// lies between.
std::optional<RollingPlan> plan_rolling(const tir::Realize& realize,
                                        const std::vector<tir::For>& loops,
                                        const arith::Facts& facts);

}  // namespace tenon::lowering
