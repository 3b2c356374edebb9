#include "tenon/codegen/llvm/compile.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/imports.h"
#include "codegen/llvm/llvm_artifact.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/target_machine.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/codegen/imports.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/codegen/signature.h"
#include "tenon/codegen/symbol_names.h"
#include "tenon/runtime/spec.h"
#include "tenon/support/bytes.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

// ---- system libraries ---------------------------------------------------------------------------

// System libraries: their functions are linked into a program, which finds them without loading a
// library.

llvm::Constant* text(llvm::Module& module, const std::string& value, const char* name) {
  return add_constant(module, llvm::ConstantDataArray::getString(module.getContext(), value),
                      llvm::GlobalValue::PrivateLinkage, name);
}

llvm::Constant* array_of_pointers(llvm::Module& module,
                                  const std::vector<llvm::Constant*>& values) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
  return llvm::ConstantArray::get(llvm::ArrayType::get(pointer, values.size()), values);
}

llvm::Constant* addresses(llvm::Module& module,
                          const std::vector<runtime::FunctionSpec>& functions) {
  std::vector<llvm::Constant*> entries;
  for (const runtime::FunctionSpec& function : functions)
    entries.push_back(module.getFunction(function.symbol));
  return add_constant(module, array_of_pointers(module, entries), llvm::GlobalValue::PrivateLinkage,
                      "functions");
}

/// Adds code that registers the functions before main runs (c_api.h,
/// tenon_register_system_library). Precondition: all functions are defined.
void register_system_library(llvm::Module& module, const std::string& prefix,
                             const std::vector<runtime::FunctionSpec>& functions) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  const auto function = [&](const char* name, llvm::FunctionCallee callee,
                            llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::Function* made = llvm::Function::Create(llvm::FunctionType::get(none, false),
                                                  llvm::GlobalValue::InternalLinkage, name, module);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", made));
    builder.CreateCall(callee, arguments);
    builder.CreateRetVoid();
    return made;
  };
  llvm::Constant* list = addresses(module, functions);
  constexpr int kDefaultPriority = 65535;
  llvm::appendToGlobalCtors(
      module,
      function("tenon_start", declare_runtime_function(module, "tenon_register_system_library"),
               {text(module, prefix, "prefix"),
                text(module, runtime::to_manifest(functions), "manifest"), list}),
      kDefaultPriority);
  llvm::appendToGlobalDtors(
      module,
      function("tenon_stop", declare_runtime_function(module, "tenon_unregister_system_library"),
               {list}),
      kDefaultPriority);
}

// ---- faults of LLVM's code generators -----------------------------------------------------------

// Replacements of IR that LLVM's code generators compile incorrectly, in minutes, or not at all
// (llvm_faults.md). The replacements follow the last pass, because InstCombine would undo them.

bool is_byte_division(const llvm::BinaryOperator& n) {
  return n.getType()->isIntOrIntVectorTy(8) && llvm::isa<llvm::Constant>(n.getOperand(1));
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

void divide_by_lanes(llvm::BinaryOperator& n) {
  llvm::IRBuilder<> builder(&n);
  llvm::Value* result = llvm::PoisonValue::get(n.getType());
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(n.getType())->getNumElements();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::Value* a = builder.CreateExtractElement(n.getOperand(0), lane);
    llvm::Value* b = builder.CreateExtractElement(n.getOperand(1), lane);
    result = builder.CreateInsertElement(result, builder.CreateBinOp(n.getOpcode(), a, b), lane);
  }
  n.replaceAllUsesWith(result);
  n.eraseFromParent();
}

/// Replaces vector divisions and remainders. At optimization level 0, they are computed lane by
/// lane. At higher levels, only divisions of byte vectors by constants are replaced, by divisions
/// in 16 bits.
void replace_division(llvm::BinaryOperator& n, int opt_level) {
  if (!n.isIntDivRem() || !n.getType()->isVectorTy()) return;
  if (opt_level <= 0)
    divide_by_lanes(n);
  else if (is_byte_division(n))
    widen(n);
}

