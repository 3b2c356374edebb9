#include "bindings/documentation.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "header_comments.inc"  // kHeaderComments, sorted by name

namespace nb = nanobind;

namespace tenon::python {

namespace {

const char* comment_of(const std::string& name) {
  const auto* found = std::ranges::lower_bound(kHeaderComments, name, {}, &HeaderComment::name);
  return found != std::end(kHeaderComments) && found->name == name ? found->text : nullptr;
}

/// Returns the C++ scope of a Python module or class, without `tenon::`. For example,
/// "te::Stage::".
std::string scope_name(nb::handle scope) {
  const bool is_class = PyType_Check(scope.ptr());
  std::string name = nb::cast<std::string>(scope.attr(is_class ? "__module__" : "__name__"));
  if (is_class) name += "." + nb::cast<std::string>(scope.attr("__qualname__"));
  std::string result;
  for (std::size_t at = name.find("_tenon"); at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    if (const std::string part = name.substr(at, dot - at); part != "_tenon") result += part + "::";
    at = dot + 1;
  }
  return result;
}

}  // namespace

const char* header_comment(nb::handle scope, const char* name) {
  // The Python module `tenon` also contains names of these C++ namespaces.
  for (const char* space : {"", "tir::", "codegen::", "runtime::"})
    if (const char* text = comment_of(space + scope_name(scope) + name)) return text;
  return "";
}

}  // namespace tenon::python
