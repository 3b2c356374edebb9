#include "te/intrinsics/tensorize.h"

#include <algorithm>

#include "te/intrinsics/check_intrin.h"
#include "te/intrinsics/intrin_call.h"
#include "te/intrinsics/reduction_progress.h"
#include "te/loops/compute_body.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

namespace {

// ---- guards -------------------------------------------------------------------------------------

/// Guards around an intrinsic: those that depend only on the loops around it, and those that do not
/// hold for all iterations of the replaced loops.
struct GuardParts {
  Shells outside, inside;
  /// The condition under which the inner guards hold for all iterations. Nullopt if there are no
  /// inner guards.
  std::optional<Expr> whole;
};

/// Returns the values that `e` takes in the replaced loops.
arith::Interval values_inside(const Expr& e, const FrozenStage& stage, std::size_t depth,
                              const LoopNest& nest, const Program& program) {
  arith::IntervalMap loops;
  for (std::size_t n = depth; n < stage.leaf_iter_vars.size(); ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    const Expr* value = nest.values.find(leaf);
    if (value && value->as<VarNode>())
      loops.set(Var::of(*value),
                Interval::from_range(program.lower(program.bounds[leaf], nest.vars)));
    for (const LoopHeader& shell : nest.levels[n])
      if (const LetShell* let = std::get_if<LetShell>(&shell))
        loops.set(let->var, values_of(let->value, loops, program.facts));
  }
  return values_of(e, loops, program.facts);
}

class GuardSplitter {
 public:
  GuardSplitter(const IntrinCall& call, const FrozenStage& stage, const LoopNest& nest,
                const Program& program)
      : call_(call), stage_(stage), nest_(nest), program_(program) {}

  GuardParts split(const Shells& guards) const {
    GuardParts parts;
    for (const LoopHeader& shell : guards) {
      const GuardShell* guard = std::get_if<GuardShell>(&shell);
      if (!guard || !uses_var(guard->condition, [&](const Expr& var) { return is_inside(var); })) {
        parts.outside.push_back(shell);
        continue;
      }
      const Expr holds = always_inside(guard->condition);
      parts.inside.push_back(shell);
      parts.whole = parts.whole ? *parts.whole && holds : holds;
    }
    return parts;
  }

 private:
  bool is_inside(const Expr& var) const {
    return std::any_of(nest_.levels.begin() + static_cast<std::ptrdiff_t>(call_.depth),
                       nest_.levels.end(),
                       [&](const Shells& level) { return defines(level, var); });
  }

  /// Returns the condition, in terms of the loops around, under which `condition` holds for all
  /// inner iterations.
  Expr always_inside(const Expr& condition) const {
    const Call* hinted = as_call(condition, Intrin::likely);
    const Expr bare = hinted ? hinted->args[0] : condition;
    const Binary* n = bare.as<Binary>();
    if (n && n->op == BinaryOp::And) return always_inside(n->a) && always_inside(n->b);
    if (n && n->a.dtype().is_integral()) {
      const arith::Interval a = values_inside(n->a, stage_, call_.depth, nest_, program_);
      const arith::Interval b = values_inside(n->b, stage_, call_.depth, nest_, program_);
      const bool is_below = n->op == BinaryOp::Lt || n->op == BinaryOp::Le;
      const bool is_above = n->op == BinaryOp::Gt || n->op == BinaryOp::Ge;
      const std::optional<Expr>& left = is_below ? a.max() : a.min();
      const std::optional<Expr>& right = is_below ? b.min() : b.max();
      if ((is_below || is_above) && left && right)
        return arith::simplify(make_binary(n->op, *left, *right), program_.facts);
    }
    call_.refuse("only iterations where " + print_expr(bare) +
                 " exist, and for which calls that holds throughout cannot be deduced");
  }

  const IntrinCall& call_;
  const FrozenStage& stage_;
  const LoopNest& nest_;
  const Program& program_;
};

// ---- statements ---------------------------------------------------------------------------------

class BodyMaker {
 public:
  BodyMaker(StageId id, const Program& program, const ComputeNest& nest, const IntrinCall& call)
      : stage_(program.graph.stage(id)),
        program_(program),
        nest_(nest),
        call_(call),
        main_(GuardSplitter(call, stage_, nest.main, program).split(nest.main_guards)) {
    if (nest.init) init_ = GuardSplitter(call, stage_, *nest.init, program).split(nest.init_guards);
  }

