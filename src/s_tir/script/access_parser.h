// Parser for expressions of scripts that access buffers, for regions of buffers, and for
// annotations.
#pragma once

#include <set>

#include "tenon/tir/block.h"
#include "tenon/tir/expr_parser.h"

namespace tenon::s_tir::script {

using tir::at_token, tir::described, tir::syntax_error, tir::Token, tir::Value;

class AccessParser : public tir::ExprParser {
 public:
  explicit AccessParser(std::string_view text) : ExprParser(tir::Dialect::Script, text) {}
  /// Parses an expression that may use the variables.
  AccessParser(std::string_view text, const std::vector<tir::Var>& vars) : AccessParser(text) {
    for (const tir::Var& var : vars) scopes_.define(var.name(), var);
  }

 protected:
  tir::Expr reference(const Token& name) override;
  /// Parses the indices after a buffer's name: `[i, j]`, `[()]`. A slice becomes a vector of
  /// elements.
  std::vector<tir::Expr> indices(const tir::Buffer& buffer);
  /// Parses a region: `A[vi, 0 : 16]`. A plain index has extent 1.
  tir::BufferRegion region();
  tir::Annotation annotation();
  /// Parses annotations: `{"key": value, ...}`.
  tir::Annotations annotations();
  tir::Buffer buffer(const Token& name) const;
  /// Allows accesses of the buffer that have one index per physical dimension.
  void allow_physical_indices(const tir::Buffer& buffer) { physical_.insert(buffer.get()); }
  /// Parses a scalar integer expression in an index type. `what` describes it in messages.
  tir::Expr index(const char* what) { return as_index(ExprParser::index(what)); }

 private:
  /// Parses the indices in brackets. Calls `use(lo, hi, step)` for each of them: the element `lo`
  /// or, if `hi` is set, the range from `lo` to `hi`. `hi` and `step` are optional expressions.
  template <class F>
  void slices(F use);

  std::set<const tir::BufferNode*> physical_;
};

}  // namespace tenon::s_tir::script
