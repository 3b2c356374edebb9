// The printer of scripts: functions (print_script.cpp) and statements (print_statements.cpp).
#pragma once

#include "s_tir/script/expr_text.h"
#include "tenon/tir/function.h"

namespace tenon::s_tir::script {

class Printer {
 public:
  explicit Printer(ScriptStyle style) : style_(style), text_(names_, style) {}
  std::string out;
  void function(const tir::PrimFunc& func, const std::string& name, int indent);
  void stmt(const tir::Stmt& s);
  std::string expr(const tir::Expr& e) { return text_(e); }

 private:
  ScriptStyle style_;
  Names names_;
  ExprText text_;
  int indent_ = 0;
  /// Whether the statement is the last one of its suite.
  bool is_last_ = true;
  /// The ranges of the enclosing loops.
  std::unordered_map<const void*, tir::Range> loops_;
  bool is_modern() const { return style_ == ScriptStyle::Modern; }
  void line(const std::string& content);
  void comment(const char* content);
  void indented(const tir::Stmt& s);
  void nested(const std::string& head, const tir::Stmt& s) { line(head), indented(s); }

  // ---- functions ----
  std::string param(const tir::PrimFunc& func, const tir::Var& v);
  void attributes(const tir::PrimFunc::Attrs& attrs, const std::string& name);
  /// Prints the variables in shapes of parameters that are not parameters themselves.
  void sizes(const tir::PrimFunc& func);
  void buffer_param(const tir::BufferParam& b);
  void body(const tir::Stmt& s);

  // ---- loops ----
  void loop(const tir::For& n);
  std::string iterations(const tir::For& n);

  // ---- blocks ----
  void block(const tir::BlockRealize& n);
  std::string regions(const std::vector<tir::BufferRegion>& list);
  std::string matched(const tir::MatchBuffer& m);
  void allocations(const tir::Block& b);
  /// Whether the iterator is spatial or reduction and bound to a loop over exactly its domain.
  bool is_remap(const tir::IterVar& axis, const tir::Expr& value) const;
  void axes(const tir::BlockRealize& n);
  void axis(const tir::IterVar& axis, const std::string& value);

  // ---- other statements ----
  void let(const tir::Let& n);
  void evaluate(const tir::Expr& e);
  /// Prints an allocation under the name of the buffer that covers all of it.
  void allocate(const tir::Allocate& n);
  std::string subject(const tir::Attr& n);
};

}  // namespace tenon::s_tir::script
