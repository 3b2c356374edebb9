// Processor features that can be queried at run time without a compiler. Exported code lists the
// features that it requires, and loading it checks them.
//
//   processor_features()             // "avx", "avx2", "avx512bf16", ...
//   processor_has("avx512f")
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// Returns the features (LLVM names) that can be queried on an architecture, in alphabetical order.
std::span<const std::string_view> x86_features();
std::span<const std::string_view> aarch64_features();
/// Returns the features that can be queried on this machine's architecture; empty if it is another.
std::span<const std::string_view> processor_features();

/// Whether this processor and its operating system support the feature. True for a name that cannot
/// be queried.
bool processor_has(std::string_view feature);

/// Returns the features that this processor lacks.
std::vector<std::string> missing_features(std::span<const std::string> features);

}  // namespace tenon::runtime
