// The index of an element in the flat memory of a buffer, in the normal form of TVM 0.9 text.
//
//   flat_index(A[1024, 64], {i, k})            // {((i*64) + k)}
//   flat_index(A[n, m], {f // m, f % m})       // {f}
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/buffer.h"

namespace tenon::lowering {

/// Returns one index per physical dimension, in elements, including the buffer's offset. The
/// simplification ignores the ranges of variables, because later simplification depends on the
/// order of the terms. The indices are int64 if the constant extents or strides of the buffer reach
/// beyond int32; otherwise they have the type of `indices`. Precondition: one index per dimension
/// of the buffer.
std::vector<tir::Expr> flat_index(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices);

/// Returns a new buffer object with one dimension per physical dimension. Bools are stored as
/// bytes.
tir::Buffer flat_buffer(const tir::Buffer& buffer);

/// Returns the rectangle that starts at `begins` as a buffer over the same memory. It has explicit
/// strides only if it is not contiguous. Precondition: one entry per dimension.
tir::Buffer slice(const tir::Buffer& buffer, const std::vector<tir::Expr>& begins,
                  const std::vector<tir::Expr>& extents);

/// Returns the alignment of a temporary. Alignment beyond its own size has no benefit.
int alignment_of_temporary(DataType type, const std::vector<tir::Expr>& shape);

}  // namespace tenon::lowering
