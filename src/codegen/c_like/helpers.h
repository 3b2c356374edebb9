// Helper functions for operations that C has no operator for. A text contains those that it uses,
// before its functions.
//
//   Helpers helpers(kPlainC);
//   helpers.use(Helper::FloorDiv, Int(32))     // "floordiv_int32"
//   helpers.text()                             // static inline int32_t floordiv_int32(...) {...}
#pragma once

#include <map>
#include <set>
#include <string>

#include "codegen/c_like/dialect.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

enum class Helper : unsigned char {
  // Conversions between memory and values.
  ValueOfBits,  // float16 and bfloat16
  BitsOfValue,
  Round,           // a float32 to the nearest value of the type
  ToOdd,           // a float64 to a float32 that rounds to narrower types as the float64 does
  SixteenOfInt64,  // an integer to the nearest bfloat16; the type is the integer's
  SixteenOfUInt64,
  // Arithmetic.
  Min,
  Max,
  /// Minimum and maximum of two signed integers that are not constants, in CUDA C.
  MinOfVariables,
  MaxOfVariables,
  TruncDiv,
  TruncMod,
  FloorDiv,
  FloorMod,
  Abs,
  Square,
  Quiet,
  OfFloat32,  // a float32 or float64 to the integer type
  OfFloat64,
  // Bits.
  Popcount,
  Clz,
  BitsOfFloat,  // float32 and float64, as a signed integer
  FloatOfBits,
  // Memory.
  SizeOfProduct,
  Prefetch,
  CopyAsync,
  /// The identity. An empty `asm` hides from CUDA's compiler that the value is loaded.
  Opaque,
  // Exchanges within a warp: (value, thread or distance, width of the exchanging groups).
  ShuffleTo,
  ShuffleUp,
  ShuffleDown,
  FourBytes,
};

/// Whether a helper for some type has this name.
bool is_helper_name(std::string_view name);

class Helpers {
 public:
  explicit Helpers(const Dialect& dialect) : dialect_(dialect) {}
  /// Returns the name to call. The helper, and the helpers that it calls, become part of the text.
  std::string use(Helper helper, DataType type = {});
  /// Adds a function with this name, whose text begins with the type of its result.
  void use_text(const std::string& name, std::string text) {
    texts_.insert_or_assign(name, std::move(text));
  }
  /// Returns "" if no helper is used.
  std::string text() const;

 private:
  const Dialect& dialect_;
  /// Sorted by enumerator, since helpers call only helpers with smaller enumerators; the second key
  /// is the helper's name.
  std::map<std::pair<Helper, std::string>, DataType> used_;
  std::map<std::string, std::string> texts_;
};

}  // namespace tenon::codegen
