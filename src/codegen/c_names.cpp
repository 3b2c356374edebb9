#include "tenon/codegen/c_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_set>

namespace tenon::codegen {

namespace {

/// Words of C and C++ that a kernel or a parameter may be called, and what is no name of a kernel
/// because programs have it already.
constexpr auto kTaken = std::to_array<std::string_view>(
    {"alignas", "alignof",  "asm",      "auto",     "bool",     "break",     "case",
     "catch",   "char",     "class",    "concept",  "const",    "constexpr", "continue",
     "default", "delete",   "do",       "double",   "else",     "enum",      "explicit",
     "export",  "extern",   "false",    "float",    "for",      "friend",    "goto",
     "if",      "inline",   "int",      "long",     "main",     "mutable",   "namespace",
     "new",     "noexcept", "not",      "nullptr",  "operator", "private",   "protected",
     "public",  "register", "requires", "restrict", "return",   "short",     "signed",
     "sizeof",  "static",   "struct",   "switch",   "template", "this",      "throw",
     "true",    "try",      "typedef",  "typename", "union",    "unsigned",  "using",
     "virtual", "void",     "volatile", "while",    "xor"});

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

bool is_c_name(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(name, is_letter) && std::ranges::count(kTaken, name) == 0;
}

std::vector<std::string> c_parameter_names(const runtime::FunctionSpec& function) {
  std::unordered_set<std::string> used{"tenon_args", "tenon_codes", "tenon_arrays", "tenon_strides",
                                       "tenon_call"};
  std::vector<std::string> names;
  for (const runtime::ParamSpec& param : function.params) {
    std::string name = param.name;
    std::ranges::replace_if(
        name, [](char c) { return !is_letter(c); }, '_');
    if (!is_c_name(name)) name = "p_" + name;
    while (!used.insert(name).second) name += '_';
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace tenon::codegen
