// Separates what a function computes from constant inputs only, such as packed weights.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// Returns `func` and, if some of its stages depend on nothing but the constant array parameters,
/// `<name>_constants`, which computes these stages. Those that `func` reads become array parameters
/// of both, after all others. A constant that `func` no longer reads is not its parameter.
///
/// Moves only stages that are computed outside of all loops into whole arrays of constant shape.
/// Precondition: the function is multi-dimensional.
std::vector<tir::PrimFunc> separate_constants(const tir::PrimFunc& func,
                                              const std::vector<tir::Var>& constants);

}  // namespace tenon
