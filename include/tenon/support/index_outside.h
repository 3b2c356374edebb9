// What is said where an index lies outside of what there is of a tensor: by generated code through
// the runtime, and by the interpreter.
//
//   index_outside("B, gather.cpp:9: reads `A`", {.dimension = 0, .index = 25, .min = 0, .extent = 20})
//   // B, gather.cpp:9: reads `A` at index 25 of dimension 0, which has 20 elements, 0 to 19
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// The packed function by which generated code reports it, and fails:
///   tvm_call_packed("tenon_index_outside", what, dimension, index, min, extent)
inline constexpr std::string_view kIndexOutside = "tenon_index_outside";

/// Which dimension, the index there, and the first index and the number of those that there are.
struct OutsideIndex {
  std::int64_t dimension, index, min, extent;
};

std::string index_outside(std::string_view what, const OutsideIndex& at);

}  // namespace tenon
