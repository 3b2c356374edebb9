// IRBuilder builds loop programs by hand, for extern operations and tensor intrinsics.
//
//   IRBuilder ib;
//   auto b = ib.buffer_ptr(ins[0]), c = ib.buffer_ptr(outs[0]);
//   ib.for_range(0, n, "i", [&](Var i) { c[i] = b[i] + 1.0f; }, {.kind = ForKind::Parallel});
//   return ib.get();
//
// Every function that takes an expression throws TypeError for a moved-from handle, for a
// reduction, and for an element of a tensor (read the tensor's buffer instead).
#pragma once

#include <functional>

#include "tenon/tir/ops.h"

namespace tenon::tir {

class IRBuilder;
struct IRBuilderState;

/// An element of a buffer under construction. It converts to a load, and assignment to it emits a
/// store.
class ElementRef {
 public:
  operator Expr() const;  // NOLINT(google-explicit-constructor)
  /// Emits a store. A literal takes the element's type; a value of another type is a TypeError.
  /// LowerError if the buffer can no longer be used: outside the scope in which it was allocated,
  /// after get(), or after the builder is destroyed.
  const ElementRef& operator=(const Operand& value) const;
  const ElementRef& operator=(const ElementRef& value) const;

 private:
  friend class BufferRef;
  ElementRef(const class BufferRef& of, std::vector<Expr> indices, const SourceLocation& where);
  Shared<const class BufferRef> of_;
  std::vector<Expr> indices_;
  SourceLocation where_;
};

/// A buffer under construction. A list of indices has one index per dimension. A single index
/// counts elements in row-major order, for any rank. BoundError if a constant index is outside the
/// shape.
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
  /// The shape to which a list of indices refers. For allocated memory, this is the shape that was
  /// given to allocate(), because `buffer_` is flat.
  std::vector<Expr> shape_;
  /// The scope in which the buffer is allocated; nullopt for a buffer from outside the builder.
  std::optional<int> scope_;
  SourceLocation where_;
};

/// The kind of a loop and the type of its variable.
struct ForOptions {
  ForKind kind = ForKind::Serial;
  /// Type of the loop variable, int32 or int64. If the bounds have a wider type, the variable has
  /// it too.
  DataType dtype = Int(32);
};

/// Builds a statement. Copies of a builder share their state and build the same program. TypeError
/// if a condition is not a Bool, if a bound, extent or index is not an integer, or if a body is an
/// empty function.
class IRBuilder {
 public:
  IRBuilder();
  // A move copies, so that a moved-from builder is not empty.
  IRBuilder(const IRBuilder&) = default;
  IRBuilder& operator=(const IRBuilder&) = default;

  /// Emits a loop over [begin, end). TypeError for constant bounds with end < begin.
  void for_range(const Operand& begin, const Operand& end, Name name,
                 const std::function<void(Var)>& body, ForOptions options = {});
  void while_loop(const Operand& condition, const std::function<void()>& body);
  void if_scope(const Operand& condition, const std::function<void()>& body);
  /// Emits the else branch of the preceding statement, which must be an if_scope (LowerError).
  void else_scope(const std::function<void()>& body,
                  SourceLocation where = SourceLocation::current());

  // Overloads of the scopes above for callers without lambdas, such as other languages. Statements
  // that are emitted between open_* and close_scope() form the body. abandon_scope() drops the
  // scope and its statements.

  /// Opens a loop and returns its variable.
  Var open_for(const Operand& begin, const Operand& end, Name name, ForOptions options = {});
  void open_while(const Operand& condition);
  void open_if(const Operand& condition);
  void open_else(SourceLocation where = SourceLocation::current());
  /// Ends the innermost scope and emits its statement. LowerError outside of scopes.
  void close_scope(SourceLocation where = SourceLocation::current());
  void abandon_scope();

  Var let(Name name, const Operand& value);
  BufferRef allocate(DataType dtype, std::vector<Expr> shape, Name name = "buf",
                     Name scope = "global", SourceLocation where = SourceLocation::current());
  BufferRef buffer_ptr(const Buffer& buffer, SourceLocation where = SourceLocation::current());
  /// Binds a thread axis over the rest of this scope: attr [axis] "thread_extent" = extent. `kind`
  /// is ThreadExtent or VirtualThread. TypeError for another kind, for an axis that is not a thread
  /// axis, and for an extent that is not a positive integer. A symbolic extent is assumed to be at
  /// least 1.
  void scope_attr(const IterVar& axis, AttrKind kind, const Operand& value);
  /// Applies a pragma to the rest of this scope.
  void scope_attr(Name pragma_key, const Operand& value);
  /// Returns the statements that `body` emits, without adding them to this builder. `vars` are
  /// variables that the surrounding code defines and that `body` may use.
  Stmt nested(const std::function<void()>& body, const std::vector<Var>& vars = {});
  void emit(const Stmt& stmt);
  void emit(const Expr& call, SourceLocation where = SourceLocation::current());
  /// Returns the statements emitted so far and resets the builder. LowerError inside a scope that
  /// has not been closed.
  Stmt get(SourceLocation where = SourceLocation::current());

 private:
  Shared<IRBuilderState> state_;
};

}  // namespace tenon::tir
