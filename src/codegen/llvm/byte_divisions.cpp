#include "codegen/llvm/byte_divisions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace tenon::codegen {

namespace {

bool is_byte_division(const llvm::Instruction& instruction) {
  const auto* n = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
  return n && n->isIntDivRem() && n->getType()->isVectorTy() &&
         n->getType()->isIntOrIntVectorTy(8) && llvm::isa<llvm::Constant>(n->getOperand(1));
}

void widen(llvm::BinaryOperator& n) {
  llvm::IRBuilder<> builder(&n);
  const bool is_signed =
      n.getOpcode() == llvm::Instruction::SDiv || n.getOpcode() == llvm::Instruction::SRem;
  llvm::Type* bytes = n.getType();
  llvm::Type* wide = bytes->getWithNewBitWidth(16);
  llvm::Value* a = builder.CreateIntCast(n.getOperand(0), wide, is_signed);
  llvm::Value* b = builder.CreateIntCast(n.getOperand(1), wide, is_signed);
  n.replaceAllUsesWith(builder.CreateTrunc(builder.CreateBinOp(n.getOpcode(), a, b), bytes));
  n.eraseFromParent();
}

}  // namespace

void widen_byte_divisions(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& each : llvm::make_early_inc_range(llvm::instructions(function)))
      if (is_byte_division(each)) widen(llvm::cast<llvm::BinaryOperator>(each));
}

}  // namespace tenon::codegen