/// Replaces undefined lanes of a masked load's default value, which the disabled lanes return, by
/// 0.
void define_unloaded_lanes(llvm::IntrinsicInst& load) {
  const unsigned last = load.arg_size() - 1;
  auto* lanes = llvm::dyn_cast<llvm::Constant>(load.getArgOperand(last));
  if (!lanes || !lanes->containsUndefOrPoisonElement()) return;
  llvm::Type* type = lanes->getType();
  load.setArgOperand(last, llvm::isa<llvm::UndefValue>(lanes)
                               ? llvm::Constant::getNullValue(type)
                               : llvm::Constant::replaceUndefsWith(
                                     lanes, llvm::Constant::getNullValue(type->getScalarType())));
}

/// Replaces a masked store by a plain store if its mask is constant and enables a single lane.
void replace_store_of_one_lane(llvm::IntrinsicInst& store) {
  auto* mask = llvm::dyn_cast<llvm::Constant>(store.getArgOperand(store.arg_size() - 1));
  if (!mask) return;
  std::vector<unsigned> stored;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (const llvm::Constant* bit = mask->getAggregateElement(lane); !bit || !bit->isNullValue())
      stored.push_back(lane);
  if (stored.size() != 1) return;
  llvm::IRBuilder<> builder(&store);
  llvm::Value* value = builder.CreateExtractElement(store.getArgOperand(0), stored.front());
  builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(
                                 value->getType(), store.getArgOperand(1), stored.front()));
  store.eraseFromParent();
}

void avoid_faults_of_code_generators(llvm::Module& module, int opt_level) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& each : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* n = llvm::dyn_cast<llvm::BinaryOperator>(&each)) replace_division(*n, opt_level);
      if (auto* n = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
          n && n->getIntrinsicID() == llvm::Intrinsic::masked_load)
        define_unloaded_lanes(*n);
      else if (n && n->getIntrinsicID() == llvm::Intrinsic::masked_store)
        replace_store_of_one_lane(*n);
    }
}

// ---- compilation --------------------------------------------------------------------------------

/// Adds the manifest, a string constant that lists the functions of the module (see c_api.h). The
/// runtime reads it when it loads a shared library. The symbol is weak, so that objects of several
/// modules can be linked together.
void add_manifest(llvm::Module& module, const std::vector<runtime::FunctionSpec>& functions) {
  add_constant(
      module,
      llvm::ConstantDataArray::getString(module.getContext(), runtime::to_manifest(functions)),
      llvm::GlobalValue::WeakAnyLinkage, kManifestSymbol);
}

/// Adds the kernels of a library (c_api.h).
void add_kernel_tables(llvm::Module& module, std::vector<llvm::Constant*> tables) {
  tables.push_back(
      llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(module.getContext())));
  add_constant(module, array_of_pointers(module, tables), llvm::GlobalValue::WeakAnyLinkage,
               kKernelsSymbol);
}

bool is_same_processor(const tir::TargetFacts& a, const tir::TargetFacts& b) {
  return a.cpu == b.cpu && a.features == b.features;
}

/// Returns the target of code that does not belong to one function, such as imported code. It is
/// the processor that all functions have in common, or else a generic processor of their
/// architecture.
tir::TargetFacts common_target(const std::vector<tir::TargetFacts>& targets) {
  tir::TargetFacts common = targets.front();
  for (const tir::TargetFacts& target : targets) {
    if (triple_of(target.triple) != triple_of(common.triple))
      throw TargetError("one module cannot have functions for `" + triple_of(common.triple).str() +
                        "` and for `" + triple_of(target.triple).str() + "`; build one of each");
    if (target.system_library != common.system_library)
      throw TargetError(
          "the functions of one module belong to one system library: -system-lib must be the "
          "same in all of its targets");
    if (!is_same_processor(target, targets.front())) {
      common.cpu = "";
      common.features.clear();
    }
  }
  return common;
}

