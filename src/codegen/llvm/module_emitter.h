// State shared by the functions of one module while they are emitted: LLVM's module, the target,
// and the runtime's functions.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/llvm/debug_lines.h"
#include "tenon/codegen/llvm/compile.h"
#include "tenon/codegen/lowering/expand_math.h"
#include "tenon/codegen/signature.h"
#include "tenon/tir/block.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

/// Target properties that determine how operations are emitted.
struct TargetTraits {
  /// Hardware arithmetic on float16. Otherwise operations compute in float32 and round each result.
  bool half_arithmetic = false;
  /// Hardware conversions between float16 and float32. Otherwise bit operations convert.
  bool half_conversion = false;
  /// x86: vector instructions for sums of four byte products, and for sums of two bfloat16
  /// products.
  bool byte_products = false;
  bool bfloat_products = false;
  tir::TileProducts tile_products;
  /// x86: instructions that load or store only some lanes of a register, for any element type.
  bool lane_masks = false;
  MathInstructions math;
  int vector_bits = 128;
};
TargetTraits traits_of(const tir::TargetFacts& facts);

/// Adds a constant global variable.
llvm::GlobalVariable* add_constant(llvm::Module& module, llvm::Constant* value,
                                   llvm::GlobalValue::LinkageTypes linkage, const char* name);

/// Declares a runtime function with the types that runtime/symbols.h derives from c_api.h.
llvm::FunctionCallee declare_runtime_function(llvm::Module& module, std::string_view name);

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
  /// Returns the flags of every floating-point operation: contraction always, reassociation only
  /// with fast_math.
  llvm::FastMathFlags fast_math_flags() const;

  /// Null if instructions do not need the lines of their statements.
  DebugLines* debug_lines() const { return debug_lines_; }

  /// Sets the kernels for all functions that are emitted after this call. These functions launch
  /// kernels, and their array arguments are on the kernels' device. `code` must outlive the
  /// emitter.
  void add_kernels(const KernelCode& code);
  /// Null if there are no kernels.
  const KernelCode* kernels() const { return kernels_; }
  /// Returns the global TenonKernels table (c_api.h); null if there are no kernels.
  llvm::GlobalVariable* kernel_table() const { return kernel_table_; }

  /// Creates a function of this module, compiled for the target. An internal function may be
  /// renamed; other functions keep `name`. Throws LowerError if the module calls an external
  /// function of this name with another type, or imports a definition of it.
  llvm::Function* make_function(llvm::FunctionType* type, llvm::GlobalValue::LinkageTypes linkage,
                                const std::string& name);
  /// Returns the type of the function if the module defines it, whether emitted or imported;
  /// otherwise null.
  const llvm::FunctionType* definition_of(const std::string& name) const;
  /// Returns an extern function by name. Throws LowerError if the module defines it with another
  /// type.
  llvm::FunctionCallee extern_function(const std::string& name, llvm::FunctionType* type);
  /// Returns the personality function for frames that only run cleanup code during an exception. It
  /// is C's, so that the code does not depend on the C++ library.
  llvm::Constant* cleanup_personality();
  /// Returns the address of a zero-terminated text; equal texts are shared.
  llvm::Constant* text(const std::string& value);

  /// The metadata of loops that LLVM must not unroll, with or without explicit vectors; null until
  /// set.
  llvm::MDNode*& loop_that_stays(bool has_vectors) { return loops_that_stay_[has_vectors]; }

  /// Returns a runtime function (c_api.h) with its declared type.
  llvm::FunctionCallee runtime_function(std::string_view name) const;

 private:
  /// Renames an internal symbol of this name that the emitter chose, so that a user's symbol can
  /// have the name.
  void make_free(const std::string& name) const;

  llvm::Module& module_;
  TargetTraits traits_;
  CompileOptions options_;
  DebugLines* debug_lines_;
  bool fast_math_;
  std::string cpu_;
  std::string features_;
  const KernelCode* kernels_ = nullptr;
  llvm::GlobalVariable* kernel_table_ = nullptr;
  std::map<std::string, llvm::Constant*> texts_;
  std::array<llvm::MDNode*, 2> loops_that_stay_ = {};
};

}  // namespace tenon::codegen
