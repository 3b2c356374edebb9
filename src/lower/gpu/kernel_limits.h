// Limits of a kernel launch: threads per block, blocks per grid, bytes of shared memory, registers.
#pragma once

#include <string>
#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// A condition on the kernel's parameters that must hold at the launch.
struct LaunchCheck {
  tir::Expr condition;
  std::string message;
};

/// Throws LowerError, with the kernel's stages and the memory, if the kernel provably exceeds the
/// limits of the target, or if it uses tensor-core operations that the target lacks. Returns the
/// checks that depend on values known only at the call. The values of `lets`, which are
/// compiler-generated names, are substituted in checks and messages.
std::vector<LaunchCheck> check_kernel_limits(const tir::PrimFunc& kernel,
                                             const tir::TargetFacts& target,
                                             const tir::VarMap& lets = {});

}  // namespace tenon::lowering
