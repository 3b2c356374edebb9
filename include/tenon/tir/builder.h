// IRBuilder: loop code written by hand, for extern operations and tensor intrinsics.
//
//   IRBuilder ib;
//   auto b = ib.buffer_ptr(ins[0]), c = ib.buffer_ptr(outs[0]);
//   ib.for_range(0, n, "i", [&](Var i) { c[i] = b[i] + 1.0f; }, {.kind = ForKind::Parallel});
//   return ib.get();
//
// Whatever takes an expression refuses one that has been moved from, a reduction, and an element of
// a tensor (read its buffer), as a TypeError.
#pragma once

#include <functional>

#include "tenon/tir/ops.h"

namespace tenon::tir {

class IRBuilder;
struct IRBuilderState;

/// An element of a buffer under construction: reads where an expression is wanted, stores on
/// assignment.
class ElementRef {
 public:
  operator Expr() const;  // NOLINT(google-explicit-constructor)
  /// A literal takes the element's type; another type is a TypeError. LowerError where the buffer
  /// is none any more: outside of the scope in which it is allocated, after get(), and without the
  /// builder.
  const ElementRef& operator=(const Operand& value) const;
  const ElementRef& operator=(const ElementRef& value) const;

 private:
  friend class BufferRef;
  ElementRef(const class BufferRef& of, std::vector<Expr> indices, const SourceLocation& where);
  Shared<const class BufferRef> of_;
  std::vector<Expr> indices_;
  SourceLocation where_;
};

/// A buffer under construction. A list has an index for every dimension. One index by itself counts
/// elements in row-major order, however many dimensions there are. A constant lies within the shape
/// (BoundError).
class BufferRef {
 public:
  ElementRef operator[](const Operand& index) const;
  ElementRef operator[](std::initializer_list<Operand> indices) const;
  const Buffer& buffer() const { return buffer_; }

 private:
  friend class IRBuilder;
  friend class ElementRef;
  BufferRef(const Shared<IRBuilderState>& builder, Buffer buffer, std::vector<Expr> shape,
            std::optional<int> scope, const SourceLocation& where);
  std::weak_ptr<IRBuilderState> builder_;
  Buffer buffer_;
  /// What a list indexes. Of allocated memory, which is flat, the shape that was asked for.
  std::vector<Expr> shape_;
  /// The scope in which it is allocated; none for a buffer from outside.
  std::optional<int> scope_;
  SourceLocation where_;
};

/// How a loop runs, and the type of its variable.
struct ForOptions {
  ForKind kind = ForKind::Serial;
  /// Of the loop variable, int32 or int64; wider where the bounds are.
  DataType dtype = Int(32);
};

/// Copies of a builder build the same program. TypeError: conditions that are no Bool, bounds,
/// extents and indices that are no integers, empty functions as bodies.
class IRBuilder {
 public:
  IRBuilder();
  // Moving copies, so that a builder is never empty.
  IRBuilder(const IRBuilder&) = default;
  IRBuilder& operator=(const IRBuilder&) = default;

  /// [begin, end). TypeError: constant bounds of which the end comes first.
  void for_range(const Operand& begin, const Operand& end, Name name,
                 const std::function<void(Var)>& body, ForOptions options = {});
  void while_loop(const Operand& condition, const std::function<void()>& body);
  void if_scope(const Operand& condition, const std::function<void()>& body);
  /// Must follow an if_scope (LowerError).
  void else_scope(const std::function<void()>& body,
                  SourceLocation where = SourceLocation::current());
  Var let(Name name, const Operand& value);
  BufferRef allocate(DataType dtype, std::vector<Expr> shape, Name name = "buf",
                     Name scope = "global", SourceLocation where = SourceLocation::current());
  BufferRef buffer_ptr(const Buffer& buffer, SourceLocation where = SourceLocation::current());
  /// attr [axis] "thread_extent" = extent over what follows in this scope. TypeError: an axis that
  /// is no thread axis, an extent that is no positive integer, another kind than ThreadExtent and
  /// VirtualThread. A symbolic number of threads is taken to be 1 at least.
  void scope_attr(const IterVar& axis, AttrKind kind, const Operand& value);
  /// A pragma over what follows in this scope.
  void scope_attr(Name pragma_key, const Operand& value);
  /// The statements that the body emits, as one that is not emitted; `vars` are defined around
  /// them.
  Stmt nested(const std::function<void()>& body, const std::vector<Var>& vars = {});
  void emit(const Stmt& stmt);
  void emit(const Expr& call, SourceLocation where = SourceLocation::current());
  /// The statements so far, after which the builder is as new; LowerError inside an open scope.
  Stmt get(SourceLocation where = SourceLocation::current());

 private:
  Shared<IRBuilderState> state_;
};

}  // namespace tenon::tir
