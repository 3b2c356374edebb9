// The position of an element in the memory of a buffer, in the normal form that the known texts
// show.
//
//   flat_index(A[1024, 64], {i, k})            // {((i*64) + k)}
//   flat_index(A[n, m], {f // m, f % m})       // {f}
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/buffer.h"

namespace tenon::lowering {

/// One entry per physical dimension, in elements, the buffer's own offset included. Simplified
/// without knowledge of the variables' ranges (the order of later simplification depends on it).
/// In int64 where the buffer's constant extents or strides reach
/// beyond int32, else in the type of the indices. Precondition: as many indices as the buffer has
/// dimensions.
std::vector<tir::Expr> flat_index(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices);

/// The buffer that one entry per physical dimension addresses; never the same object. Bools are
/// kept as bytes.
tir::Buffer flat_buffer(const tir::Buffer& buffer);

/// The rectangle that begins at `begins` of a buffer, as a buffer of its own over the same memory:
/// its strides are given only where it is not contiguous. Precondition: one entry per dimension.
tir::Buffer slice(const tir::Buffer& buffer, const std::vector<tir::Expr>& begins,
                  const std::vector<tir::Expr>& extents);

/// The alignment of a temporary: nothing gains from aligning it to more than its own size.
int alignment_of_temporary(DataType type, const std::vector<tir::Expr>& shape);

}  // namespace tenon::lowering
