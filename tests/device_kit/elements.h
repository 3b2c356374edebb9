// Elements of arrays as bytes.
#pragma once

#include <cstddef>
#include <string>

#include "tenon/support/data_type.h"

namespace tenon::device_kit {

/// Of a type of one lane. Whole numbers beyond 2^53 are rounded.
double value(const std::byte* element, DataType type);
/// Whole numbers must be equal; floating ones within the tolerance, relative and absolute; a NaN is
/// like every other, and an infinity like itself.
bool same(const std::byte* expected, const std::byte* found, DataType type, double tolerance,
          bool zeros_alike);
std::string text(const std::byte* element, DataType type);

}  // namespace tenon::device_kit
