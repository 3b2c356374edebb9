// Text of expressions, regions and annotations of scripts.
#pragma once

#include "s_tir/script/script_names.h"
#include "tenon/s_tir/script.h"

namespace tenon::s_tir::script {

class ExprText {
 public:
  ExprText(Names& names, ScriptStyle style) : names_(names), style_(style) {}

  std::string operator()(const tir::Expr& e);
  /// Prints the items with the separator between them.
  std::string list(const std::vector<tir::Expr>& items, const char* separator = ", ");
  /// Prints an access: `A[i, j]`, `A[i:i + 4]` for a vector.
  std::string access(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices);
  /// Prints `A[vi, 0 : 16]`.
  std::string region(const tir::BufferRegion& r);
  /// Prints `[1, "two"]`.
  std::string annotation(const tir::Annotation& a);
  /// Prints `{"key":1}`.
  std::string annotations(const tir::Annotations& notes);
  /// Prints `[128, 128], dtype="float32", scope="local"`: a buffer's shape and non-default
  /// properties. Defines the names `<name>.data` for its data pointer and `<name>.elem_offset` for
  /// a variable offset, if these have no names yet.
  std::string buffer_details(const tir::Buffer& buffer);
  std::string name(const tir::Buffer& buffer);
  std::string name(const tir::Var& var);
  /// Prints a constant of a type other than int32: `T.float32(0.5)`.
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
