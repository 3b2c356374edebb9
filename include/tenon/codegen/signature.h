// What a compiled function demands of its arguments, and where its symbolic sizes come from: one
// truth for every code generator.
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

/// What of an array a size is read from.
enum class ArrayPart : std::uint8_t { Extent, Stride };

/// A variable whose value is an extent or a stride of an argument.
struct SizeBinding {
  tir::Var var;
  int param;
  ArrayPart part;
  int dimension;
  /// The stride of a dimension that may be broadcast: zero where the extent is one.
  bool zero_if_extent_is_one = false;
};

/// A size that must equal an expression of variables; the runtime cannot check it, so the code
/// does.
struct SizeCheck {
  int param;
  ArrayPart part;
  int dimension;
  tir::Expr expected;
  /// For the user, if it does not hold.
  std::string message;
};

struct Signature {
  runtime::FunctionSpec spec;
  std::vector<SizeBinding> sizes;
  /// Variables that stand for the offset of an array's first element: zero, since data points at
  /// that element.
  std::vector<tir::Var> zero_offsets;
  std::vector<SizeCheck> checks;
};

/// Arrays must be aligned to `argument_alignment` bytes, 0 for that of their elements. Throws
/// LowerError, naming the variable, if the function uses one that is neither a parameter nor bound
/// by one. A function with kernels does with arrays what the kernels that it launches do, on their
/// device.
Signature signature_of(const tir::PrimFunc& func, std::string symbol, int argument_alignment = 0,
                       const KernelCode* kernels = nullptr);

}  // namespace tenon::codegen
