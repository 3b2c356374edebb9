// Reads, compares and prints array elements that are given as bytes.
#pragma once

#include <cstddef>
#include <string>

#include "tenon/support/data_type.h"

namespace tenon::device_kit {

/// Returns the value of a scalar element. Integers beyond 2^53 are rounded.
double value(const std::byte* element, DataType type);
/// Compares integers exactly and floats with a relative and absolute tolerance. Any NaN equals any
/// NaN.
bool same(const std::byte* expected, const std::byte* found, DataType type, double tolerance,
          bool zeros_alike);
std::string text(const std::byte* element, DataType type);

}  // namespace tenon::device_kit
