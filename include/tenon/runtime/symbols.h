// The functions of c_api.h that generated code calls, with their addresses, for a compiler that
// links in memory.
//
//   for (const CSymbol& s : c_symbols()) define(s.name, s.address);
#pragma once

#include <span>
#include <string_view>

namespace tenon::runtime {

struct CSymbol {
  std::string_view name;
  void* address;
};

std::span<const CSymbol> c_symbols();

}  // namespace tenon::runtime
