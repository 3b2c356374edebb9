// What has been simplified, kept for as long as the same expressions come again.
//
//   const SimplifierMemory memory;                 // until the end of the block
//   for (Pass& pass : passes) func = pass(func);   // each simplifies what the last one changed
#pragma once

namespace tenon::arith {

/// As long as one lives, what is simplified on this thread is remembered, whatever Facts it is
/// simplified with: where as much is known of the variables of an expression as before, it is not
/// simplified again. A lowering has one. They may be nested.
class SimplifierMemory {
 public:
  SimplifierMemory();
  ~SimplifierMemory();
  SimplifierMemory(const SimplifierMemory&) = delete;
  SimplifierMemory& operator=(const SimplifierMemory&) = delete;
};

}  // namespace tenon::arith
