#include "codegen/llvm/optimize.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/MergeFunctions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace tenon::codegen {

namespace {

/// The maximum number of accesses in a loop whose accumulators LLVM promotes from memory to
/// registers. LLVM's default, 250, is too small for unrolled register tiles. The bound only limits
/// compile time.
constexpr unsigned kMaxAccesses = 1 << 14;

/// Modules of more instructions are not unrolled further, because more copies would cost more time
/// than they save.
constexpr unsigned kMaxToUnroll = 20'000;

/// Functions of more blocks, which result from unrolling, are optimized by cheaper passes.
constexpr std::size_t kMaxBlocks = 2000;

/// A module is not optimized if one of its functions has more blocks.
constexpr std::size_t kMaxBlocksToOptimize = 20'000;

/// Trip counts are not analyzed in functions with more loops. Scheduled operators have up to 60.
constexpr std::size_t kMaxLoopsToCount = 64;

/// Trip counts are not analyzed in functions whose loops have more exits in addition to their ends.
constexpr std::size_t kMaxExitsToCount = 8;

/// Whether trip-count analysis and unrolling are worth their compile time. Bounds checks give loops
/// many exits, and unrolling multiplies them: it takes LLVM minutes and saves little compared to
/// the cost of the checks. LLVM also derives a trip count from all conditions before the loop,
/// including the exits of earlier loops, so the time grows quickly with the number of loops.
bool is_worth_counting_loops(const llvm::Module& module) {
  const auto is_large = [](const llvm::Function& function) {
    if (function.isDeclaration()) return false;
    if (function.size() > kMaxBlocks) return true;
    llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
    const llvm::LoopInfo loops(dominators);
    const std::size_t count = loops.getLoopsInPreorder().size();
    const auto exits = llvm::count_if(function, [&](const llvm::BasicBlock& block) {
      const llvm::Loop* loop = loops.getLoopFor(&block);
      return loop && loop->isLoopExiting(&block);
    });
    return count > kMaxLoopsToCount || static_cast<std::size_t>(exits) > count + kMaxExitsToCount;
  };
  return module.getInstructionCount() <= kMaxToUnroll && llvm::none_of(module, is_large);
}

/// Returns the analyses that remain valid after a pass that does not change the control flow.
llvm::PreservedAnalyses preserved_after(bool changes) {
  if (!changes) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

auto move_out_of_loops() {
  return llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(kMaxAccesses, kMaxAccesses, /*AllowSpeculation=*/true),
      /*UseMemorySSA=*/true);
}

/// A pass that calls a function of this file on each function.
template <llvm::PreservedAnalyses (*kRun)(llvm::Function&, llvm::FunctionAnalysisManager&)>
struct FunctionPass : llvm::PassInfoMixin<FunctionPass<kRun>> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    return kRun(function, analyses);
  }
};

/// Runs GVN only where it is worth its time. GVN splits edges one at a time and renumbers all
/// blocks of the function after each split, whatever its options are: 561 copies of an iteration
/// with conditions took half a minute. In functions of more than kMaxBlocks blocks, only values
/// that are available on all paths are replaced.
llvm::PreservedAnalyses replace_redundant(llvm::Function& function,
                                          llvm::FunctionAnalysisManager& analyses) {
  if (function.size() > kMaxBlocks)
    return llvm::EarlyCSEPass(/*UseMemorySSA=*/true).run(function, analyses);
  return llvm::GVNPass().run(function, analyses);
}

/// A store of a vector, and its offset in the array.
using Part = std::pair<llvm::StoreInst*, std::int64_t>;

bool move_behind(llvm::StoreInst& store, llvm::StoreInst& last, llvm::AAResults& aliases) {
  const llvm::MemoryLocation memory = llvm::MemoryLocation::get(&store);
  for (llvm::Instruction* at = store.getNextNode(); at != last.getNextNode();
       at = at->getNextNode())
    if (llvm::isModOrRefSet(aliases.getModRefInfo(at, memory))) return false;
  store.moveAfter(&last);
  return true;
}

