// Buffers as flat memory: the index of an element, and views bound to regions of other buffers.
#pragma once

#include <string>

#include "tenon/arith/facts.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

// The index of an element in the flat memory of a buffer, in the normal form of TVM 0.9 text.
//
//   flat_index(A[1024, 64], {i, k})            // {((i*64) + k)}
//   flat_index(A[n, m], {f // m, f % m})       // {f}

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

/// Returns the alignment of a temporary. An alignment larger than the temporary's own size has no
/// benefit.
int alignment_of_temporary(DataType type, const std::vector<tir::Expr>& shape);

// Binding of a declared buffer to a piece of memory. The data pointer, element offset, shape and
// strides of the declaration are matched with those of the piece.
//
//   declared: Bb[16, 64], strides {s1, 1}, offset `off`      piece: rows 16*j ... of B[512, 64]
//   bind_view(...)                                           // s1 = 64, off = j*1024; no checks

struct ViewBinding {
  /// The variables of the declaration, each with its value.
  std::vector<std::pair<tir::Var, tir::Expr>> values;
  /// Conditions that could not be proved and must be checked at run time, with error messages.
  std::vector<std::pair<tir::Expr, std::string>> checks;
  /// The offset of the piece, if the declared offset is a variable of a narrower type. The value of
  /// this variable in `values` is truncated.
  std::optional<tir::Expr> wide_offset;
};

/// Throws LowerError if scope, type, rank or a constant extent, stride or offset provably
/// mismatches. Variables in `known` are compared instead of bound. The declaration may omit leading
/// dimensions of extent 1.
ViewBinding bind_view(const tir::Buffer& declared, const tir::Buffer& piece,
                      const tir::VarMap& known, const arith::Facts& facts);

}  // namespace tenon::lowering
