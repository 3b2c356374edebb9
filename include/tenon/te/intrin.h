// Tensor intrinsics: a hardware operation, described by the computation that it performs and the
// code that invokes it.
//
//   te::TensorIntrin gemv = te::decl_tensor_intrin(c.op(),
//       [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
//         return {.body = call(outs[0].access_ptr("w"), ins[0].access_ptr("r"))};
//       },
//       {.binds = {{a, Ab}, {c, Cb}}});
//   s[C].tensorize(yi, gemv);
//
// The tensorized loop and the loops inside it must compute what the intrinsic declares: the same
// expression on the same number of elements. Dimensions of extent 1 may be missing on either side,
// commutative operands may be swapped, reduction axes are matched by use (in order, unless the
// reducer is commutative), and several inputs may be the same tensor. Lowering reports the first
// difference. A tail that is smaller than the intrinsic keeps its loops.
// LowerOptions::check_intrinsics tests whether the code computes what is declared.
//
// A buffer describes the memory that the code accepts. Without an offset, the operand must start at
// the beginning of its tensor; without strides, it must be compact. Stride variables are bound to
// the tensor's strides.
#pragma once

#include <functional>

#include "tenon/te/operation.h"
#include "tenon/tir/buffer.h"

namespace tenon::te {

/// The code of an intrinsic. `body` computes the complete result. If a reduction is split around
/// the intrinsic, `reset` initializes the output and `update` accumulates into it. `body` alone
/// suffices if no reduction is split.
struct TensorIntrinBody {
  std::optional<Stmt> body = std::nullopt;
  std::optional<Stmt> reset = std::nullopt;
  std::optional<Stmt> update = std::nullopt;
};

struct TensorIntrinNode;
struct TensorIntrinCall;

/// Arguments of an intrinsic call other than regions.
struct TensorIntrinCallOptions {
  std::vector<IterVar> reduce_axis = {};
  std::vector<Expr> scalars = {};
};

class TensorIntrin {
 public:
  explicit TensorIntrin(Shared<const TensorIntrinNode> node) : node_(std::move(node)) {}
  // A move copies, so that a moved-from handle is not empty.
  TensorIntrin(const TensorIntrin&) = default;
  TensorIntrin& operator=(const TensorIntrin&) = default;
  /// Returns the node (operation_kind.h).
  const TensorIntrinNode& node() const { return *node_; }
  std::shared_ptr<const TensorIntrinNode> shared() const;
  const std::string& name() const;
  /// Whether both handles refer to the same intrinsic.
  bool same_as(const TensorIntrin& other) const { return node_ == other.node_; }

  /// Applies the intrinsic to regions of tensors. The result is the body of a tensor_compute.
  TensorIntrinCall operator()(std::vector<TensorRegion> inputs,
                              TensorIntrinCallOptions options = {},
                              SourceLocation where = SourceLocation::current()) const;

 private:
  Shared<const TensorIntrinNode> node_;
};

/// An intrinsic applied to regions, for tensor_compute.
struct TensorIntrinCall {
  TensorIntrin intrin;
  std::vector<TensorRegion> inputs;
  TensorIntrinCallOptions options;
};

/// Options of an intrinsic declaration.
struct TensorIntrinOptions {
  /// Buffers of inputs and outputs. A tensor that is not listed gets a new compact buffer.
  std::vector<std::pair<Tensor, tir::Buffer>> binds = {};
  Name name = "tensor_intrin";
  std::vector<Var> scalar_params = {};
  /// Offset factor of the new buffers; see tir::BufferOptions.
  int default_offset_factor = 1;
};

/// Makes the code, given the buffers of the operands.
using TensorIntrinFunction = std::function<TensorIntrinBody(std::span<const tir::Buffer> inputs,
                                                            std::span<const tir::Buffer> outputs)>;

/// Declares an intrinsic. TypeError if the operation is not a compute on placeholders, if a buffer
/// does not match its tensor, or if the code is empty or accesses other buffers.
TensorIntrin decl_tensor_intrin(const Operation& op, const TensorIntrinFunction& body,
                                TensorIntrinOptions options = {},
                                SourceLocation where = SourceLocation::current());

/// Makes an operation that applies an intrinsic at every point of the named axes, on the regions
/// that `body` returns.
///
///   te::tensor_compute({m, 16}, {"i"},
///                      [&](Var i) { return vadd({A.region({i, Range(0, 16)})}); }, "C")
Tensor tensor_compute(std::vector<Expr> shape, AxisNames axes, IndexFunction<TensorIntrinCall> body,
                      Name name = "tensor_compute", Name tag = "",
                      SourceLocation where = SourceLocation::current());
std::vector<Tensor> tensor_compute_multi(std::vector<Expr> shape, AxisNames axes,
                                         IndexFunction<TensorIntrinCall> body,
                                         Name name = "tensor_compute", Name tag = "",
                                         SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
