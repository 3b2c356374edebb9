// The calling convention of a compiled function, shared by all code generators: the requirements on
// its arguments, and the sources of its symbolic sizes.
//
//   Signature s = signature_of(func, "matmul_packed");
//   s.spec.params[0]          // `A`: float32[n, 1024], compact, read
//   s.sizes[0]                // n is extent 0 of parameter 0
#pragma once

#include <string>
#include <vector>

#include "tenon/codegen/kernels.h"
#include "tenon/runtime/spec.h"
#include "tenon/tir/function.h"

namespace tenon::codegen {

/// An extent or stride of an argument.
struct ArgumentSize {
  int param;
  /// Whether the size is the stride of the dimension, as opposed to its extent.
  bool is_stride;
  int dimension;
  /// Whether the value is 0 if the extent of the dimension is 1, as for the stride of a dimension
  /// that may be broadcast.
  bool zero_if_extent_is_one = false;
  friend bool operator==(const ArgumentSize&, const ArgumentSize&) = default;
};

/// A variable bound to an extent or stride of an argument.
struct SizeBinding {
  tir::Var var;
  ArgumentSize size;
};

/// A check that an extent or stride of an argument equals an expression of variables. The generated
/// code performs it, because the runtime cannot evaluate the expression.
struct SizeCheck {
  ArgumentSize size;
  /// The expected value, in int64.
  tir::Expr expected;
  /// The error message if the check fails.
  std::string message;
};

struct Signature {
  runtime::FunctionSpec spec;
  std::vector<SizeBinding> sizes;
  /// Variables for the element offsets of arrays. Their value is 0, because the data pointer of an
  /// argument refers to its first element.
  std::vector<tir::Var> zero_offsets;
  std::vector<SizeCheck> checks;
};

/// Returns the size or offset, computed in int64, because products of int32 sizes may exceed int32.
tir::Expr wide_size(const tir::Expr& size);

/// Derives the signature of a function. Arrays must be aligned to `argument_alignment` bytes (0:
/// the alignment of their elements). LowerError, naming the variable, for a variable that is
/// neither a parameter nor bound by the shape or strides of a parameter. If `kernels` is given, the
/// launched kernels determine the accesses to arrays and the device of the arrays.
Signature signature_of(const tir::PrimFunc& func, std::string symbol, int argument_alignment = 0,
                       const KernelCode* kernels = nullptr);

}  // namespace tenon::codegen
