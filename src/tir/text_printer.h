// The printer of print.h. Reading order: expressions and common parts (print.cpp), statements,
// blocks and functions (print_stmt.cpp).
#pragma once

#include <unordered_map>

#include "tenon/tir/block.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::tir {

/// Unique names of variables and buffers, shared by the functions of a module.
class NameTable {
 public:
  std::string unique(const std::string& hint) {
    auto [entry, is_new] = last_number_.try_emplace(hint, 0);
    if (is_new) return hint;
    std::string name;
    do name = hint + "_" + std::to_string(++last_number_[hint]);
    while (last_number_.contains(name));
    last_number_.emplace(name, 0);
    return name;
  }

 private:
  std::unordered_map<std::string, int> last_number_;
};

class TextPrinter {
 public:
  enum class Annotate : bool { No, Yes };
  TextPrinter(NameTable& names, Annotate annotate, std::size_t longest = std::string::npos)
      : names_(names), annotate_(annotate == Annotate::Yes), longest_(longest) {}

  std::string text;

  /// The position of a statement in the text.
  struct Mark {
    Stmt stmt;
    std::size_t begin, end;
  };

  void function(const PrimFunc& func);
  /// Prints the body and returns the positions of all statements except sequences, in order of
  /// their beginnings. A buffer has the name of its memory.
  std::vector<Mark> marked_body(const PrimFunc& func);
  void expr(const Expr& e);
  void stmt(const Stmt& s);
  void range(const Range& r) { expr(r.min), text += ":", expr(end_of(r)); }

  void iter_var(const IterVar& axis);

 private:
  NameTable& names_;
  bool annotate_;
  std::size_t longest_;
  bool is_cut_ = false;
  /// The recorded positions; null unless they are requested.
  std::vector<Mark>* marks_ = nullptr;
  int indent_ = 0;
  std::unordered_map<const void*, std::string> named_;
  std::vector<const CommReducerNode*> reducers_;

  void cut() {
    if (!std::exchange(is_cut_, true)) text += "...";
  }

  void newline() { text += "\n" + std::string(static_cast<std::size_t>(indent_), ' '); }

  /// Prints " {", the body indented by two columns, and "}".
  void block(const Stmt& body);

  /// Prints the body after an attribute or allocation: a sequence becomes a block; anything else
  /// follows a semicolon.
  void body_after_header(const Stmt& body);

  template <class List, class F>
  void separated(const List& items, const char* separator, F f) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) text += separator;
      first = false;
      f(item);
    }
  }

  void list(const std::vector<Expr>& items) {
    text += "[", separated(items, ", ", [&](const Expr& e) { expr(e); }), text += "]";
  }
  void ranges(const std::vector<Range>& items) {
    text += "[", separated(items, ", ", [&](const Range& r) { range(r); }), text += "]";
  }

  static Expr end_of(const Range& r) {
    return fold(BinaryOp::Add, r.min, cast(r.min.dtype(), r.extent));
  }

  void part(const Expr& e) { expr(e); }
  void part(const std::string& s) { text += s; }
  template <class... Part>
  void call_form(const char* name, const Part&... parts) {
    text += std::string(name) + "(";
    bool first = true;
    ((text += first ? "" : ", ", first = false, part(parts)), ...);
    text += ")";
  }

  void stmt_text(const Stmt& s);
  void binary(const Binary& n);
  void infix(const Binary& n, const char* sign) {
    text += "(", expr(n.a), text += sign, expr(n.b), text += ")";
  }

  void call(const Call& n, DataType type);
  void var(const Expr& e, const VarNode& n);
  static std::string type_text(const Expr& e, const VarNode& n);
  const std::string& name_buffer(const Buffer& b);
  void buffer(const Buffer& b);
  void buffer_details(const Buffer& b);
  void attributes(const PrimFunc::Attrs& attrs);
  void buffer_maps(const PrimFunc& func);
  void loop(const For& n);

  // ---- blocks ----

  void annotation(const Annotation& value);
  void annotations(const Annotations& notes);
  void regions(const char* head, const std::vector<BufferRegion>& list);

  /// Prints block(["S" [0:16], "R" [0:8]], "C") as [vi, vk] { bind(vi, i) ... }
  void block_realize(const BlockRealize& n);
  void allocate(const Allocate& n);
  void realize(const Realize& n);
  void view(const BufferView& n);
  void attr(const Attr& n);
  void reducer(const CommReducer& r);
};

}  // namespace tenon::tir
