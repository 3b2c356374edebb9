// The message for an element with a wrong value, shared by generated code (through the runtime) and
// the interpreter.
//
//   element_differs("intrinsic `gemv` of stage `C`", 2.5, 1.5, {{3, 17}})
//   // intrinsic `gemv` of stage `C`: element [3, 17] is 2.5, should be 1.5
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tenon {

/// The packed function that generated code calls to report a wrong element and fail:
///   tvm_call_packed("tenon_element_differs", what, actual, expected, index...)
inline constexpr std::string_view kElementDiffers = "tenon_element_differs";

/// The value of an element.
using ElementValue = std::variant<std::int64_t, double>;

std::string element_differs(std::string_view what, const ElementValue& actual,
                            const ElementValue& expected, std::span<const std::int64_t> index);

}  // namespace tenon
