// The C file of a kernel library that was compiled for several processors: each function calls that
// of the variant which this processor runs (runtime/kernel_variants.h).
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// The functions of a library for one processor.
struct Variant {
  std::string target;
  /// Its functions' symbols, in the order of the library's.
  std::vector<std::string> symbols;
  /// What its code needs of a processor.
  std::vector<std::string> features;
};

/// The text of NAME.c, which defines the symbols of `functions`. It includes NAME.h.
std::string variant_choice(const std::string& name,
                           const std::vector<runtime::FunctionSpec>& functions,
                           const std::vector<Variant>& variants);

}  // namespace tenon::codegen
