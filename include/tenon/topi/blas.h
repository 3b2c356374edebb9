// Routines of the BLAS, levels 1 and 2, for CPUs (Lawson et al., "Basic Linear Algebra Subprograms
// for Fortran Usage", 1979; Dongarra et al., "An Extended Set of FORTRAN Basic Linear Algebra
// Subprograms", 1988).
//
//   tir::PrimFunc axpy = topi::blas::axpy({.dtype = Float(64)}, target.facts());
//   runtime::Module mod = build({{{"axpy", axpy}}}, target);
//   mod["axpy"](alpha, x, y);                       // y <- alpha*x + y, for arrays of any length
//
// Each function returns a loop program, scheduled for the target, whose sizes are read from its
// arguments. The arguments are those of the BLAS in the same order, without sizes, strides and
// leading dimensions, which the arrays have. Vectors that are updated are overwritten. Results that
// the BLAS returns as a value are the last argument, an array of rank 0.
//
// For a negative stride, the array's data pointer refers to element 0, which has the highest
// address. (The BLAS takes the lowest address.) No element is accessed if a size is 0. A matrix in
// column-major order is the transpose of the row-major one.
//
// TypeError for types other than float32 and float64; ScheduleError if the target is a device.
#pragma once

#include "tenon/support/error.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::topi::blas {

/// Options of routines on vectors.
struct VectorOptions {
  /// Float(32) or Float(64), the type of all arrays and scalars.
  DataType dtype = Float(32);
  /// Whether vectors are contiguous. False: each has a stride of its own, which may be negative.
  bool unit_strides = true;
};

/// axpy(alpha, x, y): y <- alpha*x + y.
tir::PrimFunc axpy(const VectorOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());
/// dot(x, y, result): the sum of x[i]*y[i]; 0 for vectors without elements.
tir::PrimFunc dot(const VectorOptions& options, const tir::TargetFacts& target,
                  SourceLocation where = SourceLocation::current());
/// nrm2(x, result): the square root of the sum of x[i]*x[i], without overflow or underflow of the
/// squares. Infinite if an element is infinite and none is NaN.
tir::PrimFunc nrm2(const VectorOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());
/// asum(x, result): the sum of the absolute values.
tir::PrimFunc asum(const VectorOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());
/// iamax(x, result): the index, counted from 0, of the first element of the greatest absolute
/// value, as an int32; -1 for a vector without elements. NaN is less than any number; if all
/// elements are NaN, the index is 0.
tir::PrimFunc iamax(const VectorOptions& options, const tir::TargetFacts& target,
                    SourceLocation where = SourceLocation::current());
/// rot(x, y, c, s): x, y <- c*x + s*y, c*y - s*x.
tir::PrimFunc rot(const VectorOptions& options, const tir::TargetFacts& target,
                  SourceLocation where = SourceLocation::current());

/// Options of routines on matrices. The elements of a row are contiguous; the row pitch is
/// arbitrary.
struct MatrixOptions {
  /// `dtype` and `unit_strides` as in VectorOptions.
  DataType dtype = Float(32);
  bool unit_strides = true;
  /// Whether op(A) is the transpose of A.
  bool transposed = false;
};

/// gemv(alpha, A, x, beta, y): y <- alpha*op(A)*x + beta*y. If beta is 0, y is not read; if alpha
/// is 0, neither A nor x is.
tir::PrimFunc gemv(const MatrixOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());
/// ger(alpha, x, y, A): A <- A + alpha*x*y^T, unless alpha is 0. `transposed` has no effect.
tir::PrimFunc ger(const MatrixOptions& options, const tir::TargetFacts& target,
                  SourceLocation where = SourceLocation::current());

/// Options of routines on square matrices of which one triangle, with the diagonal, is accessed.
struct TriangleOptions {
  DataType dtype = Float(32);
  bool unit_strides = true;
  /// Whether the lower triangle is accessed, not the upper one.
  bool lower = false;
  bool transposed = false;
  /// Whether the elements of the diagonal are 1 and are not read.
  bool unit_diagonal = false;
};

/// symv(alpha, A, x, beta, y): y <- alpha*A*x + beta*y for a symmetric A, with the rules of gemv
/// for 0. `transposed` and `unit_diagonal` have no effect.
tir::PrimFunc symv(const TriangleOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());
/// trmv(A, x): x <- op(A)*x.
tir::PrimFunc trmv(const TriangleOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());
/// trsv(A, x): x <- the solution z of op(A)*z = x. Does not test for singularity.
tir::PrimFunc trsv(const TriangleOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());
/// syr2(alpha, x, y, A): A <- A + alpha*x*y^T + alpha*y*x^T, unless alpha is 0. `transposed` and
/// `unit_diagonal` have no effect.
tir::PrimFunc syr2(const TriangleOptions& options, const tir::TargetFacts& target,
                   SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::blas
