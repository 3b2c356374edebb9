// Expressions, regions and annotations of scripts as text.
#pragma once

#include "s_tir/script/script_names.h"
#include "tenon/s_tir/script.h"

namespace tenon::s_tir::script {

class ExprText {
 public:
  ExprText(Names& names, ScriptStyle style) : names_(names), style_(style) {}

  std::string operator()(const tir::Expr& e);
  /// An operand of an operator that binds as tightly as `limit` is put in parentheses, where it
  /// binds less tightly.
  std::string list(const std::vector<tir::Expr>& items, const char* separator = ", ");
  /// An access: `A[i, j]`, `A[i:i + 4]` for a vector.
  std::string access(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices);
  /// `A[vi, 0 : 16]`
  std::string region(const tir::BufferRegion& r);
  /// `[1, "two"]`
  std::string annotation(const tir::Annotation& a);
  /// `{"key":1}`
  std::string annotations(const tir::Annotations& notes);
  /// `[128, 128], dtype="float32", scope="local"`: a buffer's shape and what is not as usual.
  /// `defines_data`: its data pointer is called `<name>.data`, and its offset, if that is a
  /// variable, `<name>.elem_offset`.
  std::string buffer_details(const tir::Buffer& buffer);
  std::string name(const tir::Buffer& buffer);
  std::string name(const tir::Var& var);
  /// A constant of a type that is no int32: `T.float32(0.5)`.
  static std::string floating(double value, DataType type, ScriptStyle style);

 private:
  std::string operand(const tir::Expr& e, int limit);
  std::string binary(const tir::Binary& n);
  std::string call(const tir::Call& n, DataType type);
  std::string index(const tir::Expr& e);

  Names& names_;
  ScriptStyle style_;
};

}  // namespace tenon::s_tir::script
