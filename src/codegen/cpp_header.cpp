#include "tenon/codegen/cpp_header.h"

#include <map>

#include "tenon/codegen/c_names.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

using runtime::Access;
using runtime::ArraySpec;
using runtime::FunctionSpec;
using runtime::ParamSpec;
using runtime::ScalarSpec;
using runtime::Size;
using runtime::Symbol;

std::string element_type(DataType type) {
  if (type.is_bool()) return "bool";
  if (type.is_bfloat()) return "tenon::BFloat16";
  if (type.is_float())
    return type.bits == 16 ? "tenon::Float16" : type.bits == 32 ? "float" : "double";
  return (type.is_uint() ? "std::uint" : "std::int") + std::to_string(type.bits) + "_t";
}

std::string array_type(const ArraySpec& array) {
  std::string text = "tenon::runtime::ArrayView<";
  if (array.access == Access::Read) text += "const ";
  text += element_type(array.dtype);
  for (const Size& extent : array.shape) {
    const auto* count = std::get_if<std::int64_t>(&extent);
    text += ", " + (count ? std::to_string(*count) : "tenon::runtime::kAny");
  }
  return text + ">";
}

/// Returns the C++ wrapper of one function: its signature, the checks that the signature does not
/// express, and the call.
std::string call_text(const FunctionSpec& function) {
  const std::vector<std::string> names = c_parameter_names(function);
  std::string params, checks, arguments;
  std::size_t dimensions = 0;
  // The value of each symbol, as a C++ expression.
  std::map<std::string, std::string> values;
  for (std::size_t n = 0; n < names.size(); ++n)
    if (std::holds_alternative<ScalarSpec>(function.params[n].type))
      values.emplace(function.params[n].name, names[n]);
  for (std::size_t n = 0; n < names.size(); ++n) {
    const ParamSpec& param = function.params[n];
    if (!params.empty()) params += ", ";
    const auto* array = std::get_if<ArraySpec>(&param.type);
    if (!array) {
      const DataType type = std::get<ScalarSpec>(param.type);
      params += (type.is_handle() ? "void*" : element_type(type)) + " " + names[n];
      arguments += "  tenon_call.scalar(" + names[n] + ");\n";
      continue;
    }
    const std::string quoted_name = c_string(param.name);
    const auto check = [&](const std::string& what, const std::string& actual,
                           const std::string& wanted, const std::string& value) {
      checks += "  tenon_call.same(" + quoted_name + ", " + c_string(what) + ", " + actual + ", " +
                c_string(wanted) + ", " + value + ");\n";
    };
    // Checks that all occurrences of a symbol have the same value; the first one defines it.
    const auto same = [&](const std::string& what, const Symbol& symbol,
                          const std::string& actual) {
      const auto [value, is_first] = values.emplace(symbol.name, actual);
      if (!is_first) check(what, actual, symbol.name, value->second);
      if (symbol.bits < 64)
        checks += "  tenon_call.fits(" + quoted_name + ", " + c_string(what) + ", " + actual +
                  ", " + std::to_string(symbol.bits) + ");\n";
    };
    params += "const " + array_type(*array) + "& " + names[n];
    dimensions += array->shape.size();
    for (std::size_t d = 0; d < array->shape.size(); ++d) {
      const std::string dimension = std::to_string(d);
      if (const auto* symbol = std::get_if<Symbol>(&array->shape[d]))
        same("extent " + dimension, *symbol, names[n] + ".extent(" + dimension + ")");
      if (!array->strides) continue;
      const Size& stride = (*array->strides)[d];
      const std::string actual = names[n] + ".stride(" + dimension + ")";
      if (const auto* symbol = std::get_if<Symbol>(&stride))
        same("stride " + dimension, *symbol, actual);
      else if (const auto* count = std::get_if<std::int64_t>(&stride))
        check("stride " + dimension, actual, std::to_string(*count), std::to_string(*count));
    }
    arguments += "  tenon_call.array(" + quoted_name + ", " + names[n] +
                 ", {.alignment = " + std::to_string(array->alignment) +
                 ", .index_bits = " + std::to_string(array->index_bits) + "});\n";
  }
  const std::string count = std::to_string(names.size());
  return "extern \"C\" std::int32_t " + function.symbol +
         "(const TenonValue* args, const std::int32_t* type_codes, std::int32_t num_args);\n/// " +
         signature_comment(function) + "\ninline void " + function.name + "(" + params +
         ") {\n  tenon::runtime::KernelCall<" + count + ", " + std::to_string(dimensions) +
         "> tenon_call(" + c_string(function.name) + ");\n" + checks + arguments +
         "  tenon_call.finish(" + function.symbol + "(tenon_call.values(), tenon_call.codes(), " +
         count + "));\n}\n";
}

}  // namespace

std::string cpp_header(const std::string& name, const std::vector<FunctionSpec>& functions) {
  std::string text =
      "// Kernels compiled by Tenon; see tenon/runtime/array_view.h.\n#pragma once\n\n"
      "#include <cstdint>\n\n#include \"tenon/runtime/array_view.h\"\n\n"
      "namespace " +
      name + " {\n";
  for (const FunctionSpec& function : functions) text += '\n' + call_text(function);
  return text + "\n}  // namespace " + name + "\n";
}

}  // namespace tenon::codegen
