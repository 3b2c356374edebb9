// The required and the allocated size of every intermediate tensor.
//
//   std::cout << buffer_sizes(s, {A, B, C});
//
//   buffer    scope   required          allocated
//   A.shared  shared  [64, 8] = 512     576           padded, doubled, multiplied for virtual threads
#pragma once

#include <iosfwd>

#include "tenon/driver/lower.h"

namespace tenon {

/// The sizes of one intermediate tensor.
struct BufferSize {
  std::string buffer;
  tir::StorageScope scope;
  DataType dtype;
  /// Extents of the region that one iteration of the loops around the stage requires, from bound
  /// inference.
  std::vector<tir::Expr> required;
  /// Number of allocated elements: the region with the effects of storage_align, double_buffer,
  /// virtual threads and rolling windows. Buffers with disjoint lifetimes may later share memory.
  tir::Expr allocated;
};

/// Returns the sizes of all allocated buffers, in allocation order. Throws the errors of lower.
std::vector<BufferSize> buffer_sizes(const te::Schedule& schedule,
                                     const std::vector<LowerArgument>& args,
                                     const LowerOptions& options = {},
                                     SourceLocation where = SourceLocation::current());

/// Prints one line per buffer.
std::ostream& operator<<(std::ostream& out, const std::vector<BufferSize>& sizes);

}  // namespace tenon
