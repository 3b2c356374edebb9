// The printer of TVM text.
#pragma once

#include "tenon/tir/expr_printer.h"
#include "tenon/tir/listing.h"
#include "tenon/tir/print.h"

namespace tenon::tir {

class TextPrinter : public ExprPrinter {
 public:
  explicit TextPrinter(bool is_annotated) : ExprPrinter(Dialect::Tvm) {
    this->is_annotated = is_annotated;
  }

  /// Prints a function. Its names differ from the names in the functions before it.
  void function(const PrimFunc& func);
  /// Prints the body and returns the lines of all statements except sequences, in textual order. A
  /// buffer has the name of its memory.
  std::vector<ListedStmt> listed_body(const PrimFunc& func);
  void stmt(const Stmt& s);

 private:
  /// Receives the lines of statements; null if they are not recorded.
  std::vector<ListedStmt>* listed_ = nullptr;
  /// The index of the listed statement that is being printed; -1 outside all statements.
  int current_ = -1;
  /// The line that ends `text`, and the length of the text when it was counted.
  int line_ = 1;
  std::size_t counted_ = 0;
  std::vector<const CommReducerNode*> reducers_;

  int line_number();
  void stmt_text(const Stmt& s);
  /// Prints " {", the body indented by two columns, and "}".
  void block(const Stmt& body);
  /// Prints the body after the header of an attribute or allocation. A sequence is printed as a
  /// block; any other statement follows a semicolon.
  void body_after_header(const Stmt& body);
  void range(const Range& r) { put(r.min, ":", end_of(r)); }
  void ranges(const Buffer& buffer, const std::vector<Range>& items, const char* separator = "") {
    put(buffer, separator, "["), separated(items, [&](const Range& r) { range(r); }), put("]");
  }
  static Expr end_of(const Range& r) {
    return fold(BinaryOp::Add, r.min, cast(r.min.dtype(), r.extent));
  }

  void attributes(const PrimFunc::Attrs& attrs);
  void buffer_maps(const PrimFunc& func);
  void loop(const For& n);
  void regions(const char* head, const std::vector<BufferRegion>& list);
  /// Prints block(["S" [0:16], "R" [0:8]], "C") as [vi, vk] { bind(vi, i) ... }
  void block_realize(const BlockRealize& n);
  void attr(const Attr& n);
  void iter_var(const IterVar& axis);
  void reducer(const CommReducer& r);
};

}  // namespace tenon::tir
