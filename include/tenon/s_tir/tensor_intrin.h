// Tensor intrinsics of block programs: a block program that describes what an instruction computes,
// and one that invokes it.
//
//   s_tir::register_tensor_intrin("dot_4x4", description, implementation);
//   sch.tensorize(loop, "dot_4x4");      // the loop and all below it become the implementation
//
// Both functions have the same buffers as parameters. The description is loops around one block
// without an init; a blockized computation is compared with it. The implementation is any block
// program. In the tensorized block, its parameters become matched buffers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/support/name.h"
#include "tenon/tir/function.h"

namespace tenon::s_tir {

/// The computation of an intrinsic, and its implementation.
struct TensorIntrin {
  tir::PrimFunc description, implementation;
};

/// Options of register_tensor_intrin.
struct RegisterOptions {
  /// Whether to replace an intrinsic of the same name. Otherwise a duplicate name is an error.
  bool override_existing = false;
};

/// Registers an intrinsic. TypeError if a function is not a block program, if a parameter is not a
/// buffer of constant shape or differs between the functions, or if the name is taken.
void register_tensor_intrin(const Name& name, tir::PrimFunc description,
                            tir::PrimFunc implementation, const RegisterOptions& options = {},
                            SourceLocation where = SourceLocation::current());

/// Returns the intrinsic of this name; nullopt if it is not registered.
std::optional<TensorIntrin> find_tensor_intrin(const std::string& name);
/// Returns the registered names in alphabetical order.
std::vector<std::string> tensor_intrin_names();

}  // namespace tenon::s_tir
