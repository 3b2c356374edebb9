// Text of values for error messages, and pieces of text.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// Returns "[2, 3]".
std::string to_text(std::span<const std::int64_t> values);
/// Returns the shortest text that represents the number.
std::string to_text(double value);
std::string to_text(std::integral auto value) { return std::to_string(value); }

/// Removes and returns the text up to the separator, and removes the separator.
std::string_view take_until(std::string_view& text, char separator);

}  // namespace tenon::runtime
