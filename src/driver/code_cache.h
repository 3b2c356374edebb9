// A cache of compiled code, shared with other processes.
#pragma once

#include <optional>

#include "tenon/codegen/compile_options.h"
#include "tenon/driver/build.h"

namespace tenon {

/// Returns a key that two compilations share only if they produce the same code. It contains the
/// functions, targets and options, and the identities of this library and of LLVM. `flow` names the
/// caller's way of compiling the functions. Nullopt without a cache, if the compilation is
/// observed, and for code that depends on anything else (kernels of devices, imported sources,
/// libraries to link).
std::optional<std::string> code_key(std::string_view flow,
                                    const std::vector<TargetedModule>& modules,
                                    const BuildOptions& options);

/// Returns the code of this key, compiled for these targets with these options.
std::optional<codegen::Artifact> find_code(const std::string& key,
                                           std::vector<tir::TargetFacts> targets,
                                           const codegen::CompileOptions& how);
void store_code(const std::string& key, const codegen::Artifact& code);

}  // namespace tenon
