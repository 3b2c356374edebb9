// Options of the primitives, as users of a schedule give them.
#pragma once

namespace tenon::s_tir {

/// As the reference's `split`.
struct SplitOptions {
  bool preserve_unit_iters = true;
  /// Promises that the factors divide the extent: no guard is made. Refused where that is not so.
  bool disable_predication = false;
};
/// As the reference's `fuse`.
struct FuseOptions {
  bool preserve_unit_iters = true;
};
/// Where a block is moved to.
struct ComputeAtOptions {
  /// Loops of one iteration are made as well.
  bool preserve_unit_loops = false;
  /// Where among the statements of the loop: -1, the last place that is possible; -2, the first;
  /// else that position.
  int index = -1;
};

}  // namespace tenon::s_tir
