// What a block that moves below a loop of its neighbours must compute there.
#pragma once

#include "s_tir/context.h"
#include "tenon/arith/interval.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

enum class Direction : bool { Producer, Consumer };

/// What iterators must run over so that a box of a buffer is met, and what they may run over.
struct IterDomain {
  std::optional<arith::Interval> needed, allowed;
};

/// The block being moved, and where to.
struct Move {
  const Program& program;
  Caller caller;
  Direction direction;
  int block;
  int loop;
  const ComputeAtOptions& options;

  bool is_producer() const { return direction == Direction::Producer; }
  const tir::BlockRealize& realize() const { return program.realize(block); }
  const tir::Block& own() const { return *realize().block; }
  std::string what() const { return describe(program, block); }
};

/// What each iterator of the block that moves must cover in one iteration of the loop. `required`:
/// the blocks there that read from it, or write for it.
std::vector<IterDomain> iter_domains(const Move& move, const std::vector<int>& required,
                                     const arith::Facts& facts);

}  // namespace tenon::s_tir
