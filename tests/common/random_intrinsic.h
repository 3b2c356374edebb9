// The declaration of an intrinsic that computes a box of an operation's iterations: what random
// schedules tensorize with.
//
//   C[i, j] = A[i, j + 1] + A[i, j]   with 2 x 4 iterations of i and j
//   -> c[x, y] = a[x, y] + b[x, y], of 2 x 4 elements each
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/operation.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"
#include "tests/common/loop_intrinsics.h"

namespace tenon::testing {

/// Returns true with probability 1/n, for the argument n.
using OneIn = std::function<bool(int)>;

namespace detail {

/// Each read is an input of its own. Operands and reduction axes change places by chance,
/// dimensions of one element are left out.
class PartDeclarer {
 public:
  PartDeclarer(const te::Operation& op, std::vector<int> extents, OneIn one_in)
      : op_(op), extents_(std::move(extents)), one_in_(std::move(one_in)) {}

  std::optional<std::vector<te::Tensor>> run() {
    if (!op_.as<te::Compute>()) return std::nullopt;
    const std::size_t rank = op_.axis().size();
    std::vector<tir::Expr> shape;
    for (std::size_t d = 0; d < rank; ++d) {
      is_kept_.push_back(extents_[d] > 1 || (d + 1 == rank && shape.empty()) || one_in_(2));
      if (is_kept_.back()) shape.emplace_back(extents_[d]);
    }
    const auto outputs = te::compute_multi(
        shape,
        [&](std::span<const tir::Var> vars) {
          const std::vector<tir::Expr> all = bodies(vars);
          return is_possible_ ? all : std::vector<tir::Expr>{0};
        },
        "part");
    if (!is_possible_) return std::nullopt;
    return outputs;
  }

 private:
  std::vector<tir::Expr> bodies(std::span<const tir::Var> vars) {
    std::size_t used = 0;
    for (std::size_t d = 0; d < op_.axis().size(); ++d)
      place(op_.axis()[d], extents_[d], is_kept_[d] ? tir::Expr(vars[used++]) : tir::Expr(0));
    const tir::ReduceNode* reduction = op_.as<te::Compute>()->reduction();
    if (!reduction) return mapped(op_.body());
    std::vector<te::IterVar> axes;
    for (std::size_t n = 0; n < op_.reduce_axis().size(); ++n) {
      const te::IterVar& axis = op_.reduce_axis()[n];
      const int extent = extents_[op_.axis().size() + n];
      const te::IterVar own = te::reduce_axis({0, extent}, axis.name());
      place(axis, extent, own.var());
      axes.insert(one_in_(2) ? axes.begin() : axes.end(), own);
    }
    tir::ReduceNode node = *reduction;
    node.source = mapped(reduction->source);
    node.init = mapped(reduction->init);
    node.condition = mapped({reduction->condition})[0];
    node.axis = axes;
    const auto shared = std::make_shared<const tir::ReduceNode>(std::move(node));
    std::vector<tir::Expr> result;
    for (std::size_t k = 0; k < op_.body().size(); ++k)
      result.push_back(tir::make_reduce(shared, static_cast<int>(k)));
    return result;
  }

  /// The axis runs from anywhere.
  void place(const te::IterVar& axis, int extent, const tir::Expr& inside) {
    const tir::Var begin("begin", axis.var().dtype());
    begins_.push_back(begin);
    tir::set(at_begin_, axis.var(), begin);
    tir::set(inside_, axis.var(), begin + tir::cast(begin.dtype(), inside));
    if (inside.as<tir::VarNode>()) {
      const tir::Var var = tir::Var::of(inside);
      facts_.bind(var, tir::Range(0, extent));
      values_.set(var, arith::Interval::of(0, extent - 1));
    }
  }

  bool depends_on_place(const tir::Expr& e) const {
    return tir::uses_var(e, [&](const tir::Expr& var) {
      return at_begin_.contains(&var.node()) ||
             std::any_of(begins_.begin(), begins_.end(),
                         [&](const tir::Var& b) { return b.same_as(var); });
    });
  }

  std::vector<tir::Expr> mapped(const std::vector<tir::Expr>& list) {
    std::vector<tir::Expr> result;
    for (const tir::Expr& e : list) {
      // So that no input is declared that is read nowhere.
      result.push_back(arith::simplify(map(e), facts_));
      is_possible_ = is_possible_ && !depends_on_place(result.back());
    }
    return result;
  }

  tir::Expr map(const tir::Expr& e) {
    if (const auto* load = e.as<tir::ProducerLoad>()) return read(*load);
    const tir::Expr inside =
        tir::map_children(e, [&](const tir::Expr& child) { return map(child); });
    const auto* n = inside.as<tir::Binary>();
    const bool may_swap = n && (n->op == tir::BinaryOp::Add || n->op == tir::BinaryOp::Mul ||
                                n->op == tir::BinaryOp::Max || n->op == tir::BinaryOp::Min);
    return may_swap && one_in_(3) ? tir::make_binary(n->op, n->b, n->a) : inside;
  }

