// Moves computations that depend only on constant inputs, such as packing of weights, to a separate
// function.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// Splits `func` if some of its stages depend only on the array parameters `constants`. Returns
/// `func` without these stages, and a function `<name>_constants` that computes them. The results
/// that `func` reads become additional array parameters of both functions, after all other
/// parameters. Constants that `func` no longer reads are removed from its parameters. Returns only
/// `func` if there are no such stages.
///
///  A stage is moved only if it is computed outside of all loops, and its array is allocated whole
///  with a constant shape. Precondition: the function is multi-dimensional.
std::vector<tir::PrimFunc> separate_constants(const tir::PrimFunc& func,
                                              const std::vector<tir::Var>& constants);

}  // namespace tenon
