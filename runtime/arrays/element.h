// Dispatch from an element type to the C++ type of a lane.
#pragma once

#include "tenon/runtime/ndarray.h"

namespace tenon::runtime {

/// Calls function(T()), where T is the C++ type of a lane.
template <class F>
decltype(auto) with_lane_type(DataType dtype, F&& function) {
  if (dtype.is_bool()) return function(bool());
  if (dtype.is_bfloat()) return function(BFloat16());
  if (dtype.is_float()) {
    if (dtype.bits == 16) return function(Float16());
    return dtype.bits == 32 ? function(float()) : function(double());
  }
  switch (dtype.bits) {
    case 8:
      return dtype.is_int() ? function(std::int8_t()) : function(std::uint8_t());
    case 16:
      return dtype.is_int() ? function(std::int16_t()) : function(std::uint16_t());
    case 32:
      return dtype.is_int() ? function(std::int32_t()) : function(std::uint32_t());
    default:
      return dtype.is_int() ? function(std::int64_t()) : function(std::uint64_t());
  }
}

}  // namespace tenon::runtime
