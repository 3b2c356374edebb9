#include "tenon/codegen/imports.h"

#include <algorithm>
#include <utility>

#include "tenon/codegen/files.h"
#include "tenon/support/error.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

/// Returns the compiler, and whether it is clang.
std::pair<CCompiler, bool> choose_compiler(const CTarget& target, const CImportOptions& options) {
  if (!options.command.empty()) {
    const CCompiler named(options.command);
    const bool is_clang = named.is_clang();
    if (is_clang || !target.is_foreign) return {named, is_clang};
    throw TargetError("imported C source is compiled for `" + target.triple + "`, and `" +
                      named.name() + "` (the variable CC) compiles for this machine only; name a " +
                      "clang, or import LLVM IR or an object of that machine");
  }
  if (options.wants_llvm_ir || target.is_foreign)
    for (const std::string& name : options.clangs)
      if (const CCompiler clang(name); clang.is_clang()) return {clang, true};
  if (!target.is_foreign) return {CCompiler(""), false};
  throw TargetError("imported C source is compiled for `" + target.triple +
                    "` by clang, which is not installed; install it (Debian: clang), or import " +
                    "LLVM IR or an object of that machine");
}

}  // namespace

void add_imported_sources(const tir::IRModule& module, ImportedSources& sources) {
  for (const auto& [name, func] : module.functions) {
    tir::walk(func.body, [&](const tir::Attr& attr) {
      const bool is_c = is_pragma(attr, tir::PragmaKey::ImportC);
      if (!is_c && !is_pragma(attr, tir::PragmaKey::ImportLlvm)) return;
      const tir::StringImm* text = attr.value.as<tir::StringImm>();
      if (!text)
        throw LowerError("pragma " + attr.key + " takes a string: source, or the path of a file");
      add_once(is_c ? sources.c : sources.llvm, text->value);
    });
  }
}

bool is_source_path(const std::string& source, std::initializer_list<std::string_view> suffixes) {
  if (source.find('\n') != std::string::npos) return false;
  return std::ranges::any_of(suffixes,
                             [&](std::string_view suffix) { return source.ends_with(suffix); });
}

ImportedC compile_c(const std::string& source, const CTarget& target,
                    const CImportOptions& options) {
  const auto [compiler, is_clang] = choose_compiler(target, options);
  const TemporaryFolder folder;
  std::filesystem::path text = folder.file("import.c");
  // An absolute path cannot be mistaken for an option, as a path with a leading dash would be.
  if (is_source_path(source, {".c"}))
    text = std::filesystem::absolute(source);
  else
    write_file(text, source);
  const std::filesystem::path result = folder.file("import.o");
  const bool to_llvm = is_clang && options.wants_llvm_ir;
  std::vector<std::string> arguments{"-O3", "-fPIC", "-c"};
  if (to_llvm) arguments.emplace_back("-emit-llvm");
  arguments.insert(arguments.end(), {text.string(), "-o", result.string()});
  std::string how = compiler.name() + " -O3";
  for (const std::string& flag :
       compiler.run_for(target, arguments, "to compile imported C source"))
    how += " " + flag;
  return {.is_llvm_ir = to_llvm, .bytes = read_file(result), .how = std::move(how)};
}

void refuse_unknown_functions(const std::set<std::string>& names, const std::string& pragmas) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "`" : ", `") + name + "`";
  throw RuntimeError(
      "no extern function " + list +
      " in the running program, in the libraries to link, or in imported source; a function of the "
      "program must be extern \"C\" and the program linked with -rdynamic, a library is named by "
      "the build option `link`, source by the " +
      pragmas);
}

}  // namespace tenon::codegen
