// A structural hash of a program. It does not depend on variable names, and is equal in every run
// and on every machine.
#pragma once

#include <cstdint>

#include "tenon/tir/function.h"

namespace tenon::tune {

std::uint64_t structural_hash(const tir::IRModule& mod);

/// Whether both programs have the same functions with the same block names. A trace for one program
/// then applies to the other.
bool is_same_workload(const tir::IRModule& a, const tir::IRModule& b);
/// Whether both programs have structurally equal functions with equal names.
bool is_same_structure(const tir::IRModule& a, const tir::IRModule& b);

}  // namespace tenon::tune
