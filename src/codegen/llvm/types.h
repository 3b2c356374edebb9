// LLVM types for Tenon's types. The type of a value in a register differs from the type of an
// element in memory in two cases: bools are stored as bytes, and the lanes of vectors are stored
// without gaps. bfloat16 is represented by its bits, because LLVM's own type would need library
// functions that older C runtimes lack.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Value.h>
#include <llvm/Support/Alignment.h>

#include "tenon/support/data_type.h"

namespace tenon::codegen {

/// Returns the type of an expression's value.
llvm::Type* register_type(llvm::LLVMContext& context, DataType type);
/// Returns the type of one lane of an element in memory.
llvm::Type* lane_type_in_memory(llvm::LLVMContext& context, DataType type);
/// Returns the type of an element in memory: a vector of the lane type, or the lane type if scalar.
llvm::Type* memory_type(llvm::LLVMContext& context, DataType type);
/// Returns the size of a lane in memory, in bytes, which is also its alignment.
int lane_bytes(DataType type);
llvm::Align lane_alignment(DataType type);

/// Returns a vector of `type` with this number of lanes; `type` itself for one lane.
llvm::Type* with_lanes(llvm::Type* type, int lanes);
/// Returns the number of lanes of a vector; 1 for a scalar.
int lane_count(const llvm::Value* value);

}  // namespace tenon::codegen