  IntrinsicBody make() const {
    IntrinsicBody body{call_.depth, make_nop(), std::nullopt};
    if (!call_.is_split_reduction) {
      body.main = main_part(whole_body(), [&] { return loops_of_all(); });
    } else if (call_.code.reset) {
      body.main = main_part(update(), [&] { return loops_of_update(); });
      body.init = init_part();
    } else {
      body.main = main_part(body_first(), [&] {
        return make_seq({first_loops_of_init(), loops_of_update()});
      });
      body.init = init_where_empty();
    }
    return body;
  }

 private:
  // ---- calls

  Stmt require(const std::optional<Stmt>& part, const std::string& name) const {
    if (part) return *part;
    call_.refuse(
        "it has no " + name +
        ", which it needs where loops of the reduction remain around it; declare it as {.body, "
        ".reset, .update}");
  }

  Stmt whole_body() const {
    if (call_.code.body) return on_views(*call_.code.body, IntrinPart::Body);
    if (!call_.code.reset || !call_.code.update)
      call_.refuse("it has no body, nor both of reset and update to take its place");
    return make_seq({on_views(*call_.code.reset, IntrinPart::Reset), update()});
  }

  Stmt update() const { return on_views(require(call_.code.update, "update"), IntrinPart::Update); }

  /// Without a reset, the first iteration of the reduction runs the body instead.
  Stmt body_first() const {
    const Stmt later = update();
    const Stmt first = on_views(require(call_.code.body, "reset, and no body"), IntrinPart::Body);
    const std::optional<Expr> is_later = is_later_iteration();
    return is_later ? make_stmt(If{likely(*is_later), later, first}) : first;
  }

  /// Returns an init for an empty reduction, which has no first iteration.
  std::optional<Stmt> init_where_empty() const {
    std::optional<Expr> is_empty;
    for (const IterVar& axis : stage_.op.reduce_axis()) {
      const Expr& extent = program_.bounds[axis].extent;
      if (arith::can_prove_at_least(extent, 1, program_.facts)) continue;
      const Expr none = make_binary(BinaryOp::Le, program_.lower(extent, nest_.init->vars),
                                    make_int(extent.dtype(), 0));
      is_empty = is_empty ? *is_empty || none : none;
    }
    if (!is_empty) return std::nullopt;
    if (!stage_.op.as<Compute>())
      call_.refuse(
          "its reduction may have no iterations, of which the first would compute the body; give the "
          "intrinsic a reset");
    return make_stmt(If{*is_empty, wrap(init_->outside, loops_of_init()), std::nullopt});
  }

  /// Returns the condition that the reduction has begun; nullopt if it has only one iteration.
  std::optional<Expr> is_later_iteration() const {
    std::optional<Expr> later;
    const ReductionProgress progress = reduction_progress(stage_, call_.depth);
    if (progress.out_of_order)
      call_.refuse("the first step of the reduction computes the body, but the loops of `" +
                   progress.out_of_order->name() +
                   "`, which is fused of data and reduction, come to later steps of some elements "
                   "before it; give the intrinsic a reset, or keep the order of these loops");
    for (const IterVar& axis : progress.axes) {
      const Range range = program_.lower(program_.bounds[axis], nest_.main.vars);
      if (is_one(range.extent)) continue;
      const Expr at =
          substitute_folding(program_.lower(axis.var(), nest_.main.vars),
                             first_of([&](std::size_t leaf) { return leaf >= call_.depth; }));
      const Expr is_later = make_binary(BinaryOp::Lt, range.min, at);
      later = later ? *later || is_later : is_later;
    }
    check_begins();
    return later;
  }

  /// Returns the values of variables in the first iteration of the selected loops.
  template <class F>
  VarMap first_of(const F& is_of_them) const {
    VarMap first;
    for (std::size_t n = 0; n < stage_.leaf_iter_vars.size(); ++n) {
      const IterVar& leaf = stage_.leaf_iter_vars[n];
      if (is_of_them(n))
        set(first, leaf.var(), program_.lower(program_.bounds[leaf].min, nest_.main.vars));
      for (const LoopHeader& shell : nest_.main.levels[n]) {
        const LetShell* let = std::get_if<LetShell>(&shell);
        if (!let) continue;
        const Expr value = substitute_folding(let->value, first);
        if (!value.same_as(let->value)) set(first, let->var, value);
      }
    }
    return first;
  }