/// Sorts stores of vectors to an array by their offsets. SROA joins vectors that are loaded as one
/// vector. It does so before the store with the largest offset, where the values of stores that
/// follow it are not yet available (llvm_faults.md).
llvm::PreservedAnalyses order_parts(llvm::Function& function,
                                    llvm::FunctionAnalysisManager& analyses) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  llvm::AAResults& aliases = analyses.getResult<llvm::AAManager>(function);
  bool changes = false;
  for (llvm::BasicBlock& block : function) {
    // The vector stores to each array, in program order.
    llvm::MapVector<llvm::AllocaInst*, llvm::SmallVector<Part, 4>> parts;
    for (llvm::Instruction& each : block) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&each);
      if (!store || !store->getValueOperand()->getType()->isVectorTy()) continue;
      llvm::Value* pointer = store->getPointerOperand();
      llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
      auto* array = llvm::dyn_cast<llvm::AllocaInst>(
          pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
      if (array) parts[array].emplace_back(store, offset.getSExtValue());
    }
    for (auto& [array, stores] : parts) {
      std::vector<Part> ascending;
      for (const Part& part : llvm::reverse(stores)) {
        const auto place = std::ranges::lower_bound(ascending, part.second, {}, &Part::second);
        if (place != ascending.begin()) {
          if (!move_behind(*part.first, *std::prev(place)->first, aliases)) break;
          changes = true;
        }
        ascending.insert(place, part);
      }
    }
  }
  return preserved_after(changes);
}

llvm::IntrinsicInst* as_extremum(llvm::Value* value) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  const bool is_extremum = call && (call->getIntrinsicID() == llvm::Intrinsic::minimum ||
                                    call->getIntrinsicID() == llvm::Intrinsic::maximum);
  return is_extremum && call->hasNoSignedZeros() ? call : nullptr;
}

/// Returns one step of the minimum or maximum. The result is `so_far` if an operand is NaN.
llvm::Value* step(llvm::IRBuilder<>& builder, const llvm::IntrinsicInst& call, llvm::Value* x,
                  llvm::Value* so_far) {
  const bool is_min = call.getIntrinsicID() == llvm::Intrinsic::minimum;
  return builder.CreateSelect(
      builder.CreateFCmp(is_min ? llvm::CmpInst::FCMP_OLT : llvm::CmpInst::FCMP_OGT, x, so_far), x,
      so_far);
}

bool combine(llvm::IntrinsicInst& second) {
  for (const unsigned inner : {1U, 0U}) {
    llvm::IntrinsicInst* first = as_extremum(second.getArgOperand(inner));
    if (!first || first->getIntrinsicID() != second.getIntrinsicID() || !first->hasOneUse() ||
        first->getParent() != second.getParent())
      continue;
    llvm::Value *x = first->getArgOperand(0), *y = second.getArgOperand(1 - inner);
    // A step with a constant operand has no NaN check that could be shared.
    if (llvm::isa<llvm::Constant>(x) || llvm::isa<llvm::Constant>(y) ||
        llvm::isa<llvm::Constant>(first->getArgOperand(1)))
      continue;
    llvm::IRBuilder<> builder(first);
    llvm::Value* so_far = step(builder, *first, x, first->getArgOperand(1));
    builder.SetInsertPoint(&second);
    so_far = step(builder, second, y, so_far);
    llvm::Value* result = builder.CreateSelect(builder.CreateFCmpORD(x, y), so_far,
                                               llvm::ConstantFP::getNaN(second.getType()));
    second.replaceAllUsesWith(result);
    second.eraseFromParent();
    first->eraseFromParent();
    return true;
  }
  return false;
}

/// Shares one NaN check between two steps of a minimum or maximum: maximum(y, maximum(x, so_far))
/// becomes two instructions that keep `so_far` for a NaN, and one comparison that detects a NaN in
/// x or y. Loops over vectors in the cache are bound by the number of instructions.
llvm::PreservedAnalyses share_checks_for_nan(llvm::Function& function,
                                             llvm::FunctionAnalysisManager&) {
  bool changes = false;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& each : llvm::make_early_inc_range(block))
      if (llvm::IntrinsicInst* call = as_extremum(&each)) changes |= combine(*call);
  return preserved_after(changes);
}

/// Returns the passes that the emitted IR needs, each once or twice. LLVM's pipeline for C++
/// repeats passes and handles constructs that do not occur here (recursion, exceptions, inlining,
/// jump threading); it took twice as long for the same code. Loop counters have 64 bits from the
/// start, so no variables need to be widened.
llvm::FunctionPassManager kernel_passes(int opt_level, bool counts_loops) {
  using namespace llvm;
  FunctionPassManager passes;
  passes.addPass(FunctionPass<order_parts>());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
  passes.addPass(move_out_of_loops());
  if (counts_loops) {
    LoopPassManager loops;
    loops.addPass(LoopDeletionPass());
    loops.addPass(LoopFullUnrollPass(opt_level));
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops)));
  }
  passes.addPass(FunctionPass<order_parts>());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(FunctionPass<replace_redundant>());
  passes.addPass(InstCombinePass());
  passes.addPass(DSEPass());
  passes.addPass(move_out_of_loops());
  passes.addPass(SimplifyCFGPass());
  // Peeling a loop that unrolling has already peeled breaks its phis (llvm_faults.md).
  if (counts_loops) passes.addPass(LoopUnrollPass(LoopUnrollOptions(opt_level).setPeeling(false)));
  passes.addPass(FunctionPass<share_checks_for_nan>());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  return passes;
}

}  // namespace

