#include "tenon/codegen/variant_choice.h"

#include "tenon/tir/literal_text.h"

namespace tenon::codegen {

namespace {

constexpr const char* kParameters =
    "(const TenonValue* args, const int32_t* type_codes, int32_t num_args)";

}  // namespace

std::string variant_choice(const std::string& name,
                           const std::vector<runtime::FunctionSpec>& functions,
                           const std::vector<Variant>& variants) {
  std::string text =
      "/* The kernels of `" + name +
      "`, compiled by Tenon for several processors: each call goes to the code for this one. */\n"
      "#include \"tenon/runtime/kernel_variants.h\"\n\n"
      "#define TENON_PACKED_ONLY\n#include \"" +
      name + ".h\"\n\n";
  std::string rows;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const std::string list = "features" + std::to_string(v);
    text += "static const char* const " + list + "[] = {";
    for (const std::string& feature : variants[v].features) text += tir::quoted(feature) + ", ";
    text += "NULL};\n";
    rows += "    {" + tir::quoted(variants[v].target) + ", " + list + "},\n";
  }
  text += "static const TenonVariant variants[] = {\n" + rows + "};\nstatic int32_t chosen;\n";
  for (std::size_t f = 0; f < functions.size(); ++f) {
    text += '\n';
    std::string cases;
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const std::string& symbol = variants[v].symbols[f];
      text += "int32_t " + symbol + kParameters + ";\n";
      cases += "    case " + std::to_string(v) + ":\n      return " + symbol +
               "(args, type_codes, num_args);\n";
    }
    text += "int32_t " + functions[f].symbol + kParameters + " {\n  switch (tenon_choose_variant(" +
            tir::quoted(name) + ", variants, " + std::to_string(variants.size()) +
            ", &chosen)) {\n" + cases + "  }\n  return kTenonError;\n}\n";
  }
  return text;
}

}  // namespace tenon::codegen
