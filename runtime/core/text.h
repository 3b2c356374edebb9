// Text of values for error messages.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>

namespace tenon::runtime {

/// Returns "[2, 3]".
std::string to_text(std::span<const std::int64_t> values);
/// Returns the shortest text that represents the number.
std::string to_text(double value);
std::string to_text(std::integral auto value) { return std::to_string(value); }

}  // namespace tenon::runtime
