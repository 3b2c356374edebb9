// Linking into this process with ORC.
#include <llvm/ExecutionEngine/Orc/Core.h>
#if __has_include(<llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>)
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#endif
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/TargetParser/Host.h>

#include <map>
#include <mutex>

#include "codegen/llvm/llvm_artifact.h"
#include "codegen/llvm/target_machine.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/codegen/symbol_names.h"
#include "tenon/runtime/module_impl.h"
#include "tenon/runtime/symbols.h"
#include "tenon/support/error.h"

// Functions of libgcc, of which only the addresses are used.
extern "C" void _Unwind_Resume();
extern "C" void __gcc_personality_v0();

namespace tenon::codegen {

namespace {

/// Throws unless this process can run code for the target: code for another processor would end the
/// process with an illegal instruction.
void check_processor(const tir::TargetFacts& target) {
  const llvm::Triple triple = triple_of(target.triple), host = triple_of("");
  if (triple.getArch() != host.getArch() || triple.getOS() != host.getOS())
    throw RuntimeError("code for `" + triple.str() + "` cannot run on `" + host.str() +
                       "`; it can be saved");
  const auto has = llvm::sys::getHostCPUFeatures();
  for (const std::string& feature : enabled_features(target)) {
    const auto found = has.find(feature);
    if (found != has.end() && !found->second)
      throw RuntimeError("the code was compiled for a processor with " + feature +
                         ", which this one does not have; it can be saved");
  }
}

/// Linker errors, in the user's terms.
class LinkProblems {
 public:
  void add(llvm::Error error) {
    const std::lock_guard lock(mutex_);
    llvm::handleAllErrors(
        std::move(error),
        [&](llvm::orc::SymbolsNotFound& missing) {
          for (const llvm::orc::SymbolStringPtr& name : missing.getSymbols())
            missing_.insert((*name).str());
        },
        // This error only indicates that another one has been reported.
        [](llvm::orc::FailedToMaterialize&) {},
        [&](llvm::ErrorInfoBase& other) {
          others_ += (others_.empty() ? "" : "; ") + other.message();
        });
  }

