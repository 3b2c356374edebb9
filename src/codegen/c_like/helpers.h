// Helper functions for operations that C has no operator for. The emitted text begins with the
// definitions of the helpers that it uses.
//
//   module.use_helper(Helper::FloorDiv, Int(32))   // "floordiv_int32"; text_emitter.h
#pragma once

#include <string_view>

namespace tenon::codegen {

enum class Helper : unsigned char {
  // Conversions between stored bits and values.
  ValueOfBits,  // for float16 and bfloat16
  BitsOfValue,
  Round,           // rounds a float32 to the nearest value of the type
  ToOdd,           // float64 to float32, rounded to odd: rounding again gives the right result
  SixteenOfInt64,  // nearest bfloat16 of an integer; the type is the integer's
  SixteenOfUInt64,
  // Integer and float arithmetic.
  Min,
  Max,
  /// Minimum and maximum of two non-constant signed integers in CUDA C.
  MinOfVariables,
  MaxOfVariables,
  TruncDiv,
  TruncMod,
  FloorDiv,
  FloorMod,
  Abs,
  Square,
  Quiet,
  OfFloat32,  // converts a float32 or float64 to the integer type
  OfFloat64,
  // Bit operations.
  Popcount,
  Clz,
  BitsOfFloat,  // bits of a float32 or float64 as a signed integer
  FloatOfBits,
  // Memory operations.
  SizeOfProduct,
  Prefetch,
  CopyAsync,
  /// Returns its argument. An empty `asm` hides from CUDA's compiler that the value was loaded.
  Opaque,
  // Exchanges within a warp. Arguments: value, thread or distance, width of the groups of threads.
  ShuffleTo,
  ShuffleUp,
  ShuffleDown,
  FourBytes,
};

/// Whether this is the name of a helper for some type.
bool is_helper_name(std::string_view name);

}  // namespace tenon::codegen
