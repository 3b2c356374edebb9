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

/// The C++ wrapper of one function: its signature, the checks that the signature does not express,
/// and the call.
class CallText {
 public:
  explicit CallText(const FunctionSpec& function)
      : function_(function), names_(c_parameter_names(function)) {
    for (std::size_t n = 0; n < names_.size(); ++n)
      if (std::holds_alternative<ScalarSpec>(function.params[n].type))
        values_.emplace(function.params[n].name, names_[n]);
  }

  std::string text() {
    for (std::size_t n = 0; n < names_.size(); ++n) add(n);
    const std::string count = std::to_string(names_.size());
    std::string described;
    for (const ParamSpec& param : function_.params)
      described += (described.empty() ? "" : ", ") + param.name + ": " + runtime::describe(param);
    return "extern \"C\" std::int32_t " + function_.symbol +
           "(const TenonValue* args, const std::int32_t* type_codes, std::int32_t num_args);\n/// " +
           function_.name + "(" + comment_text(described) + ")\ninline void " + function_.name +
           "(" + params_ + ") {\n  tenon::runtime::KernelCall<" + count + ", " +
           std::to_string(dimensions_) + "> tenon_call(" + c_string(function_.name) + ");\n" +
           checks_ + arguments_ + "  tenon_call.finish(" + function_.symbol +
           "(tenon_call.values(), tenon_call.codes(), " + count + "));\n}\n";
  }

 private:
  void add(std::size_t n) {
    const ParamSpec& param = function_.params[n];
    if (!params_.empty()) params_ += ", ";
    if (const auto* array = std::get_if<ArraySpec>(&param.type)) {
      params_ += "const " + array_type(*array) + "& " + names_[n];
      add_array(n, *array);
      return;
    }
    const DataType type = std::get<ScalarSpec>(param.type).dtype;
    params_ += (type.is_handle() ? "void*" : element_type(type)) + " " + names_[n];
    arguments_ += "  tenon_call.scalar(" + names_[n] + ");\n";
  }

  void add_array(std::size_t n, const ArraySpec& array) {
    dimensions_ += array.shape.size();
    for (std::size_t d = 0; d < array.shape.size(); ++d) {
      const std::string dimension = std::to_string(d);
      if (const auto* symbol = std::get_if<Symbol>(&array.shape[d]))
        same(n, "extent " + dimension, *symbol, names_[n] + ".extent(" + dimension + ")");
      if (!array.strides) continue;
      const Size& stride = (*array.strides)[d];
      const std::string actual = names_[n] + ".stride(" + dimension + ")";
      if (const auto* symbol = std::get_if<Symbol>(&stride))
        same(n, "stride " + dimension, *symbol, actual);
      else if (const auto* count = std::get_if<std::int64_t>(&stride))
        check(n, "stride " + dimension, actual, std::to_string(*count), std::to_string(*count));
    }
    arguments_ += "  tenon_call.array(" + c_string(function_.params[n].name) + ", " + names_[n] +
                  ", {.alignment = " + std::to_string(array.alignment) +
                  ", .index_bits = " + std::to_string(array.index_bits) + "});\n";
  }

  /// Checks that all occurrences of a symbol have the same value; the first one defines it.
  void same(std::size_t n, const std::string& what, const Symbol& symbol,
            const std::string& actual) {
    const auto [value, is_first] = values_.emplace(symbol.name, actual);
    if (!is_first) check(n, what, actual, symbol.name, value->second);
    if (symbol.bits < 64)
      checks_ += "  tenon_call.fits(" + c_string(function_.params[n].name) + ", " + c_string(what) +
                 ", " + actual + ", " + std::to_string(symbol.bits) + ");\n";
  }
  void check(std::size_t n, const std::string& what, const std::string& actual,
             const std::string& wanted, const std::string& value) {
    checks_ += "  tenon_call.same(" + c_string(function_.params[n].name) + ", " + c_string(what) +
               ", " + actual + ", " + c_string(wanted) + ", " + value + ");\n";
  }

  const FunctionSpec& function_;
  std::vector<std::string> names_;
  /// The value of each symbol, as a C++ expression.
  std::map<std::string, std::string> values_;
  std::string params_, checks_, arguments_;
  std::size_t dimensions_ = 0;
};

}  // namespace

std::string cpp_header(const std::string& name, const std::vector<FunctionSpec>& functions) {
  std::string text =
      "// Kernels compiled by Tenon; see tenon/runtime/array_view.h.\n#pragma once\n\n"
      "#include <cstdint>\n\n#include \"tenon/runtime/array_view.h\"\n\n"
      "namespace " +
      name + " {\n";
  for (const FunctionSpec& function : functions) text += '\n' + CallText(function).text();
  return text + "\n}  // namespace " + name + "\n";
}

}  // namespace tenon::codegen
