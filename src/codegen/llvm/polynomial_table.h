// The functions that are emitted as polynomials.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <span>

#include "tenon/tir/intrin.h"

namespace tenon::codegen {

/// Calls the member of `Functions` with the function's name. Returns nullopt for other functions.
/// `has_scaling`: see RangeReduction.
template <class Functions>
std::optional<llvm::Value*> function_of(llvm::IRBuilderBase& builder, tir::Intrin function,
                                        std::span<llvm::Value* const> args, bool has_scaling) {
  llvm::Value* x = args[0];
  Functions functions(builder, x->getType(), has_scaling);
  switch (function) {
    case tir::Intrin::exp:
      return functions.exp(x);
    case tir::Intrin::exp2:
      return functions.exp2(x);
    case tir::Intrin::exp10:
      return functions.exp10(x);
    case tir::Intrin::log:
      return functions.log(x);
    case tir::Intrin::log2:
      return functions.log2(x);
    case tir::Intrin::log10:
      return functions.log10(x);
    case tir::Intrin::tanh:
      return functions.tanh(x);
    case tir::Intrin::erf:
      return functions.erf(x);
    case tir::Intrin::sin:
      return functions.sin(x);
    case tir::Intrin::cos:
      return functions.cos(x);
    case tir::Intrin::tan:
      return functions.tan(x);
    case tir::Intrin::pow:
      return functions.pow(x, args[1]);
    default:
      return std::nullopt;
  }
}

}  // namespace tenon::codegen
