// The functions of c_api.h that generated code calls: their addresses, for a JIT compiler, and
// their types, for declarations. The types are derived from the declarations in c_api.h by template
// deduction.
//
//   for (const CSymbol& s : c_symbols()) define(s.name, s.address);
//   c_symbol("tenon_workspace_free").params     // {CType::Int32, CType::Int32, CType::Pointer}
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// The machine type of a parameter or result. None: no result.
enum class CType : std::uint8_t { None, Int32, Int64, UInt64, Pointer };

struct CSymbol {
  std::string_view name;
  void* address;
  CType result;
  std::span<const CType> params;
};

std::span<const CSymbol> c_symbols();
/// Returns the function of this name. Precondition: it exists.
const CSymbol& c_symbol(std::string_view name);

/// Defines a function for code that is loaded later, under a name that the dynamic linker does not
/// know. Replaces an earlier definition of the name. Null removes the name.
void define_function(const std::string& name, void* address);
/// Returns the functions that the program has defined, by name.
std::map<std::string, void*> defined_functions();

}  // namespace tenon::runtime
