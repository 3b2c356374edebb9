#include "codegen/llvm/target_machine.h"

#include "codegen/llvm/llvm_versions.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <mutex>

#include "tenon/codegen/llvm/processor.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

/// The maximum length of the lists of consecutive independent stores in LLVM's combiner. The
/// combiner compares the stores of a list pairwise, and again for every store that it removes. A
/// list of 1,100 stores, from an unrolled nest, took minutes. Lists of 64 take seconds and give the
/// same code.
void bound_store_chains() { set_llvm_option("combiner-tokenfactor-inline-limit", "64"); }

/// The handler of fatal LLVM errors throws instead of ending the process. LLVM's functions do not
/// clean up when the exception leaves them, so they leak memory.
[[noreturn]] void throw_fatal_error(void* /*unused*/, const char* reason, bool /*unused*/) {
  std::string what = reason;
  what = "LLVM: " + what.substr(0, what.find('\n'));
  if (what.find("Cannot select: intrinsic") == std::string::npos) internal_error(what);
  throw LowerError(what + "; the target's processor (-mtriple, -mcpu, -mattr) does not have it");
}

void initialize_targets() {
  static std::once_flag done;
  std::call_once(done, [] {
    llvm::install_fatal_error_handler(throw_fatal_error);
#ifdef TENON_LLVM_STATIC  // libtenon.so only contains code generators for these targets
#define INITIALIZE(target)              \
  LLVMInitialize##target##TargetInfo(); \
  LLVMInitialize##target##Target();     \
  LLVMInitialize##target##TargetMC();   \
  LLVMInitialize##target##AsmParser();  \
  LLVMInitialize##target##AsmPrinter()
    INITIALIZE(X86);
    INITIALIZE(AArch64);
#undef INITIALIZE
#else
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmParsers();
    llvm::InitializeAllAsmPrinters();
#endif
    bound_store_chains();
  });
}

void check_names(const tir::TargetFacts& facts) {
  if (!facts.cpu.empty() && !is_known_cpu(facts.cpu, facts.triple))
    throw TargetError("LLVM does not know processor `" + facts.cpu + "` of " +
                      triple_of(facts.triple).getArchName().str());
  const std::vector<std::string>& known = known_features(facts.triple);
  for (const std::string& feature : facts.features) {
    const bool has_sign = feature.starts_with('+') || feature.starts_with('-');
    if (!has_sign)
      throw TargetError("the feature `" + feature + "` needs a sign: +" + feature + " or -" +
                        feature);
    if (!std::ranges::binary_search(known, feature.substr(1)))
      throw TargetError("processors of " + triple_of(facts.triple).getArchName().str() +
                        " have no feature `" + feature.substr(1) + "`");
  }
}

llvm::CodeGenOptLevel codegen_level(int opt_level) {
  return opt_level <= 0   ? llvm::CodeGenOptLevel::None
         : opt_level == 1 ? llvm::CodeGenOptLevel::Less
         : opt_level == 2 ? llvm::CodeGenOptLevel::Default
                          : llvm::CodeGenOptLevel::Aggressive;
}

}  // namespace

void set_llvm_option(const char* name, const char* value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  if (const auto found = options.find(name); found != options.end())
    found->second->addOccurrence(0, name, value);
}

llvm::Triple triple_of(const std::string& triple) {
  return llvm::Triple(
      llvm::Triple::normalize(triple.empty() ? llvm::sys::getDefaultTargetTriple() : triple));
}

const llvm::Target& find_target(const llvm::Triple& triple) {
  initialize_targets();
  std::string error;
  const llvm::Target* target = look_up_target(triple, error);
  if (!target) throw TargetError("LLVM cannot compile for `" + triple.str() + "`: " + error);
  return *target;
}

std::string joined_features(const tir::TargetFacts& facts) {
  std::vector<std::string> features = facts.features;
  if (triple_of(facts.triple).isX86()) features.push_back("-" + std::string(kUnusedFeature));
  return llvm::join(features, ",");
}

std::unique_ptr<llvm::MCSubtargetInfo> make_subtarget(const tir::TargetFacts& facts) {
  const llvm::Triple triple = triple_of(facts.triple);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      create_subtarget(find_target(triple), triple, facts.cpu, joined_features(facts)));
  if (!info) throw TargetError("LLVM cannot compile for `" + triple.str() + "`");
  return info;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const tir::TargetFacts& facts,
                                                         int opt_level) {
  const llvm::Triple triple = triple_of(facts.triple);
  const llvm::Target& target = find_target(triple);
  check_names(facts);
  llvm::TargetOptions options;
  // Fuses only operations with the `contract` flag. All emitted arithmetic has the flag; imported
  // code does not.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(create_machine(
      target, triple, facts.cpu, joined_features(facts), options, codegen_level(opt_level)));
  if (!machine) throw TargetError("LLVM cannot compile for `" + triple.str() + "`");
  return machine;
}

void set_target(llvm::Module& module, const llvm::TargetMachine& machine) {
  set_triple(module, machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

}  // namespace tenon::codegen
