// Operations as a block program: the half of create_prim_func that makes blocks.
#pragma once

#include "tenon/te/prim_func.h"

namespace tenon::te {

/// Precondition: `outputs` are what the arguments ask to be computed, one at least.
tir::PrimFunc blocks_of(const std::vector<Operation>& outputs,
                        const std::vector<FunctionArgument>& arguments,
                        const PrimFuncOptions& options, const SourceLocation& where);

}  // namespace tenon::te
