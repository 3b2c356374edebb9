#include "te/intrinsics/check_intrin.h"

#include <array>

#include "te/loops/compute_body.h"
#include "tenon/support/element_differs.h"

namespace tenon::te {

using namespace tir;

namespace {

/// The relative tolerance for sums in another order, which is also the absolute one near 0.
double tolerance_of(DataType type) {
  if (type.bits >= 64) return 1e-9;
  return type.bits >= 32 ? 1e-3 : 5e-2;
}

Expr is_same(const Expr& actual, const Expr& expected) {
  if (!actual.dtype().is_floating()) return actual == expected;
  const Expr x = cast(Float(64), actual), y = cast(Float(64), expected);
  const Expr tolerance = make_float(Float(64), tolerance_of(actual.dtype()));
  const Expr is_near = abs(x - y) <= tolerance + tolerance * abs(y);
  // Equal infinities are not near each other, and a NaN may stand for a NaN.
  return is_near || x == y || (x != x && y != y);
}

/// Loops over axes with fresh variables.
struct Loops {
  Loops(const std::vector<IterVar>& axes, const std::function<Expr(const Expr&)>& lowered) {
    for (const IterVar& axis : axes) {
      const Var var = axis.var().fresh();
      shells.push_back(
          LoopShell{var, lowered(axis.dom()->min), lowered(axis.dom()->extent), ForKind::Serial});
      indices.push_back(var);
      set(vars, axis.var(), var);
    }
  }
  Shells shells;
  std::vector<Expr> indices;
  VarMap vars;
};

class Check {
 public:
  Check(const IntrinCall& call, IntrinPart part, const std::string& what,
        const std::function<Expr(const Expr&)>& lowered, const Program& program)
      : call_(call),
        part_(part),
        what_(what),
        op_(*call.intrin.op.as<Compute>()),
        lowered_([&](const Expr& e) { return lowered(substitute(e, call.values)); }),
        program_(program) {
    for (int k = 0; k < call.intrin.op.num_outputs(); ++k) {
      const Tensor output = call.intrin.op.output(k);
      std::vector<Expr> shape;
      for (const Expr& extent : output.shape()) shape.push_back(lowered_(extent));
      expected_.push_back(
          decl_buffer(std::move(shape), output.dtype(), {.name = output.name() + ".expected"}));
    }
  }

  Stmt around(const Stmt& code) const {
    std::vector<Stmt> all;
    if (op_.reduction()) all.push_back(start_values());
    if (part_ != IntrinPart::Reset) all.push_back(computation());
    all.push_back(code);
    for (std::size_t k = 0; k < expected_.size(); ++k) all.push_back(comparison(k));
    Stmt result = make_seq(std::move(all));
    for (const Buffer& buffer : expected_) {
      std::vector<Range> box;
      for (const Expr& extent : buffer->shape)
        box.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
      result = make_stmt(Realize{buffer, std::move(box), make_true(), result});
    }
    return result;
  }

 private:
  /// The element of the tensor that the intrinsic writes.
  Expr actual(std::size_t k, const Loops& loops) const {
    return make_load(program_.buffers.buffer_of(call_.outputs[k].tensor), place(k, loops));
  }
  std::vector<Expr> place(std::size_t k, const Loops& loops) const {
    std::vector<Expr> indices;
    for (const Expr& index : call_.outputs[k].index_of_tensor(loops.indices))
      indices.push_back(lowered_(index));
    return indices;
  }

  /// Stores what the reduction starts from: for an update, the old values.
  Stmt start_values() const {
    const ReduceNode& reduction = *op_.reduction();
    const std::vector<Expr>& starts =
        reduction.init.empty() ? reduction.combiner->identity : reduction.init;
    const Loops loops(op_.axis, lowered_);
    std::vector<Stmt> stores;
    for (std::size_t k = 0; k < expected_.size(); ++k)
      stores.push_back(make_store(
          expected_[k],
          part_ == IntrinPart::Update ? actual(k, loops) : on_views(starts[k], loops.vars),
          loops.indices));
    return wrap(loops.shells, make_seq(std::move(stores)));
  }

  Stmt computation() const {
    Loops loops(op_.axis, lowered_);
    const ReduceNode* reduction = op_.reduction();
    const Loops inner(op_.reduce_axis, lowered_);
    for (std::size_t n = 0; n < op_.reduce_axis.size(); ++n)
      set(loops.vars, op_.reduce_axis[n].var(), inner.indices[n]);
    std::vector<Expr> old, values;
    for (std::size_t k = 0; k < expected_.size(); ++k) {
      old.push_back(make_load(expected_[k], loops.indices));
      values.push_back(on_views(reduction ? reduction->source[k] : op_.body[k], loops.vars));
    }
    if (reduction) values = combine(*reduction->combiner, old, values);
    Stmt stores = store_together(expected_, std::move(values), loops.indices);
    const Expr condition = reduction ? on_views(reduction->condition, loops.vars) : make_true();
    if (!is_true(condition)) stores = make_stmt(If{condition, stores, std::nullopt});
    return wrap(loops.shells, wrap(inner.shells, stores));
  }

  /// Reports each element of an output, lane by lane, that is not the expected one.
  Stmt comparison(std::size_t k) const {
    const Loops loops(op_.axis, lowered_);
    const Expr is = actual(k, loops), should_be = make_load(expected_[k], loops.indices);
    const DataType type = is.dtype(), wide = type.is_floating() ? Float(64) : Int(64);
    constexpr std::array<const char*, 3> kNames{"body", "reset", "update"};
    std::vector<Stmt> lanes;
    for (int l = 0; l < type.lanes; ++l) {
      const auto lane = [&](const Expr& e) {
        return type.is_scalar() ? e : make_shuffle({e}, {l});
      };
      const std::string what = what_ + " (" + kNames[static_cast<std::size_t>(part_)] + ")" +
                               (type.is_scalar() ? "" : ", lane " + std::to_string(l));
      std::vector<Expr> arguments{make_string(std::string(kElementDiffers)), make_string(what),
                                  cast(wide, lane(is)), cast(wide, lane(should_be))};
      for (const Expr& index : place(k, loops)) arguments.push_back(index);
      const Stmt report =
          make_evaluate(make_call(Int(32), Intrin::tvm_call_packed, std::move(arguments)));
      lanes.push_back(make_stmt(If{!is_same(lane(is), lane(should_be)), report, std::nullopt}));
    }
    return wrap(loops.shells, make_seq(std::move(lanes)));
  }

  /// The intrinsic's expression with reads of the views.
  Expr on_views(const Expr& e, const VarMap& vars) const {
    const Expr loads = rewrite(
        substitute(e, vars), [&](const ProducerLoad& load, const Expr&) -> std::optional<Expr> {
          const IntrinView& view = call_.inputs[index_of_input(load, call_.intrin.inputs)];
          return make_load(view.buffer, view.index(load.indices));
        });
    return lowered_(loads);
  }

  const IntrinCall& call_;
  const IntrinPart part_;
  const std::string& what_;
  const Compute& op_;
  /// Replaces the intrinsic's variables and lowers.
  const std::function<Expr(const Expr&)> lowered_;
  const Program& program_;
  std::vector<Buffer> expected_;
};

}  // namespace

Stmt with_check(const IntrinCall& call, IntrinPart part, const std::string& what, const Stmt& code,
                const std::function<Expr(const Expr&)>& lowered, const Program& program) {
  return Check(call, part, what, lowered, program).around(code);
}

}  // namespace tenon::te