/// Returns an LlvmCode without functions.
LlvmCode code_for(std::vector<tir::TargetFacts> targets, const CompileOptions& options) {
  LlvmCode code;
  code.common = common_target(targets);
  code.targets = std::move(targets);
  code.options = options;
  // The callback and the line table may refer to objects with a shorter lifetime than the artifact.
  code.options.on_step = {};
  code.options.lines = nullptr;
  return code;
}

/// Imports the sources that are named by the options and by pragmas of the functions.
void import_sources(llvm::Module& module, const std::vector<CompileUnit>& units, LlvmCode& code) {
  std::vector<std::string> llvm_sources, c_sources;
  for (const CompileUnit& unit : units) add_imported_sources(unit.module, llvm_sources, c_sources);
  for (const std::filesystem::path& path : code.options.link)
    if (is_llvm_ir(path)) import_llvm(module, path.string());
  for (const std::string& source : llvm_sources) import_llvm(module, source);
  for (const std::string& source : c_sources) import_c(module, source, code);
}

void put(ByteWriter& out, const KernelCode& code) {
  const auto& [device, specs, functions, text, ptx, binary, why_no_binary] = code;
  out.number(static_cast<std::uint64_t>(device));
  out.text(runtime::to_kernel_manifest(specs));
  out.text(runtime::to_manifest(functions));
  for (const std::string* each : {&text, &ptx, &binary, &why_no_binary}) out.text(*each);
}

/// Reads what `put` wrote; nullopt if the bytes are truncated.
std::optional<KernelCode> kernel_code(ByteReader& in) {
  const auto device = in.number();
  const auto specs = in.text(), functions = in.text();
  if (!device || !specs || !functions) return std::nullopt;
  KernelCode code{.device = static_cast<runtime::DeviceType>(*device),
                  .specs = runtime::parse_kernel_manifest(*specs),
                  .functions = runtime::parse_manifest(*functions)};
  for (std::string* each : {&code.text, &code.ptx, &code.binary, &code.why_no_binary}) {
    const auto text = in.text();
    if (!text) return std::nullopt;
    *each = *text;
  }
  return code;
}

}  // namespace

Artifact compile(const tir::IRModule& module, const tir::TargetFacts& target,
                 const CompileOptions& options) {
  return compile({{module, target}}, options);
}

Artifact compile(const std::vector<CompileUnit>& units, const CompileOptions& options) {
  auto start = std::chrono::steady_clock::now();
  std::vector<tir::TargetFacts> targets;
  for (const CompileUnit& unit : units) targets.push_back(unit.target);
  LlvmCode result = code_for(std::move(targets), options);
  auto machine = make_target_machine(result.common, options.opt_level);
  llvm::LLVMContext context;
  llvm::Module module("tenon", context);
  set_target(module, *machine);
  import_sources(module, units, result);
  const bool has_imports = llvm::any_of(module, [](const auto& f) { return !f.isDeclaration(); });

  std::optional<DebugLines> debug_lines;
  if (options.lines) debug_lines.emplace(module, *options.lines);
  std::set<std::string> symbols = function_names(units);
  std::vector<llvm::Constant*> kernel_tables;
  for (const CompileUnit& unit : units) {
    ModuleEmitter emitter(module, unit.target, options, debug_lines ? &*debug_lines : nullptr);
    if (unit.kernels) {
      emitter.add_kernels(*unit.kernels);
      kernel_tables.push_back(emitter.kernel_table());
      result.kernels.push_back(*unit.kernels);
    }
    for (const auto& [name, func] : unit.module.functions) {
      const Signature signature = signature_of(
          func,
          packed_symbol(func.attrs.global_symbol, symbols, unit.target.system_library.value_or("")),
          options.argument_alignment, unit.kernels ? &*unit.kernels : nullptr);
      const Computation analyses(func.body);
      llvm::Function* computation = emit_computation(emitter, func, signature, analyses);
      emit_packed(emitter, func, signature, analyses, computation);
      result.functions.push_back(signature.spec);
      result.functions.back().features = needed_features(unit.target);
    }
  }
  if (debug_lines) debug_lines->finish();
  add_manifest(module, result.functions);
  if (!kernel_tables.empty()) add_kernel_tables(module, kernel_tables);
  if (result.common.system_library)
    register_system_library(module, *result.common.system_library, result.functions);
  verify(module, "emitted");
  finish_step(options.on_step, "emit-llvm", start);

  const int opt_level = affordable_level(module, options.opt_level);
  if (opt_level != options.opt_level) {
    result.notes.push_back("not optimised: unrolling has made too much of it");
    result.options.opt_level = opt_level;
    machine = make_target_machine(result.common, opt_level);
  }
  optimize(module, *machine, opt_level, has_imports);
  avoid_faults_of_code_generators(module, opt_level);
  finish_step(options.on_step, "optimize-llvm", start);
  llvm::raw_string_ostream bitcode(result.bitcode);
  llvm::WriteBitcodeToFile(module, bitcode);
  bitcode.flush();
  result.object = generate_code(module, *machine, llvm::CodeGenFileType::ObjectFile);
  finish_step(options.on_step, "generate-code", start);
  return Artifact(std::make_shared<LlvmArtifact>(std::move(result)));
}

