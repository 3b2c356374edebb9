// The functions of c_api.h that generated code calls: their addresses, for a JIT compiler, and
// their types, for declarations. The types are derived from the declarations in c_api.h by template
// deduction.
//
//   for (const CSymbol& s : c_symbols()) define(s.name, s.address);
//   c_symbol("tenon_workspace_free").params     // {Int(32), Int(32), Handle()}
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tenon/support/data_type.h"

namespace tenon::runtime {

struct CSymbol {
  std::string_view name;
  void* address;
  /// Nullopt: the function returns nothing.
  std::optional<DataType> result;
  /// The types of the parameters; Handle() for pointers.
  std::span<const DataType> params;
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
