// Text of literals, for the printers and for code generators that emit source text.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/support/data_type.h"

namespace tenon::tir {

/// Returns the text of an integer: "5", "3i64", "200u8", "True".
std::string integer_text(std::int64_t value, DataType type);
/// Returns the text of a float: "1f32", "1e-07f32", "inff64".
std::string floating_text(double value, DataType type);
/// Returns the number with six significant digits, as TVM 0.9 prints it: "0.333333".
std::string shortest_text(double value);
/// Returns the text in double quotes, with the escapes \n, \", \\ and \xHH.
std::string quoted(const std::string& text);

}  // namespace tenon::tir
