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

/// The property of an array that a size is read from.
enum class ArrayPart : std::uint8_t { Extent, Stride };

/// A variable bound to an extent or stride of an argument.
struct SizeBinding {
  tir::Var var;
  int param;
  ArrayPart part;
  int dimension;
  /// Whether the stride is zero if the extent is one, as for a dimension that may be broadcast.
  bool zero_if_extent_is_one = false;
};

/// A size that must equal an expression of variables. Checked by the generated code, because the
/// runtime cannot evaluate the expression.
struct SizeCheck {
  int param;
  ArrayPart part;
  int dimension;
  /// In int64.
  tir::Expr expected;
  /// The error message if the check fails.
  std::string message;
};

struct Signature {
  runtime::FunctionSpec spec;
  std::vector<SizeBinding> sizes;
  /// Variables for the element offsets of arrays. Their value is zero, because `data` points to the
  /// first element.
  std::vector<tir::Var> zero_offsets;
  std::vector<SizeCheck> checks;
};

/// Returns the size or offset in int64, as are the intermediate results: products of int32 sizes
/// may exceed int32.
tir::Expr wide_size(const tir::Expr& size);

/// Derives the signature. Arrays must be aligned to `argument_alignment` bytes (0: the alignment of
/// their elements). LowerError, naming the variable, if the function uses a variable that is
/// neither a parameter nor bound by one. With `kernels`, the launched kernels determine the
/// accesses to arrays and their device.
Signature signature_of(const tir::PrimFunc& func, std::string symbol, int argument_alignment = 0,
                       const KernelCode* kernels = nullptr);

}  // namespace tenon::codegen
