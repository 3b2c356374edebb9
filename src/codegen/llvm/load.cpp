// Linking into this process with ORC's linking layer. LLVM's ready-made LLJIT would add 0.7 ms per
// module, for a compiler and platform support that finished objects do not need.
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#if __has_include(<llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>)
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#endif
#if __has_include(<llvm/ExecutionEngine/Orc/EHFrameRegistrationPlugin.h>)
#include <llvm/ExecutionEngine/Orc/EHFrameRegistrationPlugin.h>
#endif
#if __has_include(<llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>)
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#endif
#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>
#include <mutex>

#include "codegen/llvm/llvm_artifact.h"
#include "codegen/llvm/target_machine.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/codegen/imports.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/codegen/loaded_artifact.h"
#include "tenon/codegen/symbol_names.h"
#include "tenon/runtime/processor.h"
#include "tenon/runtime/symbols.h"
#include "tenon/support/error.h"

// Functions of libgcc. Only their addresses are used.
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
  const std::vector<std::string> missing = runtime::missing_features(needed_features(target));
  if (!missing.empty())
    throw RuntimeError("the code was compiled for a processor with " + missing.front() +
                       ", which this one does not have; it can be saved");
}

std::unique_ptr<llvm::MemoryBuffer> buffer_of(std::string_view bytes, const char* name) {
  return llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
}

template <class T>
T value_of(llvm::Expected<T> made) {
  if (made) return std::move(*made);
  throw RuntimeError("LLVM cannot link code in this process: " + llvm::toString(made.takeError()));
}

std::unique_ptr<llvm::orc::EHFrameRegistrationPlugin> exception_frames(
    llvm::orc::ExecutionSession& session) {
#if LLVM_VERSION_MAJOR >= 21
  return value_of(llvm::orc::EHFrameRegistrationPlugin::Create(session));
#else
  return std::make_unique<llvm::orc::EHFrameRegistrationPlugin>(
      session, std::make_unique<llvm::jitlink::InProcessEHFrameRegistrar>());
#endif
}

/// An ORC session that links objects into this process.
class Linker {
 public:
  Linker()
      : session_(value_of(llvm::orc::SelfExecutorProcessControl::Create())),
        symbols_(session_.createBareJITDylib("module")),
        layer_(session_) {
    layer_.addPlugin(exception_frames(session_));
    session_.setErrorReporter([this](llvm::Error error) { note(std::move(error)); });
    define_runtime();
  }
  Linker(const Linker&) = delete;
  Linker& operator=(const Linker&) = delete;
  ~Linker() {
    for (TenonKernels* const* kernels = kernels_; kernels && *kernels; ++kernels)
      tenon_release_kernels(*kernels);
    llvm::consumeError(session_.endSession());
  }

  void add_object(std::unique_ptr<llvm::MemoryBuffer> object) {
    check(layer_.add(symbols_, std::move(object)));
  }

  /// Adds the symbols of an object, an archive or a shared library.
  void add_library(const std::filesystem::path& path) {
    if (!std::filesystem::exists(path))
      throw RuntimeError("the library to link `" + path.string() + "` is not there");
    const std::string suffix = path.extension().string();
    if (suffix == ".o") {
      auto bytes = llvm::MemoryBuffer::getFile(path.string());
      if (!bytes)
        throw RuntimeError("cannot read `" + path.string() + "`: " + bytes.getError().message());
      add_object(std::move(*bytes));
    } else if (suffix == ".a") {
      add_symbols_of(
          llvm::orc::StaticLibraryDefinitionGenerator::Load(layer_, path.string().c_str()));
    } else {
      add_symbols_of(llvm::orc::DynamicLibrarySearchGenerator::Load(
          std::filesystem::absolute(path).c_str(), kNoPrefix));
    }
  }

  /// Adds the symbols of this process. They follow the symbols of libraries, which take precedence.
  void add_process() {
    add_symbols_of(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(kNoPrefix));
  }

