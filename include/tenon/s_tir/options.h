// Options of the schedule primitives.
#pragma once

namespace tenon::s_tir {

/// Options of `split`, as in TVM.
struct SplitOptions {
  bool preserve_unit_iters = true;
  /// Promises that the factors divide the extent, so that no guard is added. ScheduleError if they
  /// do not.
  bool disable_predication = false;
};
/// Options of `fuse`, as in TVM.
struct FuseOptions {
  bool preserve_unit_iters = true;
};
/// Options of compute_at and reverse_compute_at.
struct ComputeAtOptions {
  /// Whether to create loops of extent 1.
  bool preserve_unit_loops = false;
  /// Position among the statements of the loop: -1 for the last possible one, -2 for the first,
  /// else an index.
  int index = -1;
};

}  // namespace tenon::s_tir
