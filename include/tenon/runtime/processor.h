// The features of processors that code may need, as far as a program can ask for them without a
// compiler: exported code says which it needs, and loading it asks.
//
//   processor_features()             // "avx", "avx2", "avx512bf16", ...
//   processor_has("avx512f")
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// Whose features can be asked for, and all others.
enum class Architecture : std::uint8_t { X86, AArch64, Other };

/// The names that can be asked for where code runs on that architecture, LLVM's, in alphabetical
/// order. None on one whose code is not checked.
std::span<const std::string_view> processor_features(Architecture architecture);
/// On this machine's.
std::span<const std::string_view> processor_features();

/// Whether this processor, and the system that it runs, have the feature. True for a name that
/// cannot be asked for.
bool processor_has(std::string_view feature);

/// Those of the features that this processor lacks.
std::vector<std::string> missing_features(std::span<const std::string> features);

}  // namespace tenon::runtime
