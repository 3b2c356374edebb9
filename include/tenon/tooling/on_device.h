// Calls of functions that are compiled for any target, with arguments in host memory.
//
//   const Target target("opencl");
//   run_main(build(s, {A, B, C}, target), target, call);
#pragma once

#include "tenon/driver/arguments.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/module.h"

namespace tenon {

/// Returns the same arguments, with the arrays copied to the device.
std::vector<CallArgument> copied_to(Device device, const std::vector<CallArgument>& call);
/// Calls the function `main` of a module that was built for the target. Copies the arrays to the
/// target's device and back.
void run_main(const runtime::Module& module, const Target& target,
              const std::vector<CallArgument>& call,
              SourceLocation where = SourceLocation::current());

}  // namespace tenon
