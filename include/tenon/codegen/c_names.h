// Names that functions and parameters can have in headers for C and C++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// A name in both languages that no keyword is, and that programs do not have already, as `main`.
bool is_c_name(const std::string& name);

/// Whether C, C++, a header of the C library or of the runtime, or a compiler gives the name a
/// meaning.
bool is_reserved_in_c(std::string_view name);
/// Whether all names that begin as this one does are reserved, so that only another beginning
/// helps. No name that begins with "v_" is.
bool has_reserved_beginning(std::string_view name);
/// Whether math.h declares a function of the name.
bool is_in_math_h(std::string_view name);

/// The name with `_` for all but ASCII letters and digits, and before a digit at its beginning.
std::string as_identifier(std::string_view name);

/// The parameters as names of C, which differ from each other, from what the function is called and
/// from what headers define: "T.local" is T_local.
std::vector<std::string> c_parameter_names(const runtime::FunctionSpec& function);

/// The text in double quotes.
std::string c_string(const std::string& text);
/// The text as part of a comment of one line.
std::string comment_text(std::string text);

}  // namespace tenon::codegen
