// Expressions of scripts, with accesses and regions of buffers and annotations.
#pragma once

#include <set>

#include "tenon/tir/block.h"
#include "tenon/tir/expr_parser.h"

namespace tenon::s_tir::script {

using tir::at_token, tir::described, tir::syntax_error, tir::Token, tir::Value;

class AccessParser : public tir::ExprParser {
 public:
  explicit AccessParser(std::string_view text) : ExprParser(tir::Dialect::Script, text) {}
  /// Parses an expression of the variables.
  AccessParser(std::string_view text, const std::vector<tir::Var>& vars) : AccessParser(text) {
    for (const tir::Var& var : vars) scopes_.define(var.name(), var);
  }

 protected:
  tir::Expr reference(const Token& name) override;
  /// Parses what follows a buffer's name: `[i, j]`, `[()]`. A slice is a vector of elements.
  std::vector<tir::Expr> indices(const tir::Buffer& buffer);
  /// Parses `A[vi, 0 : 16]`. A plain index has extent 1.
  tir::BufferRegion region();
  tir::Annotation annotation();
  /// Parses `{"key": value, ...}`.
  tir::Annotations annotations();
  tir::Buffer buffer(const Token& name) const;
  /// Allows accesses of the buffer with one index per physical dimension.
  void allow_physical_indices(const tir::Buffer& buffer) { physical_.insert(buffer.get()); }
  /// Parses a scalar integer; `what` names its use in messages.
  tir::Expr index(const char* what);
  /// Throws unless the expression is a scalar integer.
  static void require_index(const tir::Expr& e, const Token& at, const char* what);

 private:
  /// An index: an element, or the range from `lo` to `hi`.
  struct Slice {
    tir::Expr lo;
    std::optional<tir::Expr> hi, step;
  };
  /// Parses the indices in brackets.
  template <class F>
  void slices(F use);

  std::set<const tir::BufferNode*> physical_;
};

}  // namespace tenon::s_tir::script
