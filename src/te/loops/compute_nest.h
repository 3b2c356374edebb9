// The loops of a compute and of its initialization, with their guards.
#pragma once

#include "te/loops/loop_nest.h"

namespace tenon::te {

/// The loops of a compute and of its initialization, and how many of them are shared.
struct ComputeNest {
  LoopNest main;
  Shells main_guards;
  /// Guards of the elements that are first set to 0 (Rounding::filled), if there are any.
  std::optional<Shells> fill_guards;
  /// The number of leaves before the first one that carries a reduction; all of them if
  /// no leaf does.
  std::size_t common;
  /// Present only for reductions.
  std::optional<LoopNest> init;
  Shells init_guards;
};

ComputeNest make_compute_nest(StageId stage, const Program& program);

}  // namespace tenon::te