  tir::Expr read(const tir::ProducerLoad& load) {
    std::vector<tir::Expr> shape, indices;
    for (const tir::Expr& index : load.indices) {
      const tir::Expr begin = tir::substitute_folding(index, at_begin_);
      const tir::Expr inside =
          arith::simplify(tir::substitute_folding(index, inside_) - begin, facts_);
      const arith::Interval values = arith::values_of(inside, values_, facts_);
      const auto least =
          values.min() ? tir::constant_int(arith::simplify(*values.min())) : std::nullopt;
      const auto most =
          values.max() ? tir::constant_int(arith::simplify(*values.max())) : std::nullopt;
      bool reads = false;
      tir::walk(index, [&](const tir::ProducerLoad&) { reads = true; });
      if (!least || !most || reads || depends_on_place(inside)) {
        is_possible_ = false;
        return tir::make_const(load.producer->dtype(), 0);
      }
      if (*least == *most && one_in_(2)) continue;
      shape.emplace_back(*most - *least + 1);
      indices.push_back(tir::cast(Int(32), inside) - *least);
    }
    const te::Tensor input =
        te::placeholder(shape, "in" + std::to_string(num_inputs_++), load.producer->dtype());
    return tir::make_producer_load(input.producer(), std::move(indices));
  }

  te::Operation op_;
  std::vector<int> extents_;
  OneIn one_in_;
  std::vector<char> is_kept_;
  std::vector<tir::Var> begins_;
  tir::VarMap at_begin_, inside_;
  arith::Facts facts_;
  arith::IntervalMap values_;
  int num_inputs_ = 0;
  bool is_possible_ = true;
};

}  // namespace detail

/// All outputs; nullopt where what is computed depends on where the box lies, and not just on what
/// is read there. `extents` are those of the operation's data axes and reduction axes.
inline std::optional<std::vector<te::Tensor>> declared_part(const te::Operation& op,
                                                            std::vector<int> extents,
                                                            OneIn one_in) {
  return detail::PartDeclarer(op, std::move(extents), std::move(one_in)).run();
}

// A random choice of random schedules: an intrinsic for a few iterations of a stage.

/// A number in [lo, hi].
using Between = std::function<int(int lo, int hi)>;

namespace detail {

/// The leaf whose iterations are neighbours along the axis, if there is one.
template <class Stage>
std::optional<te::IterVar> innermost_part(const Stage& stage, te::IterVar axis) {
  for (const te::Relation& relation : stage.data().relations) {
    const te::Split* split = std::get_if<te::Split>(&relation);
    if (split && split->parent.same_as(axis)) axis = split->inner;
  }
  for (const te::IterVar& leaf : stage.leaf_iter_vars())
    if (leaf.same_as(axis)) return axis;
  return std::nullopt;
}

/// The maximum number of iterations of a loop over the operation's `axis` that is cut from `loop`,
/// at most 5; 1 if the extent of `loop` is unknown.
inline int most_iterations(const tir::Expr& axis, const tir::Expr& loop) {
  const auto length = tir::constant_int(loop), whole = tir::constant_int(axis);
  return length ? static_cast<int>(
                      std::clamp<std::int64_t>(std::min(*length, whole.value_or(5)), 1, 5))
                : 1;
}

template <class Stage>
void move_inside(const Stage& stage, const std::vector<te::IterVar>& inside) {
  std::vector<te::IterVar> order = stage.leaf_iter_vars();
  std::erase_if(order, [&](const te::IterVar& leaf) {
    return std::any_of(inside.begin(), inside.end(),
                       [&](const te::IterVar& i) { return i.same_as(leaf); });
  });
  order.insert(order.end(), inside.begin(), inside.end());
  stage.reorder(order);
}

}  // namespace detail

/// Cuts a few iterations off the inner end of some axes of the operation, moves them inside of all
/// others, and has an intrinsic compute them. Says what was done; "" where nothing could be.
/// `frozen` is the stage's schedule; a stage is anything with te::Stage's methods.
template <class Stage>
std::string tensorize_by_chance(
    const te::StageGraph& frozen, const Stage& stage, const Between& between,
    LoopIntrinsicOptions::Strides strides = LoopIntrinsicOptions::Strides::Any) {
  const std::optional<te::StageId> id = frozen.find(stage.op());
  if (!id) return "";
  const te::Bounds bounds = te::infer_bound(frozen);
  std::vector<int> extents;
  std::vector<te::IterVar> inside;
  std::string text;
  for (const te::IterVar& root : stage.op().root_iter_vars()) {
    const std::optional<te::IterVar> axis = detail::innermost_part(stage, root);
    const tir::Range* range = axis ? bounds.find(*axis) : nullptr;
    const int extent =
        range ? between(1, detail::most_iterations(root.dom()->extent, range->extent)) : 1;
    extents.push_back(extent);
    if (extent == 1) continue;
    inside.push_back(stage.split(*axis, extent).inner);
    text += (text.empty() ? "" : ", ") + axis->name() + ": " + std::to_string(extent);
  }
  if (inside.empty()) return "";
  for (std::size_t n = inside.size(); n > 1; --n)
    std::swap(inside[n - 1], inside[static_cast<std::size_t>(between(0, static_cast<int>(n) - 1))]);
  // The frozen stage has inlined operations substituted.
  const auto part =
      declared_part(frozen.stage(*id).op, extents, [&](int n) { return between(1, n) == 1; });
  if (!part) return "";
  LoopIntrinsicOptions options{.strides = strides};
  const int missing = between(0, 3);
  options.reset = missing != 0;
  options.body = missing != 1;
  detail::move_inside(stage, inside);
  stage.tensorize(inside[0], loop_intrinsic(part->front(), options));
  return "tensorize(" + text + (options.reset ? "" : ", no reset") + ")";
}

}  // namespace tenon::testing
