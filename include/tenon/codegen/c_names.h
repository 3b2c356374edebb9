// Names of functions and parameters in C and C++ headers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// Whether the name is an identifier in both languages, not a keyword, and not defined by every
/// program, as `main` is.
bool is_c_name(const std::string& name);

/// Whether C, C++, a header of the C library or of the runtime, or a compiler already uses the
/// name.
bool is_reserved_in_c(std::string_view name);
/// Whether every name with this prefix is reserved, so that only another prefix helps. Names that
/// begin with "v_" are not reserved.
bool has_reserved_beginning(std::string_view name);
/// Whether math.h declares a function of this name.
bool is_in_math_h(std::string_view name);

/// Returns the name with `_` for every character except ASCII letters and digits, and with `_`
/// before a leading digit.
std::string as_identifier(std::string_view name);

/// Returns distinct C names for the parameters that conflict neither with the function's name nor
/// with headers: "T.local" becomes T_local.
std::vector<std::string> c_parameter_names(const runtime::FunctionSpec& function);

/// Returns the text as a C string literal.
std::string c_string(const std::string& text);
/// Returns the text in a form that is safe inside a one-line comment.
std::string comment_text(std::string text);

}  // namespace tenon::codegen
