#include "tenon/codegen/symbol_names.h"

#include "tenon/codegen/c_names.h"

namespace tenon::codegen {

std::set<std::string> function_names(const std::vector<CompileUnit>& units) {
  std::set<std::string> names;
  for (const CompileUnit& unit : units)
    for (const auto& [name, func] : unit.module.functions) names.insert(func.attrs.global_symbol);
  return names;
}

std::string packed_symbol(const std::string& function, std::set<std::string>& taken,
                          const std::string& prefix) {
  const std::string symbol = as_identifier(prefix + function);
  std::string result = symbol + "_packed";
  for (int n = 1; !taken.insert(result).second; ++n)
    result = symbol + "_" + std::to_string(n) + "_packed";
  return result;
}

}  // namespace tenon::codegen
