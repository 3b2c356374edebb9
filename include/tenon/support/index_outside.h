// The message for an index that is out of bounds, shared by generated code (through the runtime)
// and the interpreter.
//
//   index_outside("B, gather.cpp:9: reads `A`", {.dimension = 0, .index = 25, .min = 0, .extent = 20})
//   // B, gather.cpp:9: reads `A` at index 25 of dimension 0, which has 20 elements, 0 to 19
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// The packed function that generated code calls to report an index that is out of bounds:
///   tvm_call_packed("tenon_index_outside", what, dimension, index, min, extent)
inline constexpr std::string_view kIndexOutside = "tenon_index_outside";

/// `index` in `dimension` is out of bounds: the dimension has `extent` elements, starting at `min`.
struct OutsideIndex {
  std::int64_t dimension, index, min, extent;
};

std::string index_outside(std::string_view what, const OutsideIndex& at);

}  // namespace tenon
