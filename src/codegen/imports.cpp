#include "tenon/codegen/imports.h"

#include <algorithm>
#include <map>

#include "tenon/runtime/symbols.h"
#include "tenon/support/error.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

}  // namespace

void add_imported_sources(const tir::IRModule& module, std::vector<std::string>& llvm_sources,
                          std::vector<std::string>& c_sources) {
  for (const auto& [name, func] : module.functions) {
    tir::walk(func.body, [&](const tir::Attr& attr) {
      const bool is_c = is_pragma(attr, tir::PragmaKey::ImportC);
      if (!is_c && !is_pragma(attr, tir::PragmaKey::ImportLlvm)) return;
      const tir::StringImm* text = attr.value.as<tir::StringImm>();
      if (!text)
        throw LowerError("pragma " + attr.key + " takes a string: source, or the path of a file");
      add_once(is_c ? c_sources : llvm_sources, text->value);
    });
  }
}

bool is_source_path(const std::string& source, std::initializer_list<std::string_view> suffixes) {
  if (source.find('\n') != std::string::npos) return false;
  return std::ranges::any_of(suffixes,
                             [&](std::string_view suffix) { return source.ends_with(suffix); });
}

void refuse_unknown_functions(const std::set<std::string>& names, const std::string& pragmas) {
  const std::map<std::string, void*> registered = runtime::defined_functions();
  for (const std::string& name : names)
    if (registered.contains(name))
      throw RuntimeError("the function `" + name +
                         "` is registered by the running program (register_packed_function), and "
                         "only code of target llvm can call such functions");
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
