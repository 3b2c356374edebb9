// IRBuilder: loop code written by hand, for extern operations and tensor intrinsics.
//
//   IRBuilder ib;
//   auto b = ib.buffer_ptr(ins[0]), c = ib.buffer_ptr(outs[0]);
//   ib.for_range(0, n, "i", [&](Var i) { c[i] = b[i] + 1.0f; }, {.kind = ForKind::Parallel});
//   return ib.get();
#pragma once

#include <functional>

#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {

class IRBuilder;

/// An element of a buffer under construction: reads where an expression is wanted, stores on assignment.
class ElementRef {
 public:
  operator Expr() const;  // NOLINT(google-explicit-constructor)
  /// A literal takes the element's type; another type is a TypeError.
  const ElementRef& operator=(const Operand& value) const;
  const ElementRef& operator=(const ElementRef& value) const;

 private:
  friend class BufferRef;
  ElementRef(IRBuilder* builder, Buffer buffer, std::vector<Expr> indices)
      : builder_(builder), buffer_(std::move(buffer)), indices_(std::move(indices)) {}
  IRBuilder* builder_;
  Buffer buffer_;
  std::vector<Expr> indices_;
};

/// A buffer under construction. One index addresses the flat memory of a buffer of rank 1, or the
/// n-dimensional one through operator(); a list indexes every dimension.
class BufferRef {
 public:
  ElementRef operator[](const Operand& index) const;
  ElementRef operator[](std::initializer_list<Operand> indices) const;
  const Buffer& buffer() const { return buffer_; }

 private:
  friend class IRBuilder;
  BufferRef(IRBuilder* builder, Buffer buffer) : builder_(builder), buffer_(std::move(buffer)) {}
  IRBuilder* builder_;
  Buffer buffer_;
};

struct ForOptions {
  ForKind kind = ForKind::Serial;
  DataType dtype = Int(32);
};

/// TypeError: conditions that are no Bool, bounds and indices that are no integers, empty functions as
/// bodies.
class IRBuilder {
 public:
  void for_range(const Operand& begin, const Operand& end, std::string name,
                 const std::function<void(Var)>& body, ForOptions options = {});
  void while_loop(const Operand& condition, const std::function<void()>& body);
  void if_scope(const Operand& condition, const std::function<void()>& body);
  /// Must follow an if_scope (LowerError).
  void else_scope(const std::function<void()>& body, SourceLocation where = SourceLocation::current());
  Var let(std::string name, const Operand& value);
  BufferRef allocate(DataType dtype, std::vector<Expr> shape, std::string name = "buf",
                     std::string scope = "global");
  BufferRef buffer_ptr(const Buffer& buffer);
  /// attr [axis] "thread_extent" = extent over what follows in this scope.
  void scope_attr(const IterVar& axis, AttrKind kind, const Operand& value);
  void scope_attr(std::string pragma_key, const Operand& value);
  void emit(const Stmt& stmt);
  void emit(const Expr& call);
  /// The statements so far; LowerError inside an open scope.
  Stmt get(SourceLocation where = SourceLocation::current());

 private:
  friend class ElementRef;
  /// A statement, or a wrapper of all that follows it in its scope.
  using Entry = std::variant<Stmt, std::function<Stmt(Stmt)>>;
  std::vector<std::vector<Entry>> scopes_ = std::vector<std::vector<Entry>>(1);
  Stmt pop_scope();
  Stmt in_new_scope(const std::function<void()>& body);
};

}  // namespace tenon::tir
