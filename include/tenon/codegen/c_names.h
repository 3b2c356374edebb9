// Names of functions and parameters in C and C++ headers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// Whether the name can be used in C and C++: it is an identifier, not a keyword, and not a name
/// that every program defines, such as `main`.
bool is_c_name(const std::string& name);

/// Whether the name is already used by C, C++, a compiler, or a header of the C library or the
/// runtime.
bool is_reserved_in_c(std::string_view name);
/// Whether the name begins with a prefix that is reserved for all names, so that a suffix does not
/// help. Names that begin with "v_" are not reserved.
bool has_reserved_beginning(std::string_view name);
/// Whether math.h declares a function of this name.
bool is_in_math_h(std::string_view name);

/// Replaces every character of the name that is not an ASCII letter or digit by `_`. A name that is
/// empty or begins with a digit gets a leading `_`.
std::string as_identifier(std::string_view name);

/// Returns distinct C names for the parameters. They differ from the function's name and from names
/// in headers: "T.local" becomes T_local.
std::vector<std::string> c_parameter_names(const runtime::FunctionSpec& function);

/// Returns the include guard of a header file: TENON_MATMUL_H_.
std::string include_guard(const std::string& file_name);

/// Returns the text as a C string literal.
std::string c_string(const std::string& text);
/// Returns the text in a form that is safe inside a one-line comment.
std::string comment_text(std::string text);
/// Returns the function with the requirements on its arguments, in a form that is safe inside a
/// comment: "scale(A: float32[n], n: int32)".
std::string signature_comment(const runtime::FunctionSpec& function);

}  // namespace tenon::codegen
