// Memoization of the simplifier across calls.
//
//   const SimplifierMemory memory;                 // until the end of the block
//   for (Pass& pass : passes) func = pass(func);   // each simplifies what the last one changed
#pragma once

namespace tenon::arith {

/// While an object exists, simplifications on its thread are memoized for all Facts. A result is
/// reused if the facts about the expression's variables are the same. Each lowering has one object.
/// Objects may be nested.
class SimplifierMemory {
 public:
  SimplifierMemory();
  ~SimplifierMemory();
  SimplifierMemory(const SimplifierMemory&) = delete;
  SimplifierMemory& operator=(const SimplifierMemory&) = delete;
};

}  // namespace tenon::arith
