#include "codegen/llvm/module_emitter.h"

#include <llvm/Support/raw_ostream.h>

#include <algorithm>

#include "codegen/llvm/target_machine.h"
#include "codegen/llvm/types.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/runtime/symbols.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

/// Pairs of a runtime function and the variant that profiled code calls, which also measures time.
constexpr std::pair<std::string_view, std::string_view> kProfiled[] = {
    {"tenon_parallel_for", "tenon_profile_parallel_for"},
    {"tenon_parallel_launch", "tenon_profile_parallel_launch"},
    {"tenon_parallel_barrier", "tenon_profile_parallel_barrier"},
    {"tenon_workspace_alloc", "tenon_profile_workspace_alloc"},
    {"tenon_workspace_free", "tenon_profile_workspace_free"},
};

/// Marks internal functions that the emitter created, as opposed to imported ones.
constexpr const char* kEmittedAttribute = "tenon-emitted";

std::string to_text(const llvm::FunctionType& type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

}  // namespace

TargetTraits traits_of(const tir::TargetFacts& facts) {
  const std::vector<std::string>& features = enabled_features(facts);
  const auto has = [&](std::string_view name) {
    return std::ranges::binary_search(features, name);
  };
  const llvm::Triple triple = triple_of(facts.triple);
  const bool is_x86 = triple.isX86();
  TargetTraits traits;
  traits.half_arithmetic = has(is_x86 ? "avx512fp16" : "fullfp16");
  traits.half_conversion = is_x86 ? has("f16c") || has("avx512f") : has("neon");
  // The 128-bit and 256-bit variants require avx512vl.
  const bool has_all_widths = is_x86 && has("avx512vl");
  traits.byte_products = has_all_widths && has("avx512vnni");
  traits.bfloat_products = has_all_widths && has("avx512bf16");
  traits.tile_products = tile_products(facts);
  traits.lane_masks = has_all_widths && has("avx512bw");
  // Features with fused multiply-add: "fma" or "fma4" on x86, "d" on RISC-V and LoongArch. Other
  // architectures always have it.
  traits.math.fused_multiply_add = has("fma") || has("fma4") || has("d") || triple.isAArch64() ||
                                   triple.isPPC() || triple.isSystemZ();
  traits.math.scaling = has_all_widths;
  traits.vector_bits = vector_registers(facts).bits;
  return traits;
}

ModuleEmitter::ModuleEmitter(llvm::Module& module, const tir::TargetFacts& facts,
                             const CompileOptions& options, DebugLines* debug_lines)
    : module_(module),
      traits_(traits_of(facts)),
      options_(options),
      debug_lines_(debug_lines),
      fast_math_(facts.fast_math),
      cpu_(facts.cpu),
      features_(joined_features(facts)) {}

llvm::FastMathFlags ModuleEmitter::fast_math_flags() const {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  if (!fast_math_) return flags;
  // "No infinities" and "no NaNs" are not set: both are ordinary values in reductions and isnan.
  flags.setAllowReassoc(true);
  flags.setAllowReciprocal(true);
  flags.setApproxFunc(true);
  flags.setNoSignedZeros(true);
  return flags;
}

void ModuleEmitter::make_free(const std::string& name) const {
  llvm::GlobalValue* known = module_.getNamedValue(name);
  if (!known || !known->hasLocalLinkage()) return;
  const auto* function = llvm::dyn_cast<llvm::Function>(known);
  if (!function || function->hasFnAttribute(kEmittedAttribute)) known->setName(name + ".emitted");
}