  /// Checks that no guard excludes the first iteration.
  void check_begins() const {
    const VarMap first = first_of(
        [&](std::size_t leaf) { return stage_.leaf_iter_vars[leaf].kind() == IterKind::Reduce; });
    const auto is_reduced = [&](const Expr& var) { return first.contains(&var.node()); };
    for (const LoopHeader& shell : main_.outside) {
      const GuardShell* guard = std::get_if<GuardShell>(&shell);
      if (!guard || !uses_var(guard->condition, is_reduced)) continue;
      const Expr at_first =
          arith::simplify(substitute_folding(guard->condition, first), program_.facts);
      const Call* hinted = as_call(at_first, Intrin::likely);
      if (!is_true(hinted ? hinted->args[0] : at_first))
        call_.refuse(
            "the first iteration of the reduction computes the body, but runs only where " +
            print_expr(guard->condition) + "; give the intrinsic a reset");
    }
  }

  Stmt on_views(const Stmt& code, IntrinPart part) const {
    return viewing(call_.inputs, viewing(call_.outputs, called(code, part, nest_.main), nest_.main),
                   nest_.main);
  }

  Stmt called(const Stmt& code, IntrinPart part, const LoopNest& nest) const {
    // Copied because one intrinsic may be used by several stages.
    const Stmt call = fresh_copy(program_.lower(substitute(code, call_.values), nest.vars));
    if (!program_.check_intrinsics) return call;
    const CheckedCall checked{
        call_.intrin, part,
        call_.inputs, call_.outputs,
        call_.values, "intrinsic `" + call_.intrin.name + "` of " + describe(stage_)};
    auto lowered = [&](const Expr& e) { return program_.lower(e, nest.vars); };
    return with_check(checked, call, lowered, program_);
  }

  Stmt viewing(const std::vector<IntrinView>& views, Stmt body, const LoopNest& nest) const {
    for (std::size_t n = views.size(); n-- > 0;) {
      std::vector<Range> region;
      for (const Range& range : views[n].region) region.push_back(program_.lower(range, nest.vars));
      body = make_stmt(BufferView{views[n].buffer, program_.buffers.buffer_of(views[n].tensor),
                                  std::move(region), body});
    }
    return body;
  }

  // ---- the whole, and what is left

  Stmt main_part(const Stmt& call, const std::function<Stmt()>& loops) const {
    if (main_.whole && is_false(*main_.whole))
      call_.refuse(
          "it would be called nowhere: the loops that it replaces always run over the end of an axis");
    const Stmt all = main_.whole ? make_stmt(If{likely(*main_.whole), call, loops()}) : call;
    return wrap(main_.outside, with_pragmas(all));
  }

  Stmt init_part() const {
    const Stmt call = called(*call_.code.reset, IntrinPart::Reset, *nest_.init);
    const Stmt reset =
        viewing(inputs_of_reset(), viewing(call_.outputs, call, *nest_.init), *nest_.init);
    if (!init_->whole) return wrap(init_->outside, reset);
    return wrap(init_->outside, make_stmt(If{likely(*init_->whole), reset, loops_of_init()}));
  }

  /// Returns the inputs that a reset reads. It precedes the reduction, where the parts of tensors
  /// that are processed step by step do not exist.
  std::vector<IntrinView> inputs_of_reset() const {
    std::vector<IntrinView> read;
    for (std::size_t n = 0; n < call_.inputs.size(); ++n) {
      const IntrinView& view = call_.inputs[n];
      if (!uses(*call_.code.reset, view.buffer) && !(program_.check_intrinsics && starts_from(n)))
        continue;
      for (std::size_t l = nest_.common; l < call_.depth; ++l) {
        const IterVar& leaf = stage_.leaf_iter_vars[l];
        const bool has_loop = !nest_.init->values.at(leaf).same_as(leaf.var());
        if (has_loop) continue;
        for (const Range& range : view.region)
          if (uses_var(range.min, leaf.var()) || uses_var(range.extent, leaf.var()))
            call_.refuse("its reset reads `" + view.buffer->name +
                         "`, but each iteration of axis `" + leaf.name() +
                         "` of the reduction takes another part of `" + view.tensor.name() +
                         "`; leave the reset out, so that the body starts");
      }
      read.push_back(view);
    }
    return read;
  }

  /// Whether the declared reduction starts from values of the input.
  bool starts_from(std::size_t input) const {
    bool found = false;
    for (const Expr& start : call_.intrin.op.as<Compute>()->reduction()->init)
      walk(start, [&](const ProducerLoad& read) {
        found = found || Tensor::of(read).same_as(call_.intrin.inputs[input]);
      });
    return found;
  }

