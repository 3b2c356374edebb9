#include "tenon/codegen/symbol_names.h"

#include <cctype>

namespace tenon::codegen {

std::string SymbolNames::packed(const std::string& function, const std::string& prefix) {
  std::string symbol = prefix;
  for (char c : function) symbol += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (symbol.empty() || std::isdigit(static_cast<unsigned char>(symbol[0]))) symbol = "_" + symbol;
  std::string result = symbol + "_packed";
  for (int n = 1; !taken_.insert(result).second; ++n)
    result = symbol + "_" + std::to_string(n) + "_packed";
  return result;
}

}  // namespace tenon::codegen
