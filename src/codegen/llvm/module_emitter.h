// What the functions of one module share while they are emitted: LLVM's module, the target, the
// runtime's functions.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/llvm/debug_lines.h"
#include "tenon/codegen/llvm/compile.h"
#include "tenon/codegen/signature.h"
#include "tenon/tir/block.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

/// What decides how some operations are emitted.
struct TargetTraits {
  /// Arithmetic on float16 in hardware; otherwise it is done in float32 and rounded after each
  /// operation.
  bool half_arithmetic = false;
  /// Conversions between float16 and float32 in hardware; otherwise they are done on the bits.
  bool half_conversion = false;
  /// x86: sums of four products of bytes, and of two of bfloat16, as instructions on vectors.
  bool byte_products = false;
  bool bfloat_products = false;
  /// x86: products with powers of two, given by their exponents, as an instruction on vectors.
  bool scaling = false;
  int vector_bits = 128;
};
TargetTraits traits_of(const tir::TargetFacts& facts);

/// The kernels that functions of a module launch.
struct KernelTable {
  runtime::DeviceType device;
  /// A TenonKernels (c_api.h).
  llvm::GlobalVariable* data;
  KernelCode code;
};

class ModuleEmitter {
 public:
  /// `debug_lines` may be null.
  ModuleEmitter(llvm::Module& module, const tir::TargetFacts& facts, const CompileOptions& options,
                DebugLines* debug_lines);

  llvm::Module& module() const { return module_; }
  llvm::LLVMContext& context() const { return module_.getContext(); }
  const TargetTraits& traits() const { return traits_; }
  const CompileOptions& options() const { return options_; }
  bool has_fast_math() const { return fast_math_; }
  /// The flags of every floating operation: contraction always, what changes the order of sums only
  /// with fast_math.
  llvm::FastMathFlags fast_math_flags() const;

  /// Null unless instructions are to tell of their statements.
  DebugLines* debug_lines() const { return debug_lines_; }

  /// What the functions emitted from now on launch; their arrays are on the kernels' device.
  void add_kernels(const KernelCode& code);
  /// Null if there are none.
  const KernelTable* kernels() const { return kernels_ ? &*kernels_ : nullptr; }

  /// A function of the module's own, compiled for the target.
  llvm::Function* make_function(llvm::FunctionType* type, llvm::GlobalValue::LinkageTypes linkage,
                                const std::string& name);
  /// The type of a function whose code the module has, imported or its own; null if it has none.
  const llvm::FunctionType* definition_of(const std::string& name) const;
  /// A function of another language, by name. Throws LowerError if the module has its definition,
  /// and that has another type.
  llvm::FunctionCallee extern_function(const std::string& name, llvm::FunctionType* type);
  /// What finds the way of an exception through functions that only clean up. That of C, so that
  /// code needs no library of C++.
  llvm::Constant* cleanup_personality();
  /// The address of a text that ends in zero; equal texts are shared.
  llvm::Constant* text(const std::string& value);

  /// The properties of loops that LLVM shall not unroll, with vectors of their own or without; null
  /// until somebody sets them.
  llvm::MDNode*& loop_that_stays(bool has_vectors) { return loops_that_stay_[has_vectors]; }

  /// A function of the runtime (c_api.h), declared as it is there.
  llvm::FunctionCallee runtime_function(std::string_view name) const;

 private:
  llvm::Module& module_;
  TargetTraits traits_;
  CompileOptions options_;
  DebugLines* debug_lines_;
  bool fast_math_;
  std::string cpu_;
  std::string features_;
  std::optional<KernelTable> kernels_;
  std::map<std::string, llvm::Constant*> texts_;
  std::array<llvm::MDNode*, 2> loops_that_stay_ = {};
};

/// Emits a function of the module: the computation, and the packed function around it under the
/// signature's symbol. Throws LowerError for what a CPU cannot run.
void emit_function(ModuleEmitter& module, const tir::PrimFunc& func, const Signature& signature);

}  // namespace tenon::codegen
