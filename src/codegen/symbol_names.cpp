#include "tenon/codegen/symbol_names.h"

#include "tenon/codegen/c_names.h"

namespace tenon::codegen {

std::string SymbolNames::packed(const std::string& function, const std::string& prefix) {
  const std::string symbol = as_identifier(prefix + function);
  std::string result = symbol + "_packed";
  for (int n = 1; !taken_.insert(result).second; ++n)
    result = symbol + "_" + std::to_string(n) + "_packed";
  return result;
}

}  // namespace tenon::codegen
