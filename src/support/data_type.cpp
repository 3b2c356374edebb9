#include "tenon/support/data_type.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "tenon/support/name.h"

namespace tenon {

namespace {

/// Throws TypeError unless the number of lanes is valid. `where` is the user's source location, if
/// it is known.
template <class... Where>
std::uint16_t checked_lanes(int lanes, const Where&... where) {
  if (lanes < 1 || lanes > std::numeric_limits<std::uint16_t>::max())
    throw TypeError("a vector type needs 1 to 65535 lanes, got " + std::to_string(lanes), where...);
  return static_cast<std::uint16_t>(lanes);
}

DataType checked(DataType::Code code, int bits, int lanes, bool width_exists, std::string_view name,
                 const SourceLocation& where) {
  if (!width_exists)
    throw TypeError("there is no type " + std::string(name) + std::to_string(bits), where);
  return {code, static_cast<std::uint8_t>(bits), checked_lanes(lanes, where)};
}

bool is_power_of_two_byte_width(int bits) {
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/// Removes a leading number from the text and returns it. Nullopt if there is no number.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

DataType Float(int bits, int lanes, SourceLocation where) {
  return checked(DataType::Code::Float, bits, lanes, bits == 16 || bits == 32 || bits == 64,
                 "float", where);
}
DataType BFloat(int bits, int lanes, SourceLocation where) {
  return checked(DataType::Code::BFloat, bits, lanes, bits == 16, "bfloat", where);
}
DataType Int(int bits, int lanes, SourceLocation where) {
  return checked(DataType::Code::Int, bits, lanes, is_power_of_two_byte_width(bits), "int", where);
}
DataType UInt(int bits, int lanes, SourceLocation where) {
  return checked(DataType::Code::UInt, bits, lanes, bits == 1 || is_power_of_two_byte_width(bits),
                 "uint", where);
}
DataType Bool(int lanes, SourceLocation where) { return UInt(1, lanes, where); }
DataType Handle() { return {DataType::Code::Handle, 64, 1}; }

DataType DataType::with_lanes(int n) const { return {code, bits, checked_lanes(n)}; }

DataType DataType::parse(const char* text, SourceLocation where) {
  return parse(std::string_view(Name(text, where)), where);
}

DataType DataType::parse(std::string_view text, SourceLocation where) {
  if (text == "handle") return Handle();
  using Make = DataType (*)(int bits, int lanes, SourceLocation where);
  static constexpr std::pair<std::string_view, Make> kKinds[] = {
      {"bfloat", BFloat}, {"float", Float}, {"uint", UInt}, {"int", Int}};
  std::string_view rest = text;
  Make make = nullptr;
  std::optional<int> bits, lanes = 1;
  if (take_prefix(rest, "bool")) {
    make = UInt;
    bits = 1;
  } else if (const auto* kind = std::ranges::find_if(
                 kKinds, [&](const auto& each) { return take_prefix(rest, each.first); });
             kind != std::end(kKinds)) {
    make = kind->second;
    bits = take_number(rest);
  }
  if (bits && take_prefix(rest, "x")) lanes = take_number(rest);
  if (!bits || !lanes || !rest.empty())
    throw TypeError("`" + std::string(text) + "` is not a data type", where);
  return make(*bits, *lanes, where);
}

std::string DataType::str() const {
  if (is_handle()) return "handle";
  std::string name = is_bool()    ? "bool"
                     : is_int()   ? "int" + std::to_string(bits)
                     : is_uint()  ? "uint" + std::to_string(bits)
                     : is_float() ? "float" + std::to_string(bits)
                                  : "bfloat" + std::to_string(bits);
  return lanes == 1 ? name : name + "x" + std::to_string(lanes);
}

std::int64_t integer_min(DataType type) {
  internal_check(type.is_integral(), "integer_min of a type that is no integer");
  if (type.is_uint()) return 0;
  return type.bits == 64 ? std::numeric_limits<std::int64_t>::min()
                         : -(std::int64_t{1} << (type.bits - 1));
}

std::optional<std::int64_t> integer_max(DataType type) {
  internal_check(type.is_integral(), "integer_max of a type that is no integer");
  if (type.bits == 64) {
    if (type.is_uint()) return std::nullopt;
    return std::numeric_limits<std::int64_t>::max();
  }
  return (std::int64_t{1} << (type.is_uint() ? type.bits : type.bits - 1)) - 1;
}

bool fits(std::int64_t value, DataType type) {
  auto max = integer_max(type);
  return value >= integer_min(type) && (!max || value <= *max);
}

std::int64_t wrap(std::int64_t value, DataType type) {
  internal_check(type.is_integral(), "wrap to a type that is no integer");
  const int unused = 64 - type.bits;
  const std::uint64_t raised = static_cast<std::uint64_t>(value) << unused;
  return type.is_int() ? static_cast<std::int64_t>(raised) >> unused
                       : static_cast<std::int64_t>(raised >> unused);
}

}  // namespace tenon
