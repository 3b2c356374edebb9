// DataType: the type of one element, or of a vector of them. Shared by the compiler and the
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
  /// Two's complement, unsigned, IEEE floats, bfloat16, or an address.
  enum class Code : std::uint8_t { Int, UInt, Float, BFloat, Handle };

  Code code = Code::Int;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;

  /// Throws TypeError for a text that is no type.
  static DataType parse(std::string_view text,
                        std::source_location where = std::source_location::current());
  /// A null pointer is no text either.
  static DataType parse(const char* text,
                        std::source_location where = std::source_location::current());

  /// "int32", "float32x8", "bool", "bfloat16", "handle".
  std::string str() const;

  bool is_int() const { return code == Code::Int; }
  bool is_uint() const { return code == Code::UInt; }
  bool is_float() const { return code == Code::Float; }
  bool is_bfloat() const { return code == Code::BFloat; }
  bool is_handle() const { return code == Code::Handle; }
  /// Any floating type, bfloat16 among them.
  bool is_floating() const { return is_float() || is_bfloat(); }
  /// A signed or unsigned integer, bool among them.
  bool is_integral() const { return is_int() || is_uint(); }
  /// A truth value (an unsigned integer of one bit).
  bool is_bool() const { return is_uint() && bits == 1; }
  bool is_scalar() const { return lanes == 1; }
  bool is_vector() const { return lanes > 1; }
  /// int32 or int64 scalar: what index arithmetic is done in.
  bool is_index() const { return is_int() && lanes == 1 && (bits == 32 || bits == 64); }

  DataType element() const { return {code, bits, 1}; }
  DataType with_lanes(int n) const { return {code, bits, static_cast<std::uint16_t>(n)}; }
  DataType with_bits(int n) const { return {code, static_cast<std::uint8_t>(n), lanes}; }
  /// Bytes of one value as stored: a bool takes one byte a lane.
  int bytes() const { return (bits + 7) / 8 * lanes; }

  friend bool operator==(const DataType&, const DataType&) = default;
};

/// Throw TypeError for a width that does not exist, and for lanes outside of 1 to 65535.
DataType Float(int bits, int lanes = 1,
               std::source_location where = std::source_location::current());
DataType BFloat(int bits = 16, int lanes = 1,
                std::source_location where = std::source_location::current());
DataType Int(int bits, int lanes = 1, std::source_location where = std::source_location::current());
DataType UInt(int bits, int lanes = 1,
              std::source_location where = std::source_location::current());
DataType Bool(int lanes = 1, std::source_location where = std::source_location::current());
DataType Handle();

/// Least and greatest value of an integer type of at most 64 bits; the unsigned maximum of 64 bits
/// is not in int64's range and is given as std::nullopt.
std::int64_t integer_min(DataType type);
std::optional<std::int64_t> integer_max(DataType type);

/// Whether an integer value can be stored in the (integral) type without loss.
bool fits(std::int64_t value, DataType type);

/// The value wrapped to the width and sign of the (integral, at most 64 bits) type.
std::int64_t wrap(std::int64_t value, DataType type);

}  // namespace tenon
