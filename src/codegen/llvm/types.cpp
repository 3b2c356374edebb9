#include "codegen/llvm/types.h"

#include "tenon/support/error.h"

namespace tenon::codegen {

llvm::Type* with_lanes(llvm::Type* type, int lanes) {
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
}

int lane_count(const llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

namespace {

llvm::Type* lane_type(llvm::LLVMContext& context, DataType type) {
  if (type.is_handle()) return llvm::PointerType::getUnqual(context);
  if (type.is_integral() || type.is_bfloat()) return llvm::Type::getIntNTy(context, type.bits);
  switch (type.bits) {
    case 16:
      return llvm::Type::getHalfTy(context);
    case 32:
      return llvm::Type::getFloatTy(context);
    case 64:
      return llvm::Type::getDoubleTy(context);
    default:
      internal_error("a floating type of " + std::to_string(type.bits) + " bits");
  }
}

}  // namespace

llvm::Type* register_type(llvm::LLVMContext& context, DataType type) {
  return with_lanes(lane_type(context, type), type.lanes);
}

llvm::Type* lane_type_in_memory(llvm::LLVMContext& context, DataType type) {
  return type.is_bool() ? llvm::Type::getInt8Ty(context) : lane_type(context, type);
}

llvm::Type* memory_type(llvm::LLVMContext& context, DataType type) {
  return with_lanes(lane_type_in_memory(context, type), type.lanes);
}

int lane_bytes(DataType type) { return type.element().bytes(); }

llvm::Align lane_alignment(DataType type) {
  return llvm::Align(static_cast<std::uint64_t>(lane_bytes(type)));
}

}  // namespace tenon::codegen
