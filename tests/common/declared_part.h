// The declaration of an intrinsic that computes a box of an operation's iterations: what random
// schedules tensorize with.
//
//   C[i, j] = A[i, j + 1] + A[i, j]   with 2 x 4 iterations of i and j
//   -> c[x, y] = a[x, y] + b[x, y], of 2 x 4 elements each
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/operation.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"

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

}  // namespace tenon::testing
