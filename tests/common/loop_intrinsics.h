// Tensor intrinsics whose code is loops that compute what they declare, so that every way to run a
// program can run them.
//
//   te::Tensor c = te::compute({4, 8}, {"i", "j"}, [&](Var i, Var j) { return te::sum(a(i, k) * b(k, j),
//   {k}); }); s[C].tensorize(ii, loop_intrinsic(c));
#pragma once

#include "tenon/te/intrin.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

struct LoopIntrinsicOptions {
  /// The pieces of code that it has.
  bool body = true, reset = true, update = true;
  /// Compact buffers; rows that may lie apart; any strides at all; those of compact memory, which
  /// other memory is refused for.
  enum class Strides : std::uint8_t { None, OfRows, Any, Declared };
  Strides strides = Strides::OfRows;
  int offset_factor = 1;
  std::string name = "loops";
  /// The scope that a tensor is to be kept in; "" for any.
  std::function<std::string(const te::Tensor&)> scope_of = [](const te::Tensor&) { return ""; };
};

namespace detail {

using tir::Expr, tir::Stmt, tir::Var;

/// Code of an operation on the buffers of its tensors.
class LoopCode {
 public:
  LoopCode(const te::Operation& op, std::span<const tir::Buffer> ins,
           std::span<const tir::Buffer> outs)
      : op_(op), ins_(ins.begin(), ins.end()), outs_(outs.begin(), outs.end()) {}

  Stmt body() const { return in_loops(op_.axis(), stores(op_.body())); }
  Stmt reset() const {
    const tir::ReduceNode& reduction = *op_.as<te::Compute>()->reduction();
    return in_loops(op_.axis(),
                    stores(reduction.init.empty() ? reduction.combiner->identity : reduction.init));
  }
  Stmt update() const {
    const tir::ReduceNode& reduction = *op_.as<te::Compute>()->reduction();
    tir::VarMap operands;
    for (std::size_t k = 0; k < outs_.size(); ++k) {
      tir::set(operands, reduction.combiner->lhs[k], outs_[k](indices()));
      tir::set(operands, reduction.combiner->rhs[k], reduction.source[k]);
    }
    std::vector<Expr> values;
    for (const Expr& result : reduction.combiner->result)
      values.push_back(tir::substitute(result, operands));
    Stmt code = stores(values);
    if (!tir::is_true(reduction.condition))
      code = tir::make_stmt(tir::If{reduction.condition, code, std::nullopt});
    return in_loops(op_.axis(), in_loops(op_.reduce_axis(), on_buffers(code)));
  }

 private:
  std::vector<Expr> indices() const {
    std::vector<Expr> result;
    for (const te::IterVar& axis : op_.axis()) result.push_back(axis.var());
    return result;
  }
  /// All values are computed before one is stored.
  Stmt stores(const std::vector<Expr>& values) const {
    std::vector<Stmt> all;
    std::vector<Var> kept;
    for (std::size_t k = 0; k < outs_.size(); ++k) {
      kept.emplace_back("value", values[k].dtype());
      all.push_back(tir::make_store(outs_[k], kept.back(), indices()));
    }
    Stmt code = tir::make_seq(std::move(all));
    for (std::size_t k = kept.size(); k-- > 0;)
      code = tir::make_stmt(tir::Let{kept[k], values[k], code});
    return on_buffers(code);
  }
  Stmt on_buffers(const Stmt& code) const {
    return tir::rewrite(code,
                        [&](const tir::ProducerLoad& load, const Expr&) -> std::optional<Expr> {
                          for (std::size_t n = 0; n < ins_.size(); ++n)
                            if (op_.inputs()[n].same_as(te::Tensor::of(load)))
                              return tir::make_load(ins_[n], load.indices);
                          return std::nullopt;
                        });
  }
  static Stmt in_loops(const std::vector<te::IterVar>& axes, Stmt code) {
    for (std::size_t n = axes.size(); n-- > 0;)
      code = tir::make_stmt(tir::For{axes[n].var(), axes[n].dom()->min, axes[n].dom()->extent,
                                     tir::ForKind::Serial, code});
    return code;
  }

  te::Operation op_;
  std::vector<tir::Buffer> ins_, outs_;
};

inline tir::Buffer loop_buffer(const te::Tensor& tensor, const LoopIntrinsicOptions& options) {
  using Strides = LoopIntrinsicOptions::Strides;
  std::vector<Expr> strides;
  if (options.strides == Strides::Declared) strides = tir::compact_strides(tensor.shape());
  const bool are_free = options.strides == Strides::OfRows || options.strides == Strides::Any;
  for (int d = 0; are_free && d < tensor.ndim(); ++d) {
    const bool is_one = options.strides == Strides::OfRows && d + 1 == tensor.ndim();
    strides.push_back(is_one ? Expr(1) : Expr(te::var("stride")));
  }
  return tir::decl_buffer(tensor.shape(), tensor.dtype(),
                          {.name = tensor.name(),
                           .strides = std::move(strides),
                           .scope = options.scope_of(tensor),
                           .offset_factor = options.offset_factor});
}

}  // namespace detail

/// An intrinsic for a compute on placeholders; `output` is any of its outputs.
inline te::TensorIntrin loop_intrinsic(const te::Tensor& output,
                                       const LoopIntrinsicOptions& options = {}) {
  const te::Operation op = output.op();
  const bool reduces = !op.reduce_axis().empty();
  auto code = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    const detail::LoopCode loops(op, ins, outs);
    if (!reduces) return {.body = loops.body()};
    te::TensorIntrinBody all;
    if (options.body) all.body = tir::make_seq({loops.reset(), loops.update()});
    if (options.reset) all.reset = loops.reset();
    if (options.update) all.update = loops.update();
    return all;
  };
  te::TensorIntrinOptions declared{.name = options.name};
  std::vector<te::Tensor> tensors = op.inputs();
  for (int k = 0; k < op.num_outputs(); ++k) tensors.push_back(op.output(k));
  for (const te::Tensor& tensor : tensors)
    declared.binds.emplace_back(tensor, detail::loop_buffer(tensor, options));
  return te::decl_tensor_intrin(op, code, declared);
}

}  // namespace tenon::testing
