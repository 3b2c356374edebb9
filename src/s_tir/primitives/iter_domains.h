// The iterator domains of a block that is moved into a loop around its producers or consumers.
#pragma once

#include "s_tir/context.h"
#include "tenon/arith/interval.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

enum class Direction : bool { Producer, Consumer };

/// The values of an iterator that are required to cover a box of a buffer, and those that are
/// allowed.
struct IterDomain {
  std::optional<arith::Interval> needed, allowed;
};

/// The block to move, and its destination.
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

/// Returns the domain of each iterator in one iteration of the loop. `required` has the numbers of
/// its consumers, or of its producers, in that loop.
std::vector<IterDomain> iter_domains(const Move& move, const std::vector<int>& required,
                                     const arith::Facts& facts);

}  // namespace tenon::s_tir
