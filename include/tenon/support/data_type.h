// DataType: the type of an element, or of a vector of elements. Shared by the compiler and the
// runtime.
//
//   DataType t = Float(32, 8);              // t.str() == "float32x8"
//   DataType::parse("int8x4").lanes == 4
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

namespace tenon {

struct DataType {
  /// Signed (two's complement) or unsigned integer, IEEE float, bfloat16, or address.
  enum class Code : std::uint8_t { Int, UInt, Float, BFloat, Handle };

  Code code = Code::Int;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;

  /// Parses a type. TypeError for any other text.
  static DataType parse(std::string_view text,
                        std::source_location where = std::source_location::current());
  /// Overload that throws TypeError for a null pointer too.
  static DataType parse(const char* text,
                        std::source_location where = std::source_location::current());

  /// Returns "int32", "float32x8", "bool", "bfloat16", "handle".
  std::string str() const;

  bool is_int() const { return code == Code::Int; }
  bool is_uint() const { return code == Code::UInt; }
  bool is_float() const { return code == Code::Float; }
  bool is_bfloat() const { return code == Code::BFloat; }
  bool is_handle() const { return code == Code::Handle; }
  /// Whether the type is any floating type, including bfloat16.
  bool is_floating() const { return is_float() || is_bfloat(); }
  /// Whether the type is a signed or unsigned integer, including bool.
  bool is_integral() const { return is_int() || is_uint(); }
  /// Whether the type is a Boolean, represented as an unsigned integer of one bit.
  bool is_bool() const { return is_uint() && bits == 1; }
  bool is_scalar() const { return lanes == 1; }
  bool is_vector() const { return lanes > 1; }
  /// Whether the type is a scalar int32 or int64, the types of index arithmetic.
  bool is_index() const { return is_int() && lanes == 1 && (bits == 32 || bits == 64); }
  /// Whether the type is a scalar integer other than int32, int64 and bool. Vectors are not narrow,
  /// so that ramps of narrow numbers stay ramps.
  bool is_narrow() const { return is_integral() && lanes == 1 && !is_index() && !is_bool(); }
  /// Whether this integer type represents every value of the integer type `other`. False for bool.
  bool includes(DataType other) const {
    if (!is_integral() || !other.is_integral() || is_bool() || other.is_bool()) return false;
    return (other == *this) || (bits > other.bits && (is_int() || other.is_uint()));
  }

  DataType element() const { return {code, bits, 1}; }
  /// TypeError unless `n` is 1 to 65535.
  DataType with_lanes(int n) const;
  DataType with_bits(int n) const { return {code, static_cast<std::uint8_t>(n), lanes}; }
  /// Returns the bytes of one stored value. A bool takes one byte per lane.
  int bytes() const { return (bits + 7) / 8 * lanes; }

  friend bool operator==(const DataType&, const DataType&) = default;
};

/// Make a type. TypeError for a width that does not exist, and for lanes outside 1 to 65535.
DataType Float(int bits, int lanes = 1,
               std::source_location where = std::source_location::current());
DataType BFloat(int bits = 16, int lanes = 1,
                std::source_location where = std::source_location::current());
DataType Int(int bits, int lanes = 1, std::source_location where = std::source_location::current());
DataType UInt(int bits, int lanes = 1,
              std::source_location where = std::source_location::current());
DataType Bool(int lanes = 1, std::source_location where = std::source_location::current());
DataType Handle();

/// Return the minimum and maximum of an integer type of at most 64 bits. The maximum of uint64 does
/// not fit int64 and is nullopt.
std::int64_t integer_min(DataType type);
std::optional<std::int64_t> integer_max(DataType type);

/// Whether an integer fits the integral type without loss.
bool fits(std::int64_t value, DataType type);

/// Returns the value wrapped to the width and sign of an integral type of at most 64 bits.
std::int64_t wrap(std::int64_t value, DataType type);

}  // namespace tenon
