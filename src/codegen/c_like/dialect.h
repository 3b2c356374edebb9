// What differs between the languages that are written like C, as a record of facts. What does not
// differ (statements, operators, the order of evaluation) is in the emitter.
#pragma once

#include <string>
#include <string_view>

#include "tenon/support/data_type.h"

namespace tenon::codegen {

struct Dialect {
  std::string_view name;
  /// Stands before helper functions.
  std::string_view of_helpers;
  /// Says of a pointer that nothing else points there.
  std::string_view restrict_word;
  /// The names of int8 to int64 and uint8 to uint64.
  std::string_view integers[2][4];
  /// Functions of mathematics have an `f` at the end of their names where they take float32;
  /// otherwise one name is for all types.
  bool names_math_by_type;
};

inline constexpr Dialect kPlainC = {
    .name = "c",
    .of_helpers = "static inline",
    .restrict_word = "restrict",
    .integers = {{"int8_t", "int16_t", "int32_t", "int64_t"},
                 {"uint8_t", "uint16_t", "uint32_t", "uint64_t"}},
    .names_math_by_type = true,
};

/// What a value of one lane is while it is computed with: bool as bool, float16 and bfloat16 as
/// float32, which holds all of theirs.
std::string value_type(const Dialect& dialect, DataType t);
/// What it is in memory: a bool is a byte, 16 bits of a float are their bits.
std::string memory_type(const Dialect& dialect, DataType t);

}  // namespace tenon::codegen
