// What operations are made of: their kinds, and the nodes behind the handles. For who looks into
// programs; who writes them needs operation.h alone.
//
//   if (const Compute* c = op.as<Compute>()) ...             // one kind
//   match(op.kind(), [](const Placeholder&) {...}, ...);      // all kinds
#pragma once

#include "tenon/support/match.h"
#include "tenon/te/intrin.h"
#include "tenon/tir/stmt.h"

namespace tenon::te {

// ---- the kinds ----------------------------------------------------------------------------------

/// Data from outside.
struct Placeholder {
  std::vector<Expr> shape;
  DataType dtype;
};

/// Every element from an expression of its indices. Either no body is a Reduce, or all bodies are
/// components of one reduction, body[i] being component i.
struct Compute {
  std::vector<IterVar> axis;
  std::vector<IterVar> reduce_axis;
  std::vector<Expr> body;

  /// The reduction that all bodies share; null if this is none.
  const tir::ReduceNode* reduction() const;
};

/// Outputs k at time t (its first dimension): init[k] for t < init's length, then update[k], which
/// reads state[k] at earlier times. The outputs are the whole histories, shaped like state[k].
struct Scan {
  /// Ordered; [init length, update length).
  IterVar scan_axis;
  std::vector<Tensor> init, update, state, inputs;
  /// Opaque; the dimensions after the first of state[0], state[1], ... one after another.
  std::vector<IterVar> spatial_axis;
};

/// Statements that a user wrote over whole buffers.
struct Extern {
  std::vector<Tensor> inputs;
  std::vector<tir::Buffer> input_buffers, output_buffers;
  Stmt body;
};

/// A tensor intrinsic applied to regions, for every point of the first `schedulable_ndim` axes; the
/// other axes are the dimensions of the intrinsic's output.
struct TensorCompute {
  std::vector<IterVar> axis;
  std::vector<IterVar> reduce_axis;
  int schedulable_ndim;
  std::shared_ptr<const TensorIntrinNode> intrin;
  std::vector<TensorRegion> inputs;
  std::vector<Expr> scalar_inputs;
};

template <Defined T>
const T* Operation::as() const {
  return std::get_if<T>(&kind());
}

// ---- nodes --------------------------------------------------------------------------------------

/// What an Operation refers to.
struct OperationNode {
  OperationNode() = default;
  OperationNode(const OperationNode&) = delete;
  OperationNode& operator=(const OperationNode&) = delete;
  /// Takes apart what only this operation keeps alive, however long the chain of producers, without
  /// recursion.
  ~OperationNode();

  std::string name;
  std::string tag;
  std::map<std::string, std::string> attrs;
  OperationKind kind;
  SourceLocation where = {};
  // Derived from kind, once.
  std::vector<IterVar> axis, reduce_axis, root_iter_vars;
  std::vector<Tensor> inputs;
  std::vector<std::vector<Expr>> shapes;
  std::vector<DataType> dtypes;
};

/// What a Tensor refers to.
struct TensorNode : tir::Producer {
  TensorNode(Operation op, int index) : op(std::move(op)), index(index) {}
  std::string name() const override;
  const std::vector<Expr>& shape() const override;
  DataType dtype() const override;
  const void* operation_identity() const override { return op.get(); }
  int value_index() const override { return index; }

  Operation op;
  int index;
};

/// What a TensorIntrin refers to.
struct TensorIntrinNode {
  std::string name;
  /// What the intrinsic computes, on placeholders of its own.
  Operation op;
  /// The operation's inputs, and one buffer for each, then for each output.
  std::vector<Tensor> inputs;
  std::vector<tir::Buffer> buffers;
  std::vector<Var> scalar_params;
  TensorIntrinBody body;
  SourceLocation where;
};

/// Fills the derived parts; the kind has been checked by its maker.
Operation make_operation(std::string name, std::string tag, OperationKind kind,
                         SourceLocation where, std::map<std::string, std::string> attrs = {});

}  // namespace tenon::te
