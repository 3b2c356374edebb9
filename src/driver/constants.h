// Moves computations that depend only on constant inputs, such as packing weights, to a function of
// their own.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// Returns `func` and, if some of its stages depend on nothing but the constant array parameters,
/// `<name>_constants`, which computes these stages. The results that `func` reads become array
/// parameters of both functions, after all other parameters. `func` loses the parameters for
/// constants that it no longer reads.
///
/// Moves a stage only if it is computed outside of all loops and its array has a constant shape and
/// is allocated whole. Precondition: the function is multi-dimensional.
std::vector<tir::PrimFunc> separate_constants(const tir::PrimFunc& func,
                                              const std::vector<tir::Var>& constants);

}  // namespace tenon
