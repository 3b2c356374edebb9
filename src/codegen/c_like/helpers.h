// Small functions that emitted text calls for what C has no operator for. A text has those that it
// uses, before its functions.
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
  // Between memory and values.
  ValueOfBits,  // of float16 and bfloat16
  BitsOfValue,
  Round,           // a float32 to the nearest value of the type
  ToOdd,           // a float64 to a float32 that rounds to narrower types as the float64 does
  SixteenOfInt64,  // an integer to the nearest bfloat16, which is the type
  SixteenOfUInt64,
  // Arithmetic.
  Min,
  Max,
  TruncDiv,
  TruncMod,
  FloorDiv,
  FloorMod,
  Abs,
  Square,
  OfFloat32,  // a float32, or a float64, to the integer that is the type
  OfFloat64,
  // Bits.
  Popcount,
  Clz,
  BitsOfFloat,  // of float32 and float64, as a signed integer
  FloatOfBits,
  // Memory.
  SizeOfProduct,
  Prefetch,
  CopyAsync,
  Opaque,  // the identity, by an empty `asm` that hides from CUDA's compiler that it is a load
  // Within a warp: (value, thread or distance, width of the groups that exchange values).
  ShuffleTo,
  ShuffleUp,
  ShuffleDown,
  FourBytes,
};

/// Whether some helper for some type has the name.
bool is_helper_name(std::string_view name);

class Helpers {
 public:
  explicit Helpers(const Dialect& dialect) : dialect_(dialect) {}
  /// The name to call; the helper, and what it calls, become part of the text.
  std::string use(Helper helper, DataType type = {});
  /// A function of this name, whose text begins with the type of its value.
  void use_text(const std::string& name, std::string text) {
    texts_.insert_or_assign(name, std::move(text));
  }
  /// "" if none is used.
  std::string text() const;

 private:
  const Dialect& dialect_;
  /// In the order of the enumeration: no helper calls one that comes later. With its name.
  std::map<std::pair<Helper, std::string>, DataType> used_;
  std::map<std::string, std::string> texts_;
};

}  // namespace tenon::codegen
