#include "codegen/llvm/imports.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <map>

#include "codegen/llvm/target_machine.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/codegen/symbol_names.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

void link(llvm::Module& module, std::unique_ptr<llvm::Module> imported, const std::string& name) {
  imported->setDataLayout(module.getDataLayout());
  imported->setTargetTriple(module.getTargetTriple());
  // An imported saved module contains a manifest of its own functions. It is removed, because the
  // importing module has another manifest.
  if (llvm::GlobalVariable* manifest = imported->getGlobalVariable(kManifestSymbol))
    if (manifest->use_empty()) manifest->eraseFromParent();
  std::vector<std::string> defined;
  for (const llvm::Function& function : *imported)
    if (!function.isDeclaration()) defined.push_back(function.getName().str());
  if (llvm::Linker::linkModules(module, std::move(imported)))
    throw RuntimeError("the source of `" + name +
                       "` defines a symbol that other imported source defines too");
  for (const std::string& function : defined)
    if (llvm::Function* linked = module.getFunction(function))
      linked->setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// Returns the features that are missing in `known` or have the opposite sign there. If `features`
/// mentions a feature repeatedly, the last mention counts.
std::vector<std::string> differing(const std::vector<std::string>& features,
                                   const std::vector<std::string>& known) {
  std::map<std::string, char> signs;
  for (const std::string& feature : features) signs[feature.substr(1)] = feature[0];
  for (const std::string& feature : known)
    if (auto found = signs.find(feature.substr(1));
        found != signs.end() && found->second == feature[0])
      signs.erase(found);
  std::vector<std::string> result;
  for (const auto& [name, sign] : signs) result.push_back(sign + name);
  return result;
}

/// Removes features that this version of LLVM does not know. LLVM would print a warning about them
/// for every function.
void remove_unknown_features(llvm::Function& function, const std::string& triple) {
  const llvm::StringRef attribute = function.getFnAttribute("target-features").getValueAsString();
  if (attribute.empty()) return;
  const std::vector<std::string>& known = known_features(triple);
  llvm::SmallVector<llvm::StringRef, 64> features;
  attribute.split(features, ',');
  llvm::erase_if(features, [&](llvm::StringRef feature) {
    return !std::ranges::binary_search(known, feature.substr(1).str());
  });
  function.addFnAttr("target-features", llvm::join(features, ","));
}

}  // namespace

CTarget c_target_of(const tir::TargetFacts& target) {
  const llvm::Triple triple = triple_of(target.triple), host = triple_of("");
  const Processor& here = host_processor();
  CTarget result{.triple = triple.str(), .cpu = target.cpu, .features = target.features};
  result.is_foreign = triple.getArch() != host.getArch() || triple.getOS() != host.getOS();
  result.is_this_processor = !result.is_foreign && target.cpu == here.name;
  if (result.is_this_processor) result.features = differing(target.features, here.features);
  return result;
}

void import_llvm(llvm::Module& module, const std::string& source) {
  const bool from_file = is_source_path(source, {".ll", ".bc"});
  const std::string bytes = from_file ? read_file(source) : source;
  const std::string name = from_file ? source : "pragma import_llvm";
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> imported =
      llvm::parseIR(llvm::MemoryBufferRef(bytes, name), problem, module.getContext());
  if (!imported) {
    std::string text;
    llvm::raw_string_ostream out(text);
    problem.print(nullptr, out, false);
    throw RuntimeError("the imported LLVM IR cannot be read: " + text);
  }
  link(module, std::move(imported), name);
}

bool import_c_bitcode(llvm::Module& module, const std::string& bitcode) {
  auto imported =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "import_c"), module.getContext());
  if (!imported) {
    llvm::consumeError(imported.takeError());
    return false;
  }
  for (llvm::Function& function : **imported)
    remove_unknown_features(function, llvm::Triple(module.getTargetTriple()).str());
  link(module, std::move(*imported), "pragma import_c");
  return true;
}

}  // namespace tenon::codegen
