// LLVM types of Tenon's types. A value in a register and an element in memory have different types
// for bools, which are stored as bytes, and for vectors, whose lanes are stored without gaps.
// bfloat16 is represented by its bits: LLVM's own type would need library functions that older C
// runtimes lack.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Value.h>

#include "tenon/support/data_type.h"

namespace tenon::codegen {

/// Returns the type of an expression's value.
llvm::Type* register_type(llvm::LLVMContext& context, DataType type);
/// Returns the type of a lane of an element in memory.
llvm::Type* lane_type_in_memory(llvm::LLVMContext& context, DataType type);
/// Returns a vector of the lane type in memory, or that type for a scalar.
llvm::Type* memory_type(llvm::LLVMContext& context, DataType type);
/// Returns the bytes of a lane in memory.
int lane_bytes(DataType type);

/// Returns `type`, or a vector of it if there is more than one lane.
llvm::Type* with_lanes(llvm::Type* type, int lanes);
/// Returns the number of lanes of a vector.
int lane_count(const llvm::Value* vector);

}  // namespace tenon::codegen
