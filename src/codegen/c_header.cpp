#include "tenon/codegen/c_header.h"

#include <cctype>

namespace tenon::codegen {

std::string c_header(const std::string& file_name,
                     const std::vector<runtime::FunctionSpec>& functions) {
  std::string guard;
  for (char c : file_name)
    guard += std::isalnum(static_cast<unsigned char>(c))
                 ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                 : '_';
  guard = "TENON_" + guard + "_";
  std::string text =
      "/* Functions compiled by Tenon. They do not check their arguments: see TenonPackedFunction. */\n";
  text += "#ifndef " + guard + "\n#define " + guard + "\n\n#include \"tenon/runtime/c_api.h\"\n\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const runtime::FunctionSpec& function : functions) {
    text += "\n/* " + function.name + "(";
    for (std::size_t n = 0; n < function.params.size(); ++n)
      text +=
          (n ? ", " : "") + function.params[n].name + ": " + runtime::describe(function.params[n]);
    text += ") */\nint32_t " + function.symbol +
            "(const TenonValue* args, const int32_t* type_codes, int32_t num_args);\n";
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace tenon::codegen
