// Values as error messages write them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tenon::runtime {

/// "[2, 3]"
std::string to_text(std::span<const std::int64_t> values);
/// The shortest text that stands for the number.
std::string to_text(double value);
inline std::string to_text(std::int64_t value) { return std::to_string(value); }

}  // namespace tenon::runtime
