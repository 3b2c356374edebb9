#include "te/intrinsics/check_intrin.h"

#include "te/loops/compute_body.h"
#include "tenon/support/element_differs.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Relative tolerance for reordered sums; also the absolute tolerance near 0.
double tolerance_of(DataType type) {
  if (type.bits >= 64) return 1e-9;
  return type.bits >= 32 ? 1e-3 : 5e-2;
}

Expr is_same(const Expr& actual, const Expr& expected) {
  if (!actual.dtype().is_floating()) return actual == expected;
  const Expr x = cast(Float(64), actual), y = cast(Float(64), expected);
  const Expr tolerance = make_float(Float(64), tolerance_of(actual.dtype()));
  const Expr is_near = abs(x - y) <= tolerance + tolerance * abs(y);
  // Infinities are equal although not near. NaN only equals NaN.
  return is_near || x == y || (x != x && y != y);
}

std::string_view name_of(IntrinPart part) {
  switch (part) {
    case IntrinPart::Body:
      return "body";
    case IntrinPart::Reset:
      return "reset";
    case IntrinPart::Update:
      return "update";
  }
  internal_error("a part of an intrinsic that is none");
}

/// Loops over axes with new variables.
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
  Check(const CheckedCall& call, const std::function<Expr(const Expr&)>& lowered,
        const Program& program)
      : call_(call),
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
    if (call_.part == IntrinPart::Update) all.push_back(old_values());
    if (call_.part != IntrinPart::Update && op_.reduction()) all.push_back(start_values());
    if (call_.part != IntrinPart::Reset) all.push_back(computation());
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
  /// Returns the element of the tensor that the intrinsic writes there.
  Expr actual(std::size_t k, const Loops& loops) const {
    return make_load(program_.buffers.buffer_of(call_.outputs[k].tensor), place(k, loops));
  }
  std::vector<Expr> place(std::size_t k, const Loops& loops) const {
    std::vector<Expr> indices;
    for (const Expr& index : call_.outputs[k].index_of_tensor(loops.indices))
      indices.push_back(lowered_(index));
    return indices;
  }

  Stmt old_values() const {
    const Loops loops(op_.axis, lowered_);
    std::vector<Stmt> stores;
    for (std::size_t k = 0; k < expected_.size(); ++k)
      stores.push_back(make_store(expected_[k], actual(k, loops), loops.indices));
    return wrap(loops.shells, make_seq(std::move(stores)));
  }

  Stmt start_values() const {
    const ReduceNode& reduction = *op_.reduction();
    const Loops loops(op_.axis, lowered_);
    std::vector<Stmt> stores;
    for (std::size_t k = 0; k < expected_.size(); ++k) {
      const Expr& start =
          reduction.init.empty() ? reduction.combiner->identity[k] : reduction.init[k];
      stores.push_back(make_store(expected_[k], on_views(start, loops.vars), loops.indices));
    }
    return wrap(loops.shells, make_seq(std::move(stores)));
  }

  Stmt computation() const {
    Loops loops(op_.axis, lowered_);
    const ReduceNode* reduction = op_.reduction();
    if (!reduction) {
      std::vector<Expr> values;
      for (const Expr& body : op_.body) values.push_back(on_views(body, loops.vars));
      return wrap(loops.shells, store_together(expected_, std::move(values), loops.indices));
    }
    const Loops inner(op_.reduce_axis, lowered_);
    for (std::size_t n = 0; n < op_.reduce_axis.size(); ++n)
      set(loops.vars, op_.reduce_axis[n].var(), inner.indices[n]);
    std::vector<Expr> old, sources;
    for (std::size_t k = 0; k < expected_.size(); ++k) {
      old.push_back(make_load(expected_[k], loops.indices));
      sources.push_back(on_views(reduction->source[k], loops.vars));
    }
    Stmt update =
        store_together(expected_, combine(*reduction->combiner, old, sources), loops.indices);
    const Expr condition = on_views(reduction->condition, loops.vars);
    if (!is_true(condition)) update = make_stmt(If{condition, update, std::nullopt});
    return wrap(loops.shells, wrap(inner.shells, update));
  }

  Stmt comparison(std::size_t k) const {
    const Loops loops(op_.axis, lowered_);
    const Expr is = actual(k, loops), should_be = make_load(expected_[k], loops.indices);
    const std::string what = call_.what + " (" + std::string(name_of(call_.part)) + ")";
    if (is.dtype().is_scalar())
      return wrap(loops.shells, report_unless_same(k, loops, what, is, should_be));
    std::vector<Stmt> lanes;
    for (int l = 0; l < is.dtype().lanes; ++l)
      lanes.push_back(report_unless_same(k, loops, what + ", lane " + std::to_string(l),
                                         make_shuffle({is}, {l}), make_shuffle({should_be}, {l})));
    return wrap(loops.shells, make_seq(std::move(lanes)));
  }

  Stmt report_unless_same(std::size_t k, const Loops& loops, const std::string& what,
                          const Expr& is, const Expr& should_be) const {
    const DataType wide = is.dtype().is_floating() ? Float(64) : Int(64);
    std::vector<Expr> arguments{make_string(std::string(kElementDiffers)), make_string(what),
                                cast(wide, is), cast(wide, should_be)};
    for (const Expr& index : place(k, loops)) arguments.push_back(index);
    const Stmt report =
        make_evaluate(make_call(Int(32), Intrin::tvm_call_packed, std::move(arguments)));
    return make_stmt(If{!is_same(is, should_be), report, std::nullopt});
  }

  /// Returns the intrinsic's expression with its inputs read through the views.
  Expr on_views(const Expr& e, const VarMap& vars) const {
    const Expr loads = rewrite(
        substitute(e, vars), [&](const ProducerLoad& load, const Expr&) -> std::optional<Expr> {
          const Tensor tensor = Tensor::of(load);
          for (std::size_t n = 0; n < call_.inputs.size(); ++n)
            if (call_.intrin.inputs[n].same_as(tensor))
              return make_load(call_.inputs[n].buffer, call_.inputs[n].index(load.indices));
          internal_error("an intrinsic reads a tensor that is none of its inputs");
        });
    return lowered_(loads);
  }

  const CheckedCall& call_;
  const Compute& op_;
  /// Translates expressions of the intrinsic to the surrounding program.
  const std::function<Expr(const Expr&)> lowered_;
  const Program& program_;
  std::vector<Buffer> expected_;
};

}  // namespace

Stmt with_check(const CheckedCall& call, const Stmt& code,
                const std::function<Expr(const Expr&)>& lowered, const Program& program) {
  return Check(call, lowered, program).around(code);
}

}  // namespace tenon::te
