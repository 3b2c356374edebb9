// Arrays of which a function's specification says all but the address, and their check without
// words: what nearly every call passes, some to functions that take no longer than a check.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenon/runtime/function.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

struct CheckedArguments;

/// Of constant extents and at least one element, compact, in the memory of processors.
struct KnownArray {
  DLDataType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::uintptr_t bytes;
  /// A power of two.
  std::uintptr_t alignment;
  bool is_written;
};

/// Nothing where one is not constant.
std::optional<std::vector<std::int64_t>> constant_extents(const std::vector<Size>& shape);

/// Nothing for a parameter that is something else.
std::optional<KnownArray> known_array(const ParamSpec& param);

/// Whether the arguments are these arrays, in memory that may be written where it is. They are then
/// put into `result`, which otherwise stays as it is: CallCheck takes what is unusual or says what
/// is wrong.
bool take_known_arrays(const std::vector<KnownArray>& expected, std::span<const Argument> args,
                       CheckedArguments& result);

}  // namespace tenon::runtime
