// How much of every intermediate tensor is needed at a time, and how much memory it gets.
//
//   std::cout << buffer_sizes(s, {A, B, C});
//
//   buffer    scope   required          allocated
//   A.shared  shared  [64, 8] = 512     576           padded, doubled, multiplied for virtual threads
#pragma once

#include <iosfwd>

#include "tenon/driver/lower.h"

namespace tenon {

/// What one intermediate tensor needs, and gets.
struct BufferSize {
  std::string buffer;
  tir::StorageScope scope;
  DataType dtype;
  /// The box that bound inference found to be needed while one iteration of the loops around it
  /// runs, in elements along every dimension.
  std::vector<tir::Expr> required;
  /// Elements of memory: the box, padded as storage_align says, doubled by double_buffer,
  /// multiplied for virtual threads, or cut to a rolling window. Buffers that are not used at the
  /// same time may yet share it.
  tir::Expr allocated;
};

/// All buffers that the program allocates, in the order of their allocation. Throws what lower
/// throws.
std::vector<BufferSize> buffer_sizes(const te::Schedule& schedule,
                                     const std::vector<LowerArgument>& args,
                                     const LowerOptions& options = {},
                                     SourceLocation where = SourceLocation::current());

/// A line for each.
std::ostream& operator<<(std::ostream& out, const std::vector<BufferSize>& sizes);

}  // namespace tenon
