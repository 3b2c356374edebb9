// How our types look to LLVM. A value in a register and an element in memory differ for bools,
// which are stored as bytes, and for vectors, whose lanes lie in memory without gaps. bfloat16 is
// kept as its bits: LLVM's own type would need library functions that older C runtimes lack.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Value.h>

#include "tenon/support/data_type.h"

namespace tenon::codegen {

/// The type of a value that an expression gives.
llvm::Type* register_type(llvm::LLVMContext& context, DataType type);
/// The type of a lane of an element in memory.
llvm::Type* lane_type_in_memory(llvm::LLVMContext& context, DataType type);
/// The lane's type in memory, with as many lanes.
llvm::Type* memory_type(llvm::LLVMContext& context, DataType type);
/// Bytes of a lane in memory.
int lane_bytes(DataType type);

/// `type`, or a vector of it if there is more than one lane.
llvm::Type* with_lanes(llvm::Type* type, int lanes);
/// The number of lanes of a vector.
int lane_count(const llvm::Value* vector);

}  // namespace tenon::codegen
