// The kinds of operations and the nodes behind the handles. Needed only to inspect programs;
// operation.h suffices to write them.
//
//   if (const Compute* c = op.as<Compute>()) ...             // one kind
//   match(op.kind(), [](const Placeholder&) {...}, ...);      // all kinds
#pragma once

#include "tenon/support/match.h"
#include "tenon/te/intrin.h"
#include "tenon/tir/stmt.h"

namespace tenon::te {

// ---- the kinds ----------------------------------------------------------------------------------

/// An input.
struct Placeholder {
  std::vector<Expr> shape;
  DataType dtype;
  bool is_constant = false;
};

/// An expression per element. Either no body is a Reduce, or body[i] is component i of one common
/// reduction.
struct Compute {
  std::vector<IterVar> axis;
  std::vector<IterVar> reduce_axis;
  std::vector<Expr> body;

  /// Returns the reduction that all bodies share; null if the compute is not a reduction.
  const tir::ReduceNode* reduction() const;
};

/// A recurrence over time. Output k at time t (its first dimension) is init[k] for t < init's
/// length, then update[k], which reads state[k] at earlier times. An output is the whole history,
/// with the shape of state[k].
struct Scan {
  /// The time axis, of kind Ordered, over [init length, update length).
  IterVar scan_axis;
  std::vector<Tensor> init, update, state, inputs;
  /// The axes of the dimensions after time: first those of state[0], then those of state[1], ...
  /// Their kind is Opaque.
  std::vector<IterVar> spatial_axis;
};

/// Hand-written statements that access whole buffers.
struct Extern {
  std::vector<Tensor> inputs;
  std::vector<tir::Buffer> input_buffers, output_buffers;
  Stmt body;
};

/// A tensor intrinsic applied to regions at every point of the first `schedulable_ndim` axes. The
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

/// The node that an Operation refers to.
struct OperationNode {
  OperationNode() = default;
  OperationNode(const OperationNode&) = delete;
  OperationNode& operator=(const OperationNode&) = delete;
  /// Releases the producers that only this operation keeps alive, iteratively, so that chains of
  /// any length can be destroyed.
  ~OperationNode();

  std::string name;
  std::string tag;
  std::map<std::string, std::string> attrs;
  OperationKind kind;
  SourceLocation where = {};
  // Derived from `kind` by make_operation.
  std::vector<IterVar> axis, reduce_axis, root_iter_vars;
  std::vector<Tensor> inputs;
  std::vector<std::vector<Expr>> shapes;
  std::vector<DataType> dtypes;
};

/// The node that a Tensor refers to.
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

/// The node that a TensorIntrin refers to.
struct TensorIntrinNode {
  std::string name;
  /// The computation of the intrinsic, on its own placeholders.
  Operation op;
  /// The inputs of `op`, and the buffers: first one per input, then one per output.
  std::vector<Tensor> inputs;
  std::vector<tir::Buffer> buffers;
  std::vector<Var> scalar_params;
  TensorIntrinBody body;
  SourceLocation where;
};

/// Makes an operation and its derived members. Precondition: the caller has checked the kind.
Operation make_operation(std::string name, std::string tag, OperationKind kind,
                         SourceLocation where, std::map<std::string, std::string> attrs = {});

}  // namespace tenon::te