std::optional<std::string> LlvmArtifact::stored() const {
  if (code_.options.profiler) return std::nullopt;
  ByteWriter out;
  out.text(runtime::to_manifest(code_.functions));
  out.number(static_cast<std::uint64_t>(code_.options.opt_level));
  out.number(code_.kernels.size());
  for (const KernelCode& code : code_.kernels) put(out, code);
  for (const auto* texts : {&code_.imported_objects, &code_.notes}) {
    out.number(texts->size());
    for (const std::string& text : *texts) out.text(text);
  }
  out.text(code_.bitcode);
  out.text(code_.object);
  return out.bytes();
}

std::optional<Artifact> restore(std::string_view bytes, std::vector<tir::TargetFacts> targets,
                                const CompileOptions& options) {
  LlvmCode code = code_for(std::move(targets), options);
  ByteReader in(bytes);
  const auto manifest = in.text();
  const auto opt_level = in.number(), kernels = in.number();
  if (!manifest || !opt_level || !kernels) return std::nullopt;
  code.functions = runtime::parse_manifest(*manifest);
  code.options.opt_level = static_cast<int>(*opt_level);
  for (std::uint64_t n = 0; n < *kernels; ++n) {
    std::optional<KernelCode> kernel = kernel_code(in);
    if (!kernel) return std::nullopt;
    code.kernels.push_back(std::move(*kernel));
  }
  for (auto* texts : {&code.imported_objects, &code.notes}) {
    const auto count = in.number();
    if (!count) return std::nullopt;
    for (std::uint64_t n = 0; n < *count; ++n) {
      const auto text = in.text();
      if (!text) return std::nullopt;
      texts->emplace_back(*text);
    }
  }
  const auto bitcode = in.text(), object = in.text();
  if (!bitcode || !object) return std::nullopt;
  code.bitcode = *bitcode;
  code.object = *object;
  return Artifact(std::make_shared<LlvmArtifact>(std::move(code)));
}

std::vector<std::string> LlvmArtifact::source_kinds() const {
  std::vector<std::string> kinds = kernel_source_kinds(code_.kernels);
  kinds.insert(kinds.end(), {"ll", "asm"});
  return kinds;
}

std::string LlvmArtifact::source(std::string_view kind) const {
  if (kind != "ll" && kind != "asm") return kernel_source(code_.kernels, kind);
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(code_.bitcode, "tenon"), context);
  if (!module)
    internal_error("bitcode that was written cannot be read: " +
                   llvm::toString(module.takeError()));
  if (kind == "asm") {
    const auto machine = make_target_machine(code_.common, code_.options.opt_level);
    return generate_code(**module, *machine, llvm::CodeGenFileType::AssemblyFile);
  }
  std::string text;
  for (const std::string& note : code_.notes) text += "; " + note + "\n";
  llvm::raw_string_ostream out(text);
  (*module)->print(out, nullptr);
  return text;
}

}  // namespace tenon::codegen
