#include "codegen/c_like/dialect.h"

#include <bit>

#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

std::string_view integer_type(const Dialect& dialect, DataType t) {
  if (t.bits < 8 || t.bits > 64 || !std::has_single_bit(t.bits))
    throw LowerError("C has no integers of type " + t.element().str());
  return dialect.integers[t.is_uint()][std::countr_zero(t.bits) - 3];
}

}  // namespace

std::string value_type(const Dialect& dialect, DataType t) {
  if (t.is_bool()) return "bool";
  if (t.is_handle()) return "void*";
  if (t.is_floating()) return t.bits == 64 ? "double" : "float";
  return std::string(integer_type(dialect, t));
}

std::string memory_type(const Dialect& dialect, DataType t) {
  if (t.is_bool()) return std::string(dialect.integers[1][0]);
  if (t.is_floating() && t.bits == 16) return std::string(dialect.integers[1][1]);
  return value_type(dialect, t);
}

}  // namespace tenon::codegen
