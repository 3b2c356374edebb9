// What a device can launch: threads of a block, blocks of a grid, bytes of shared memory,
// registers.
#pragma once

#include <string>
#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// What must hold where the kernel is launched, made of its parameters.
struct LaunchCheck {
  tir::Expr condition;
  std::string message;
};

/// LowerError, with the kernel's stages and the memory, where the kernel surely exceeds what the
/// target has, and for operations of tensor cores that it does not have. What depends on numbers
/// that only the call knows is left to check then. The values of `lets`, which are
/// names of the compiler, are substituted in checks and messages.
std::vector<LaunchCheck> check_kernel_limits(const tir::PrimFunc& kernel,
                                             const tir::TargetFacts& target,
                                             const tir::VarMap& lets = {});

}  // namespace tenon::lowering
