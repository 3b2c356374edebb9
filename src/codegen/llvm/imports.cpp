#include "codegen/llvm/imports.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "codegen/llvm/target_machine.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/imports.h"
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

/// Returns the target in the form that C compilers use.
CTarget c_target_of(const tir::TargetFacts& target) {
  const llvm::Triple triple = triple_of(target.triple), host = triple_of("");
  const Processor& here = host_processor();
  CTarget result{.triple = triple.str(), .cpu = target.cpu, .features = target.features};
  result.is_foreign = triple.getArch() != host.getArch() || triple.getOS() != host.getOS();
  result.is_this_processor = !result.is_foreign && target.cpu == here.name;
  if (result.is_this_processor) result.features = differing(target.features, here.features);
  return result;
}

/// Returns the C compiler, and whether it is clang. `command` is its command, in the form of $CC.
/// If it is empty, the compiler is `clang` if clang exists and is preferable, because LLVM IR is
/// wanted or the target is foreign. Otherwise it is `cc`.
std::pair<CCompiler, bool> choose_compiler(const CTarget& target, const std::string& command,
                                           bool wants_llvm_ir) {
  if (!command.empty()) {
    const CCompiler named(command);
    const bool is_clang = named.is_clang();
    if (is_clang || !target.is_foreign) return {named, is_clang};
    throw TargetError("imported C source is compiled for `" + target.triple + "`, and `" +
                      named.name() + "` (the variable CC) compiles for this machine only; name a " +
                      "clang, or import LLVM IR or an object of that machine");
  }
  if (wants_llvm_ir || target.is_foreign)
    for (const std::string& name :
         {"clang-" + std::to_string(LLVM_VERSION_MAJOR), std::string("clang")})
      if (const CCompiler clang(name); clang.is_clang()) return {clang, true};
  if (!target.is_foreign) return {CCompiler(""), false};
  throw TargetError("imported C source is compiled for `" + target.triple +
                    "` by clang, which is not installed; install it (Debian: clang), or import " +
                    "LLVM IR or an object of that machine");
}

/// Compiles C source (a text, or the path of a .c file) for the target. Returns whether the result
/// is LLVM bitcode, as opposed to an object file; the bytes of the result; and the command used:
/// "clang -O3 -march=native". RuntimeError with the compiler's messages; TargetError if the target
/// is another machine and clang is not installed.
std::tuple<bool, std::string, std::string> compile_c(const std::string& source,
                                                     const CTarget& target,
                                                     const std::string& command,
                                                     bool wants_llvm_ir) {
  const auto [compiler, is_clang] = choose_compiler(target, command, wants_llvm_ir);
  const TemporaryFolder folder;
  std::filesystem::path text = folder.file("import.c");
  // An absolute path cannot be mistaken for an option, as a path with a leading dash would be.
  if (is_source_path(source, {".c"}))
    text = std::filesystem::absolute(source);
  else
    write_file(text, source);
  const std::filesystem::path result = folder.file("import.o");
  const bool to_llvm = is_clang && wants_llvm_ir;
  std::vector<std::string> arguments{"-O3", "-fPIC", "-c"};
  if (to_llvm) arguments.emplace_back("-emit-llvm");
  arguments.insert(arguments.end(), {text.string(), "-o", result.string()});
  std::string how = compiler.name() + " -O3";
  for (const std::string& flag :
       compiler.run_for(target, arguments, "to compile imported C source"))
    how += " " + flag;
  return {to_llvm, read_file(result), std::move(how)};
}

/// Links bitcode that clang compiled from C into the module. Returns false, and leaves the module
/// unchanged, if the bitcode was written by a newer version of LLVM.
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

}  // namespace

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

void import_c(llvm::Module& module, const std::string& source, LlvmCode& code) {
  const CTarget target = c_target_of(code.common);
  const std::string& command = code.options.c_compiler;
  auto [is_ir, bytes, how] = compile_c(source, target, command, true);
  if (is_ir && !import_c_bitcode(module, bytes))
    std::tie(is_ir, bytes, how) = compile_c(source, target, command, false);
  code.notes.push_back("imported C: compiled by `" + how + "`, " +
                       (is_ir ? "part of this module" : "called as an object"));
  if (!is_ir) code.imported_objects.push_back(std::move(bytes));
}

}  // namespace tenon::codegen
