// The functions of c_api.h that generated code calls: their addresses, for a compiler that links in
// memory, and their types, for one that declares them. The types are those of the declarations in
// c_api.h, read off by the compiler of this file.
//
//   for (const CSymbol& s : c_symbols()) define(s.name, s.address);
//   c_symbol("tenon_workspace_free").params     // {CType::Int32, CType::Int32, CType::Pointer}
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::runtime {

/// What a parameter or a result is to machine code. None: the function gives nothing.
enum class CType : std::uint8_t { None, Int32, Int64, UInt64, Pointer };

struct CSymbol {
  std::string_view name;
  void* address;
  CType result;
  std::span<const CType> params;
};

std::span<const CSymbol> c_symbols();
/// Precondition: there is one of that name.
const CSymbol& c_symbol(std::string_view name);

}  // namespace tenon::runtime
