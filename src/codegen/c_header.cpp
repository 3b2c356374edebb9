#include "tenon/codegen/c_header.h"

#include <algorithm>

#include "tenon/codegen/c_names.h"

namespace tenon::codegen {

namespace {

using runtime::Access;
using runtime::ArraySpec;
using runtime::FunctionSpec;
using runtime::ParamSpec;
using runtime::ScalarSpec;

std::string type_of(const ParamSpec& param) {
  if (const auto* array = std::get_if<ArraySpec>(&param.type))
    return array->access == Access::Read ? "const DLTensor* " : "DLTensor* ";
  const DataType type = std::get<ScalarSpec>(param.type);
  if (type.is_handle()) return "void* ";
  if (type.is_floating()) return "double ";
  return type.is_uint() && type.bits == 64 ? "uint64_t " : "int64_t ";
}

/// Returns the C statements that pass a scalar: they set args[n] and codes[n].
std::string pass_scalar(DataType type, const std::string& at, const std::string& name) {
  const std::string value = "  tenon_args" + at, code = ";\n  tenon_codes" + at;
  if (type.is_handle())
    return value + ".p = " + name + code + " = " + name + " ? kTenonHandle : kTenonNull;\n";
  if (type.is_floating()) return value + ".f = " + name + code + " = kTenonFloat;\n";
  if (type.is_uint() && type.bits == 64)
    return value + ".i = (int64_t)" + name + code + " = " + name +
           " > INT64_MAX ? kTenonUInt : kTenonInt;\n";
  return value + ".i = " + name + code + " = kTenonInt;\n";
}

/// Returns a check of the processor's features. Without it, code for another processor would end
/// the process with an illegal instruction.
std::string check_of_processor(const FunctionSpec& function) {
  if (function.features.empty()) return "";
  std::string text = "  static const char* const tenon_features[] = {";
  for (const std::string& feature : function.features) text += '"' + feature + "\", ";
  return text + "NULL};\n  static int32_t tenon_checked;\n  if (!tenon_check_processor(" +
         c_string(function.name) + ", tenon_features, &tenon_checked))\n    return kTenonError;\n";
}

/// Returns the function with the C signature: int32_t scale(const DLTensor* A, DLTensor* B).
std::string plain_function(const FunctionSpec& function) {
  const std::vector<std::string> names = c_parameter_names(function);
  std::string params, body;
  std::size_t arrays = 0, dimensions = 0;
  for (std::size_t n = 0; n < names.size(); ++n) {
    const ParamSpec& param = function.params[n];
    params += (n ? ", " : "") + type_of(param) + names[n];
    const std::string at = "[" + std::to_string(n) + "]";
    if (const auto* array = std::get_if<ArraySpec>(&param.type)) {
      const std::string copy = "&tenon_arrays[" + std::to_string(arrays++) + "]";
      const std::string wanted = "argument `" + param.name + "` of " + function.name +
                                 ": not an array " + runtime::describe(param);
      body += "  if (!tenon_pass_array(" + names[n] + ", " + std::to_string(array->shape.size()) +
              ", " + copy + ", tenon_strides + " + std::to_string(dimensions) + ",\n" +
              "                        " + c_string(wanted) +
              "))\n    return kTenonInvalidArgument;\n";
      body += "  tenon_args" + at + ".p = " + copy + ";\n  tenon_codes" + at + " = kTenonTensor;\n";
      dimensions += array->shape.size();
    } else {
      body += pass_scalar(std::get<ScalarSpec>(param.type), at, names[n]);
    }
  }
  const auto room = [](std::size_t count) {
    return "[" + std::to_string(std::max<std::size_t>(count, 1)) + "];\n";
  };
  return "static inline int32_t " + function.name + "(" + (params.empty() ? "void" : params) +
         ") {\n  TenonValue tenon_args" + room(names.size()) + "  int32_t tenon_codes" +
         room(names.size()) +
         (arrays ? "  DLTensor tenon_arrays" + room(arrays) + "  int64_t tenon_strides" +
                       room(dimensions)
                 : "") +
         check_of_processor(function) + body + "  return " + function.symbol +
         "(tenon_args, tenon_codes, " + std::to_string(names.size()) + ");\n}\n";
}

}  // namespace

std::string c_header(const std::string& file_name, const std::vector<FunctionSpec>& functions) {
  const std::string guard = include_guard(file_name);
  std::string text =
      "/* Functions compiled by Tenon. They check no more of their arguments than the number of dimensions:\n"
      " * see TenonPackedFunction for what holds of the rest. Each is declared as it was compiled, f_packed,\n"
      " * and, unless TENON_PACKED_ONLY is defined, as a function of arrays and numbers, which fails where\n"
      " * the processor lacks what the code needs: f_packed does not ask, see tenon_processor_has. */\n";
  text +=
      "#ifndef " + guard + "\n#define " + guard + "\n\n#include \"tenon/runtime/pass_array.h\"\n\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  std::string plain;
  for (const FunctionSpec& function : functions) {
    text += "\n/* " + signature_comment(function) + " */\nint32_t " + function.symbol +
            "(const TenonValue* args, const int32_t* type_codes, int32_t num_args);\n";
    if (is_c_name(function.name) && !is_reserved_in_c(function.name))
      plain += "\n" + plain_function(function);
  }
  if (!plain.empty()) {
    text += "\n#ifndef TENON_PACKED_ONLY\n";
    text += plain;
    text += "\n#endif /* TENON_PACKED_ONLY */\n";
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace tenon::codegen
