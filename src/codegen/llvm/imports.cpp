#include "codegen/llvm/imports.h"

#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

#include "codegen/llvm/system_compiler.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/support/error.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

namespace {

/// A text has lines; the path of a file has none.
bool is_path(const std::string& source, std::initializer_list<std::string_view> suffixes) {
  if (source.find('\n') != std::string::npos) return false;
  return std::ranges::any_of(suffixes,
                             [&](std::string_view suffix) { return source.ends_with(suffix); });
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

}  // namespace

void add_imported_sources(const tir::IRModule& module, ImportedSources& sources) {
  for (const auto& [name, func] : module.functions) {
    tir::walk(func.body, [&](const tir::Attr& attr) {
      const bool is_c = is_pragma(attr, tir::PragmaKey::ImportC);
      if (!is_c && !is_pragma(attr, tir::PragmaKey::ImportLlvm)) return;
      const tir::StringImm* text = attr.value.as<tir::StringImm>();
      if (!text)
        throw LowerError("pragma " + attr.key + " takes a text: source, or the path of a file");
      add_once(is_c ? sources.c : sources.llvm, text->value);
    });
  }
}

void import_llvm(llvm::Module& module, const std::string& source) {
  const bool from_file = is_path(source, {".ll", ".bc"});
  const std::string bytes = from_file ? read_file(source) : source;
  const std::string name = from_file ? source : "pragma import_llvm";
  llvm::SMDiagnostic problem;
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()),
                                     llvm::StringRef(name.data(), name.size()));
  std::unique_ptr<llvm::Module> imported = llvm::parseIR(buffer, problem, module.getContext());
  if (!imported) {
    std::string text;
    llvm::raw_string_ostream out(text);
    problem.print(nullptr, out, false);
    throw RuntimeError("the imported LLVM IR cannot be read: " + text);
  }
  imported->setDataLayout(module.getDataLayout());
  imported->setTargetTriple(module.getTargetTriple());
  // Saved modules carry a list of their functions; the importing module has one of its own.
  if (llvm::GlobalVariable* manifest = imported->getGlobalVariable(kManifestSymbol))
    if (manifest->use_empty()) manifest->eraseFromParent();
  std::vector<std::string> defined;
  for (const llvm::Function& function : *imported)
    if (!function.isDeclaration()) defined.push_back(function.getName().str());
  if (llvm::Linker::linkModules(module, std::move(imported)))
    throw RuntimeError("the LLVM IR of `" + name +
                       "` defines what other imported IR defines as well");
  for (const std::string& function : defined)
    if (llvm::Function* linked =
            module.getFunction(llvm::StringRef(function.data(), function.size())))
      linked->setLinkage(llvm::GlobalValue::InternalLinkage);
}

std::string compile_c(const std::string& source, const tir::TargetFacts& target) {
  const TemporaryFolder folder;
  const bool from_file = is_path(source, {".c"});
  const std::filesystem::path text =
      from_file ? std::filesystem::path(source) : folder.file("import.c");
  if (!from_file) write_file(text, source);
  const std::filesystem::path object = folder.file("import.o");
  std::vector<std::string> arguments{"-O3", "-fPIC", "-c", text.string(), "-o", object.string()};
  // C compilers name processors in their own way, but for this one.
  if (target.triple.empty() && target.cpu == host_processor().name)
    arguments.insert(arguments.begin(), "-march=native");
  run_c_compiler(arguments, "to compile imported C source");
  return read_file(object);
}

}  // namespace tenon::codegen
