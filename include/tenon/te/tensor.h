// Tensors: the results of operations, which expressions read.
//
//   te::Tensor A = te::placeholder({n, 16}, "A");
//   Expr e = A(i, 3) * 2.0f;   // reads one element; TypeError for a wrong number of indices
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <vector>

#include "tenon/tir/ops.h"

namespace tenon::te {

using tir::Expr;
using tir::IterKind;
using tir::IterVar;
using tir::Operand;
using tir::Range;
using tir::Var;

class Operation;
struct OperationNode;
struct TensorNode;

/// One dimension of a region: a range or a single index.
struct Slice {
  Slice(Range range) : range(std::move(range)) {}
  template <class T>
  requires std::constructible_from<Operand, const T&, SourceLocation> Slice(
      const T& index, SourceLocation where = SourceLocation::current())
      : range(Range::from_min_extent(Operand(index, where).alone(), 1)) {}
  Range range;
};

struct TensorRegion;

/// A handle of one output of an operation. Two handles are the same tensor if the operation and the
/// output index are the same.
class Tensor {
 public:
  explicit Tensor(Shared<const TensorNode> node) : node_(std::move(node)) {}
  // A move copies, so that a moved-from handle is not empty.
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  /// Returns the tensor that a load reads.
  static Tensor of(const tir::ProducerLoad& load);

  const std::vector<Expr>& shape() const;
  DataType dtype() const;
  /// Returns the operation's name, followed by `.v<index>` if it has several outputs.
  std::string name() const;
  Operation op() const;
  int value_index() const;
  int ndim() const { return static_cast<int>(shape().size()); }
  bool same_as(const Tensor& other) const;
  const TensorNode& node() const { return *node_; }
  /// Whether this handle is the only reference to the tensor.
  bool is_last() const { return node_.use_count() == 1; }
  tir::ProducerRef producer() const;

  // Reads one element. TypeError for a wrong number of indices and for an index that is not an
  // integer.
  Expr operator()(SourceLocation where = SourceLocation::current()) const;
  Expr operator()(const Operand& i) const;
  Expr operator()(const Operand& i, const Operand& j) const;
  Expr operator()(const Operand& i, const Operand& j, const Operand& k) const;
  Expr operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l) const;
  Expr operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                  const Operand& m) const;
  Expr operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                  const Operand& m, const Operand& n) const;
  Expr operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                  const Operand& m, const Operand& n, const Operand& o) const;
  Expr operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                  const Operand& m, const Operand& n, const Operand& o, const Operand& p) const;
  Expr operator()(const std::vector<Expr>& indices,
                  SourceLocation where = SourceLocation::current()) const;
  Expr operator()(std::span<const Expr> indices,
                  SourceLocation where = SourceLocation::current()) const;
  Expr operator()(std::span<const Var> indices,
                  SourceLocation where = SourceLocation::current()) const;

  /// Returns a rectangular region, one slice per dimension: A.region({i, Range(0, 16)}).
  TensorRegion region(std::vector<Slice> slices,
                      SourceLocation where = SourceLocation::current()) const;

 private:
  Expr read(std::initializer_list<const Operand*> indices, const SourceLocation& where) const;
  Shared<const TensorNode> node_;
};

/// A rectangular region of a tensor.
struct TensorRegion {
  Tensor tensor;
  std::vector<Range> ranges;
};

/// An argument that is one tensor or a list of tensors.
class TensorList {
 public:
  TensorList(const Tensor& tensor);
  TensorList(std::initializer_list<Tensor> tensors);
  TensorList(std::vector<Tensor> tensors);
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
};

/// Prints "Tensor(shape=[16, 16], op.name=B)".
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace tenon::te