  /// Links everything that the symbol needs and returns its address. Throws RuntimeError with the
  /// names of missing symbols.
  template <class T>
  T* address_of(llvm::StringRef symbol) {
    auto found = session_.lookup({&symbols_}, session_.intern(symbol));
    check(found.takeError());
    return found->getAddress().toPtr<T*>();
  }

  /// Finds the kernels of the objects. The destructor releases them.
  void find_kernels() { kernels_ = address_of<TenonKernels* const>(kKernelsSymbol); }

 private:
  /// In ELF, the symbol of a C function is its C name without a prefix.
  static constexpr char kNoPrefix = '\0';

  /// Records an error for the message of `check`.
  void note(llvm::Error error) {
    const std::lock_guard lock(mutex_);
    llvm::handleAllErrors(
        std::move(error),
        [&](llvm::orc::SymbolsNotFound& missing) {
          for (const llvm::orc::SymbolStringPtr& name : missing.getSymbols())
            missing_.insert((*name).str());
        },
        // FailedToMaterialize only indicates that another error has been reported.
        [](llvm::orc::FailedToMaterialize&) {},
        [&](llvm::ErrorInfoBase& other) {
          others_ += (others_.empty() ? "" : "; ") + other.message();
        });
  }

  /// Throws a RuntimeError for users if there is an error.
  void check(llvm::Error error) {
    if (!error) return;
    note(std::move(error));
    const std::lock_guard lock(mutex_);
    if (missing_.empty()) throw RuntimeError("the compiled code cannot be linked: " + others_);
    refuse_unknown_functions(missing_, "pragmas import_c and import_llvm");
  }

  template <class Generator>
  void add_symbols_of(llvm::Expected<std::unique_ptr<Generator>> generator) {
    check(generator.takeError());
    symbols_.addGenerator(std::move(*generator));
  }

  void define_runtime() {
    llvm::orc::SymbolMap symbols;
    const auto define = [&](llvm::StringRef name, auto* address) {
      symbols[session_.intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                        llvm::JITSymbolFlags::Exported};
    };
    for (const runtime::CSymbol& symbol : runtime::c_symbols()) define(symbol.name, symbol.address);
    for (const auto& [name, address] : runtime::defined_functions()) define(name, address);
    // Exception cleanups call these functions. If a process such as Python loads libtenon.so with
    // local visibility, the symbols are not visible to loaded code.
    define("_Unwind_Resume", &_Unwind_Resume);
    define("__gcc_personality_v0", &__gcc_personality_v0);
    check(symbols_.define(llvm::orc::absoluteSymbols(std::move(symbols))));
  }

  std::mutex mutex_;
  /// The names of missing symbols, and the messages of other errors.
  std::set<std::string> missing_;
  std::string others_;
  llvm::orc::ExecutionSession session_;
  llvm::orc::JITDylib& symbols_;
  llvm::orc::ObjectLinkingLayer layer_;
  /// The kernels, followed by null. Null if the code launches no kernels.
  TenonKernels* const* kernels_ = nullptr;
};

}  // namespace

runtime::Module LlvmArtifact::load() const {
  for (const tir::TargetFacts& target : code_.targets) check_processor(target);
  const auto linker = std::make_shared<Linker>();
  for (const std::filesystem::path& path : code_.options.link)
    if (!is_llvm_ir(path)) linker->add_library(path);
  linker->add_process();
  for (const std::string& object : code_.imported_objects)
    linker->add_object(buffer_of(object, "imported"));
  linker->add_object(buffer_of(code_.object, "functions"));
  std::map<std::string, TenonPackedFunction> entries;
  for (const runtime::FunctionSpec& function : code_.functions)
    entries[function.symbol] =
        linker->address_of<std::remove_pointer_t<TenonPackedFunction>>(function.symbol);
  if (!code_.kernels.empty()) linker->find_kernels();
  return runtime::Module(std::make_shared<LoadedArtifact>(
      "llvm", shared_from_this(),
      [linker, entries](const runtime::FunctionSpec& function) {
        return runtime::PackedCall(entries.at(function.symbol));
      },
      code_.options.profiler));
}

}  // namespace tenon::codegen
