// The C file of a kernel library that is compiled for several processors. Each function calls its
// variant for the processor that it runs on (runtime/kernel_variants.h).
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// The compiled functions of a library for one processor.
struct Variant {
  std::string target;
  /// The symbols of the functions, in the order of the library's functions.
  std::vector<std::string> symbols;
  /// The processor features that the code requires.
  std::vector<std::string> features;
};

/// Returns the text of NAME.c. It includes NAME.h and defines the symbols of `functions`; each
/// calls the variant for the processor on which it runs.
std::string variant_choice(const std::string& name,
                           const std::vector<runtime::FunctionSpec>& functions,
                           const std::vector<Variant>& variants);

}  // namespace tenon::codegen