int affordable_level(const llvm::Module& module, int opt_level) {
  const bool is_huge =
      llvm::any_of(module, [](const llvm::Function& f) { return f.size() > kMaxBlocksToOptimize; });
  return is_huge ? 0 : opt_level;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level, bool has_imports) {
  if (opt_level <= 0) return;
  // Vectorization is decided earlier, by auto_vectorize, with checks. Both of LLVM's
  // vectorizers have produced wrong results here (llvm_faults.md).
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = true;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder passes(&machine, tuning);
  passes.registerScalarOptimizerLateEPCallback(
      [](llvm::FunctionPassManager& late, llvm::OptimizationLevel) {
        late.addPass(move_out_of_loops());
      });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // LLVM's knowledge of fmod is wrong for NaN (llvm_faults.md). A row of a padded array is too
  // short for a memcpy or memset call: for a few hundred bytes at unaligned addresses, the C
  // library's functions cost ten times as much as a vector loop.
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  for (const llvm::LibFunc function :
       {llvm::LibFunc_fmod, llvm::LibFunc_fmodf, llvm::LibFunc_memcpy, llvm::LibFunc_memmove,
        llvm::LibFunc_memset, llvm::LibFunc_memset_pattern4, llvm::LibFunc_memset_pattern8,
        llvm::LibFunc_memset_pattern16})
    library.setUnavailable(function);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel level = opt_level == 1   ? llvm::OptimizationLevel::O1
                                        : opt_level == 2 ? llvm::OptimizationLevel::O2
                                                         : llvm::OptimizationLevel::O3;
  llvm::ModulePassManager pipeline;
  const bool has_parts = llvm::any_of(
      module, [](const llvm::Function& f) { return f.hasFnAttribute(kPartAttribute); });
  if (has_parts) pipeline.addPass(llvm::MergeFunctionsPass());
  if (has_imports)
    pipeline.addPass(passes.buildPerModuleDefaultPipeline(level));
  else
    pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(
        kernel_passes(opt_level, is_worth_counting_loops(module))));
  pipeline.run(module, modules);
  verify(module, "optimised");
}

void verify(const llvm::Module& module, const std::string& state) {
  std::string problems;
  llvm::raw_string_ostream out(problems);
  if (llvm::verifyModule(module, &out))
    throw InternalError("the " + state + " LLVM IR is malformed: " + problems);
}

namespace {

#if LLVM_VERSION_MAJOR >= 20
using PassMachine = llvm::TargetMachine;
#else
using PassMachine = llvm::LLVMTargetMachine;
#endif

/// Like TargetMachine::addPassesToEmitFile, but without LLVM's machine schedulers. In the long
/// blocks of unrolled register tiles, the scheduler before register allocation moves loads up until
/// accumulators are spilled. The schedulers after it compare every access of a block with every
/// other, and took four fifths of the time for long blocks. Processors reorder instructions anyway,
/// and few values are live in the emitted order.
bool add_code_passes(PassMachine& machine, llvm::legacy::PassManager& passes,
                     llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type) {
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->disablePass(&llvm::MachineSchedulerID);
  config->disablePass(&llvm::PostRASchedulerID);
  config->disablePass(&llvm::PostMachineSchedulerID);
  config->setDisableVerify(true);
  passes.add(config);
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(functions);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  return !machine.addAsmPrinter(passes, out, nullptr, type, functions->getMMI().getContext());
}

}  // namespace

std::string generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                          llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  if (!add_code_passes(static_cast<PassMachine&>(machine), *passes, out, type))
    internal_error("LLVM cannot write code of this kind");
  try {
    passes->run(module);
  } catch (...) {
    // A pass cannot be destroyed after an LLVM error has interrupted it, so it is leaked.
    static_cast<void>(passes.release());
    throw;
  }
  return {bytes.data(), bytes.size()};
}

}  // namespace tenon::codegen