  [[noreturn]] void raise() const {
    const std::lock_guard lock(mutex_);
    if (missing_.empty()) throw RuntimeError("the compiled code cannot be linked: " + others_);
    std::string names;
    for (const std::string& name : missing_) names += (names.empty() ? "`" : ", `") + name + "`";
    throw RuntimeError(
        "no extern function " + names +
        " in the running program, in the libraries to link, or in imported source; a function of the "
        "program must be extern \"C\" and the program linked with -rdynamic, a library is named by "
        "the build option `link`, source by the pragmas import_c and import_llvm");
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> missing_;
  std::string others_;
};

std::unique_ptr<llvm::MemoryBuffer> buffer_of(std::string_view bytes, const char* name) {
  return llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(bytes.data(), bytes.size()), name);
}

class CompiledModule : public runtime::ModuleImpl {
 public:
  explicit CompiledModule(std::shared_ptr<const LlvmArtifact> artifact)
      : artifact_(std::move(artifact)) {
    for (const tir::TargetFacts& target : artifact_->code().targets) check_processor(target);
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit)
      throw RuntimeError("LLVM cannot link code in this process: " +
                         llvm::toString(jit.takeError()));
    jit_ = std::move(*jit);
    LinkProblems problems;
    jit_->getExecutionSession().setErrorReporter(
        [&](llvm::Error error) { problems.add(std::move(error)); });
    auto check = [&](llvm::Error error) {
      if (!error) return;
      problems.add(std::move(error));
      problems.raise();
    };
    check(define_runtime());
    add_libraries(check);
    const LlvmCode& code = artifact_->code();
    for (const std::string& object : code.imported_objects)
      check(jit_->addObjectFile(buffer_of(object, "imported")));
    check(jit_->addObjectFile(buffer_of(code.object, "functions")));
    for (const runtime::FunctionSpec& function : code.functions) {
      auto address = jit_->lookup(function.symbol);
      if (!address) {
        problems.add(address.takeError());
        problems.raise();
      }
      entries_[function.symbol] = address->toPtr<TenonPackedFunction>();
    }
    if (!code.kernels.empty()) {
      auto kernels = jit_->lookup(kKernelsSymbol);
      check(kernels ? llvm::Error::success() : kernels.takeError());
      kernels_ = kernels->toPtr<TenonKernels* const*>();
    }
    jit_->getExecutionSession().setErrorReporter(
        [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }

  ~CompiledModule() override {
    for (TenonKernels* const* kernels = kernels_; kernels && *kernels; ++kernels)
      tenon_release_kernels(*kernels);
  }

  std::string kind() const override { return "llvm"; }
  const std::vector<runtime::FunctionSpec>& functions() const override {
    return artifact_->functions();
  }
  runtime::Function::PackedCall lookup(const runtime::FunctionSpec& function) override {
    return entries_.at(function.symbol);
  }
  std::vector<std::string> source_kinds() const override { return artifact_->source_kinds(); }
  std::string source(std::string_view kind) const override { return artifact_->source(kind); }
  void save(const std::string& path, const runtime::SaveOptions& options) const override {
    artifact_->save(path, options);
  }
  std::shared_ptr<runtime::Profiler> profiler() const override {
    const auto& profiling = artifact_->code().options.profiling;
    return profiling ? profiling->profiler : nullptr;
  }

 private:
  llvm::Error define_runtime() {
    llvm::orc::SymbolMap symbols;
    for (const runtime::CSymbol& symbol : runtime::c_symbols())
      symbols[jit_->mangleAndIntern(llvm::StringRef(symbol.name.data(), symbol.name.size()))] = {
          llvm::orc::ExecutorAddr::fromPtr(symbol.address), llvm::JITSymbolFlags::Exported};
    for (const auto& [name, address] : runtime::defined_functions())
      symbols[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                              llvm::JITSymbolFlags::Exported};
    // Cleanups of code with exceptions call these. A process that opens libtenon.so itself, such as
    // Python, does not show them to everybody.
    symbols[jit_->mangleAndIntern("_Unwind_Resume")] = {
        llvm::orc::ExecutorAddr::fromPtr(&_Unwind_Resume), llvm::JITSymbolFlags::Exported};
    symbols[jit_->mangleAndIntern("__gcc_personality_v0")] = {
        llvm::orc::ExecutorAddr::fromPtr(&__gcc_personality_v0), llvm::JITSymbolFlags::Exported};
    return jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
  }

  template <class Check>
  void add_libraries(const Check& check) {
    llvm::orc::JITDylib& main = jit_->getMainJITDylib();
    const char prefix = jit_->getDataLayout().getGlobalPrefix();
    for (const std::filesystem::path& path : artifact_->code().options.link) {
      const std::string suffix = path.extension().string();
      if (suffix == ".ll" || suffix == ".bc") continue;
      if (!std::filesystem::exists(path))
        throw RuntimeError("the library to link `" + path.string() + "` is not there");
      if (suffix == ".o") {
        auto bytes = llvm::MemoryBuffer::getFile(path.string());
        if (!bytes)
          throw RuntimeError("cannot read `" + path.string() + "`: " + bytes.getError().message());
        check(jit_->addObjectFile(std::move(*bytes)));
      } else if (suffix == ".a") {
        auto archive = llvm::orc::StaticLibraryDefinitionGenerator::Load(jit_->getObjLinkingLayer(),
                                                                         path.c_str());
        if (!archive) return check(archive.takeError());
        main.addGenerator(std::move(*archive));
      } else {
        auto library = llvm::orc::DynamicLibrarySearchGenerator::Load(
            std::filesystem::absolute(path).c_str(), prefix);
        if (!library) return check(library.takeError());
        main.addGenerator(std::move(*library));
      }
    }
  }

  std::shared_ptr<const LlvmArtifact> artifact_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::map<std::string, TenonPackedFunction> entries_;
  TenonKernels* const* kernels_ = nullptr;
};

}  // namespace

std::shared_ptr<runtime::ModuleImpl> LlvmArtifact::load() const {
  return std::make_shared<CompiledModule>(shared_from_this());
}

}  // namespace tenon::codegen
