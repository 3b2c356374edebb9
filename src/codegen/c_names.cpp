#include "tenon/codegen/c_names.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "tenon/codegen/keywords.h"

namespace tenon::codegen {

namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

bool is_c_name(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(name, is_letter) && std::ranges::count(kWordsOfC, name) == 0 &&
         std::ranges::count(kWordsOfCpp, name) == 0;
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
