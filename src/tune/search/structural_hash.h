// A number for the structure of a program: the same for programs that differ in names of variables
// only, in every run and on every machine.
#pragma once

#include <cstdint>

#include "tenon/tir/function.h"

namespace tenon::tune {

std::uint64_t structural_hash(const tir::IRModule& mod);

/// The same functions, with the same blocks: what is done to one by a trace can be done to the
/// other.
bool is_same_workload(const tir::IRModule& a, const tir::IRModule& b);
/// Functions of the same names that are structurally equal.
bool is_same_structure(const tir::IRModule& a, const tir::IRModule& b);

}  // namespace tenon::tune
