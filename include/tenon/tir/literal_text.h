// How literals print; shared by the printers and by code generators that emit text.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/support/data_type.h"

namespace tenon::tir {

/// "5", "3i64", "200u8", "True".
std::string integer_text(std::int64_t value, DataType type);
/// "1f32", "1e-07f32", "inff64".
std::string floating_text(double value, DataType type);
/// Six significant digits, as the reference prints: "0.333333".
std::string shortest_text(double value);
/// In double quotes, with \n \" \\ \xHH escapes.
std::string quoted(const std::string& text);

}  // namespace tenon::tir