  /// Whether the code accesses the buffer or passes its properties to a call.
  static bool uses(const Stmt& code, const tir::Buffer& buffer) {
    bool found = false;
    walk(code, [&](const Load& load) { found = found || load.buffer.same_as(buffer); });
    return found || uses_var(code, [&](const Expr& var) {
             return var.same_as(buffer->data) || var.same_as(buffer->elem_offset) ||
                    std::any_of(buffer->strides.begin(), buffer->strides.end(),
                                [&](const Expr& stride) { return var.same_as(stride); });
           });
  }

  /// Keeps the import_c and import_llvm pragmas of the replaced loops, because the intrinsic calls
  /// what they import.
  Stmt with_pragmas(Stmt body) const {
    for (std::size_t n = nest_.main.levels.size(); n-- > call_.depth;) {
      Shells pragmas;
      for (const LoopHeader& shell : nest_.main.levels[n])
        if (const AttrShell* attr = std::get_if<AttrShell>(&shell);
            attr && attr->kind == AttrKind::Pragma)
          pragmas.push_back(shell);
      body = wrap(pragmas, std::move(body));
    }
    return body;
  }

  static Shells without_pragmas(const Shells& level) {
    Shells shells = level;
    std::erase_if(shells, [](const LoopHeader& shell) {
      const AttrShell* attr = std::get_if<AttrShell>(&shell);
      return attr && attr->kind == AttrKind::Pragma;
    });
    return shells;
  }

  static Stmt in_levels(const LoopNest& nest, std::size_t begin, std::size_t end, Stmt body) {
    for (std::size_t n = end; n-- > begin;)
      body = wrap(without_pragmas(nest.levels[n]), std::move(body));
    return body;
  }

  std::size_t num_levels() const { return nest_.main.levels.size(); }

  Stmt loops_of_all() const {
    if (!nest_.init) {
      const Stmt stores = wrap(main_.inside, make_stores(stage_, program_, nest_.main));
      return in_levels(nest_.main, call_.depth, num_levels(), stores);
    }
    const ReductionBody reduction = make_reduction(stage_, program_, nest_);
    const Stmt init =
        in_levels(*nest_.init, nest_.common, num_levels(), wrap(nest_.init_guards, reduction.init));
    const Stmt update =
        in_levels(nest_.main, nest_.common, num_levels(), wrap(main_.inside, reduction.update));
    return in_levels(nest_.main, call_.depth, nest_.common, make_seq({init, update}));
  }

  Stmt loops_of_update() const {
    const Stmt update = make_reduction(stage_, program_, nest_).update;
    return in_levels(nest_.main, call_.depth, num_levels(), wrap(main_.inside, update));
  }

  Stmt loops_of_init() const {
    const Stmt init = make_reduction(stage_, program_, nest_).init;
    return in_levels(*nest_.init, call_.depth, num_levels(), wrap(init_->inside, init));
  }

  /// Returns the init in the loops of the update, where the reduction begins.
  Stmt first_loops_of_init() const {
    const auto first_own = nest_.init->levels.begin() + static_cast<std::ptrdiff_t>(nest_.common);
    const auto first_inside = nest_.init->levels.begin() + static_cast<std::ptrdiff_t>(call_.depth);
    VarMap around;
    for (const IterVar& axis : stage_.all_iter_vars) {
      const Expr* value = nest_.init->values.find(axis);
      const auto defines_it = [&](const Shells& level) { return defines(level, *value); };
      if (value && std::any_of(first_own, first_inside, defines_it))
        set(around, Var::of(*value), nest_.main.values.at(axis));
    }
    const Stmt init = substitute(wrap(init_->outside, loops_of_init()), around);
    const std::optional<Expr> is_later = is_later_iteration();
    return is_later ? make_stmt(If{!*is_later, init, std::nullopt}) : init;
  }

  const FrozenStage& stage_;
  const Program& program_;
  const ComputeNest& nest_;
  const IntrinCall& call_;
  const GuardParts main_;
  std::optional<GuardParts> init_;
};

}  // namespace

bool calls_intrinsic(const FrozenStage& stage) {
  return stage.op.as<TensorCompute>() != nullptr ||
         (stage.op.as<Compute>() && tensorized_leaf(stage));
}

IntrinsicBody make_intrinsic_body(StageId id, const Program& program, const ComputeNest& nest) {
  const FrozenStage& stage = program.graph.stage(id);
  if (stage.op.as<TensorCompute>())
    return BodyMaker(id, program, nest, call_of(id, program)).make();
  const std::size_t leaf = *tensorized_leaf(stage);
  return BodyMaker(id, program, nest, match_tensorized(id, leaf, program, nest)).make();
}

}  // namespace tenon::te