llvm::Function* ModuleEmitter::make_function(llvm::FunctionType* type,
                                             llvm::GlobalValue::LinkageTypes linkage,
                                             const std::string& name) {
  llvm::Function* function = nullptr;
  if (linkage == llvm::GlobalValue::InternalLinkage) {
    function = llvm::Function::Create(type, linkage, name, module_);
    function->addFnAttr(kEmittedAttribute);
  } else {
    make_free(name);
    function = module_.getFunction(name);
    if (function && (!function->isDeclaration() || function->getFunctionType() != type))
      throw LowerError("`" + name + "` is defined with the LLVM type " + to_text(*type) + ", but " +
                       (function->isDeclaration() ? "called" : "imported source defines it") +
                       " with the type " + to_text(*function->getFunctionType()));
    if (!function) function = llvm::Function::Create(type, linkage, name, module_);
    internal_check(function->getName() == name, "a function has another name");
    function->setLinkage(linkage);
  }
  if (!cpu_.empty()) function->addFnAttr("target-cpu", cpu_);
  if (!features_.empty()) function->addFnAttr("target-features", features_);
  // Wide registers reduce the clock of some processors, but dense loops still gain more than they
  // lose.
  function->addFnAttr("prefer-vector-width", std::to_string(traits_.vector_bits));
  // Without the attribute, LLVM reserves no frame pointer before it allocates registers, and cannot
  // align the stack when it spills. Spilled vectors then cross cache lines in most processes.
  constexpr int kAlignedBits = 128;
  if (traits_.vector_bits > kAlignedBits) function->addFnAttr("stackrealign");
  // Exceptions of extern functions propagate through the function. The runtime catches exceptions
  // of parallel loop bodies.
  function->setUWTableKind(llvm::UWTableKind::Default);
  return function;
}

const llvm::FunctionType* ModuleEmitter::definition_of(const std::string& name) const {
  make_free(name);
  const llvm::Function* function = module_.getFunction(name);
  return function && !function->isDeclaration() ? function->getFunctionType() : nullptr;
}

llvm::FunctionCallee ModuleEmitter::extern_function(const std::string& name,
                                                    llvm::FunctionType* type) {
  make_free(name);
  llvm::FunctionCallee callee = module_.getOrInsertFunction(name, type);
  const auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee());
  if (!function || function->isDeclaration() || function->getFunctionType() == type) return callee;
  throw LowerError("the call of `" + name + "` has the LLVM type " + to_text(*type) +
                   ", its imported definition is " + to_text(*function->getFunctionType()));
}

llvm::Constant* ModuleEmitter::cleanup_personality() {
  llvm::Type* number = llvm::Type::getInt32Ty(context());
  llvm::FunctionCallee personality =
      module_.getOrInsertFunction("__gcc_personality_v0", llvm::FunctionType::get(number, true));
  return llvm::cast<llvm::Constant>(personality.getCallee());
}

llvm::Constant* ModuleEmitter::text(const std::string& value) {
  if (auto found = texts_.find(value); found != texts_.end()) return found->second;
  llvm::GlobalVariable* global =
      add_constant(module_, llvm::ConstantDataArray::getString(context(), value),
                   llvm::GlobalValue::PrivateLinkage, "text");
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return texts_.emplace(value, global).first->second;
}

llvm::GlobalVariable* add_constant(llvm::Module& module, llvm::Constant* value,
                                   llvm::GlobalValue::LinkageTypes linkage, const char* name) {
  return new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true, linkage, value,
                                  name);
}

llvm::FunctionCallee declare_runtime_function(llvm::Module& module, std::string_view name) {
  llvm::LLVMContext& context = module.getContext();
  const runtime::CSymbol& symbol = runtime::c_symbol(name);
  std::vector<llvm::Type*> params;
  for (const DataType param : symbol.params) params.push_back(register_type(context, param));
  llvm::Type* const result =
      symbol.result ? register_type(context, *symbol.result) : llvm::Type::getVoidTy(context);
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(result, params, false));
  // A workspace is newly allocated memory, so no other pointer aliases it.
  if (name == "tenon_workspace_alloc" || name == "tenon_profile_workspace_alloc")
    llvm::cast<llvm::Function>(callee.getCallee())->addRetAttr(llvm::Attribute::NoAlias);
  return callee;
}

llvm::FunctionCallee ModuleEmitter::runtime_function(std::string_view name) const {
  if (options_.profiler)
    for (const auto& [plain, profiled] : kProfiled)
      if (name == plain) return declare_runtime_function(module_, profiled);
  return declare_runtime_function(module_, name);
}

}  // namespace tenon::codegen
