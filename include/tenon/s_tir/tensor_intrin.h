// Tensor intrinsics of block programs: what an instruction computes, as a block program, and the
// block program that calls it.
//
//   s_tir::register_tensor_intrin("dot_4x4", description, implementation);
//   sch.tensorize(loop, "dot_4x4");      // the loop and all below it become the implementation
//
// Both functions have the same buffers as parameters. The description is what a blockized
// computation is compared with: loops around one block, without an init. The implementation is any
// block program; inside of the tensorized block its parameters are matched buffers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/support/name.h"
#include "tenon/tir/function.h"

namespace tenon::s_tir {

/// What an intrinsic computes, as loops and as the hardware does it.
struct TensorIntrin {
  tir::PrimFunc description, implementation;
};

/// What becomes of an intrinsic of the same name.
struct RegisterOptions {
  /// Replaces an intrinsic of the same name, which is refused otherwise.
  bool override_existing = false;
};

/// TypeError: functions that are no block programs, parameters that are no buffers of constant
/// shape or differ between the two, a name that is taken.
void register_tensor_intrin(const Name& name, tir::PrimFunc description,
                            tir::PrimFunc implementation, const RegisterOptions& options = {},
                            SourceLocation where = SourceLocation::current());

/// nullopt if none of that name is registered.
std::optional<TensorIntrin> find_tensor_intrin(const std::string& name);
/// In alphabetical order.
std::vector<std::string> tensor_intrin_names();

}  // namespace tenon::s_tir
