// The loops of a compute and of its initialisation, with their guards.
#pragma once

#include "te/loops/loop_nest.h"

namespace tenon::te {

/// The loops of a compute, of its initialisation, and how far they are one.
struct ComputeNest {
  LoopNest main;
  Shells main_guards;
  /// Of the elements that are 0 at first (Rounding::filled), if there are such.
  std::optional<Shells> fill_guards;
  /// The number of leaves before the first that carries a reduction; all of them if none does.
  std::size_t common;
  /// Present for reductions.
  std::optional<LoopNest> init;
  Shells init_guards;
};

ComputeNest make_compute_nest(StageId stage, const Program& program);

}  // namespace tenon::te
