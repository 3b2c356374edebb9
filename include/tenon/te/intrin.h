// Tensor intrinsics: a hardware operation as the computation that it replaces and the code that
// calls it.
//
//   te::TensorIntrin gemv = te::decl_tensor_intrin(c.op(),
//       [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
//         return {.body = call(outs[0].access_ptr("w"), ins[0].access_ptr("r"))};
//       },
//       {.binds = {{a, Ab}, {c, Cb}}});
//   s[C].tensorize(yi, gemv);
//
// Where a stage is tensorized, the loop and all inside of it must compute what the intrinsic
// declares: the same expression on as many elements. Either side may have dimensions of one element
// to itself, operands may trade places, reduction axes go by their use, and one tensor may be
// several inputs. Lowering says what differs first. Where a split leaves less than the intrinsic
// takes, the loops of that part stay. Whether the code computes what is declared,
// LowerOptions::check_intrinsics finds out.
//
// A buffer says which memory the code can take: one without an offset begins where its tensor does,
// one without strides is compact; strides that are variables get their values from the tensor.
#pragma once

#include <functional>

#include "tenon/te/operation.h"
#include "tenon/tir/buffer.h"

namespace tenon::te {

/// `body` computes the whole; where a reduction is split around the intrinsic, `reset` starts the
/// output and `update` adds to it. A body alone serves where no reduction is split.
struct TensorIntrinBody {
  std::optional<Stmt> body = std::nullopt;
  std::optional<Stmt> reset = std::nullopt;
  std::optional<Stmt> update = std::nullopt;
};

struct TensorIntrinNode;
class TensorIntrinCall;

/// What a call of an intrinsic gives besides regions.
struct TensorIntrinCallOptions {
  std::vector<IterVar> reduce_axis = {};
  std::vector<Expr> scalars = {};
};

class TensorIntrin {
 public:
  explicit TensorIntrin(Shared<const TensorIntrinNode> node) : node_(std::move(node)) {}
  // Moving copies, so that a handle is never empty.
  TensorIntrin(const TensorIntrin&) = default;
  TensorIntrin& operator=(const TensorIntrin&) = default;
  /// operation_kind.h has what is in it.
  const TensorIntrinNode& node() const { return *node_; }
  std::shared_ptr<const TensorIntrinNode> shared() const;
  const std::string& name() const;
  /// Whether both are one intrinsic.
  bool same_as(const TensorIntrin& other) const { return node_ == other.node_; }

  /// The intrinsic on regions of tensors: the body of a tensor_compute.
  TensorIntrinCall operator()(std::vector<TensorRegion> inputs,
                              TensorIntrinCallOptions options = {},
                              SourceLocation where = SourceLocation::current()) const;

 private:
  Shared<const TensorIntrinNode> node_;
};

/// An intrinsic applied to regions, for tensor_compute.
class TensorIntrinCall {
 public:
  TensorIntrinCall(TensorIntrin intrin, std::vector<TensorRegion> inputs,
                   TensorIntrinCallOptions options);
  TensorIntrin intrin;
  std::vector<TensorRegion> inputs;
  TensorIntrinCallOptions options;
};

/// How operands of an intrinsic are seen.
struct TensorIntrinOptions {
  /// Buffers for inputs and outputs; one without gets a compact buffer of its own.
  std::vector<std::pair<Tensor, tir::Buffer>> binds = {};
  Name name = "tensor_intrin";
  std::vector<Var> scalar_params = {};
  /// Of the buffers made here: see tir::BufferOptions.
  int default_offset_factor = 1;
};

/// Makes the body, given buffers for the operands.
using TensorIntrinFunction = std::function<TensorIntrinBody(std::span<const tir::Buffer> inputs,
                                                            std::span<const tir::Buffer> outputs)>;

/// TypeError: an operation that is no compute on placeholders, buffers of another shape or type, no
/// code at all, code that accesses other buffers.
TensorIntrin decl_tensor_intrin(const Operation& op, const TensorIntrinFunction& body,
                                TensorIntrinOptions options = {},
                                SourceLocation where = SourceLocation::current());

/// An operation on regions: for every point of the named first axes, the intrinsic on the regions
/// that the body gives.
///   te::tensor_compute({m, 16}, {"i"}, [&](Var i) { return vadd({A.region({i, Range(0, 16)})}); },
///   "C")
Tensor tensor_compute(std::vector<Expr> shape, AxisNames axes, IndexFunction<TensorIntrinCall> body,
                      Name name = "tensor_compute", Name tag = "",
                      SourceLocation where = SourceLocation::current());
std::vector<Tensor> tensor_compute_multi(std::vector<Expr> shape, AxisNames axes,
                                         IndexFunction<TensorIntrinCall> body,
                                         Name name = "tensor_compute", Name tag = "",
                                         SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
