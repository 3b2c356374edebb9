// A structural hash of a program: independent of variable names, and equal in every run and on
// every machine.
#pragma once

#include <cstdint>

#include "tenon/tir/function.h"

namespace tenon::tune {

std::uint64_t structural_hash(const tir::IRModule& mod);

/// Whether both have the same functions with the same block names, so that a trace for one applies
/// to the other.
bool is_same_workload(const tir::IRModule& a, const tir::IRModule& b);
/// Whether both have structurally equal functions of the same names.
bool is_same_structure(const tir::IRModule& a, const tir::IRModule& b);

}  // namespace tenon::tune
