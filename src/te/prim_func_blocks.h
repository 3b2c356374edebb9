// The conversion of operations to a block program, for create_prim_func.
#pragma once

#include "tenon/te/prim_func.h"

namespace tenon::te {

/// Returns the block program. Precondition: `outputs` are the operations that compute the
/// arguments, and are not empty.
tir::PrimFunc blocks_of(const std::vector<Operation>& outputs,
                        const std::vector<FunctionArgument>& arguments,
                        const PrimFuncOptions& options, const SourceLocation& where);

}  // namespace tenon::te
