// Fast path for arrays of which the specification fixes everything except the address. It produces
// no messages. Nearly all calls use it, including those of functions that are as short as the
// check.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenon/runtime/function.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

struct CheckedArguments;

/// An array of constant extents with at least one element, compact, in host memory.
struct KnownArray {
  DLDataType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::uintptr_t bytes;
  /// A power of two.
  std::uintptr_t alignment;
  bool is_written;
};

/// Returns the extents; nullopt if one is not constant.
std::optional<std::vector<std::int64_t>> constant_extents(const std::vector<Size>& shape);

/// Returns the parameter as a known array; nullopt if it is something else.
std::optional<KnownArray> known_array(const ParamSpec& param);

/// Whether the arguments match these arrays and written memory is disjoint from the rest. If so,
/// stores them in `result`. Otherwise leaves it unchanged, and CallCheck handles unusual arguments
/// and reports errors.
bool take_known_arrays(const std::vector<KnownArray>& expected, std::span<const Argument> args,
                       CheckedArguments& result);

}  // namespace tenon::runtime
