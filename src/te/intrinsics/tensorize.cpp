#include "te/intrinsics/tensorize.h"

#include <algorithm>

#include "te/intrinsics/check_intrin.h"
#include "te/loops/compute_body.h"
#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Appends the leaves that an axis became, from the slowest to the fastest; false if relations
/// other than split, fuse and rebase made them.
bool append_leaves(const FrozenStage& stage, const IterVar& axis,
                   std::vector<std::ptrdiff_t>& leaves) {
  const auto leaf = std::ranges::find_if(stage.leaf_iter_vars,
                                         [&](const IterVar& other) { return other.same_as(axis); });
  if (leaf != stage.leaf_iter_vars.end()) {
    leaves.push_back(leaf - stage.leaf_iter_vars.begin());
    return true;
  }
  for (const Relation& relation : stage.relations) {
    if (const Split* split = std::get_if<Split>(&relation); split && split->parent.same_as(axis))
      return append_leaves(stage, split->outer, leaves) &&
             append_leaves(stage, split->inner, leaves);
    if (const Fuse* fuse = std::get_if<Fuse>(&relation);
        fuse && (fuse->outer.same_as(axis) || fuse->inner.same_as(axis)))
      return append_leaves(stage, fuse->fused, leaves);
    if (const Rebase* rebase = std::get_if<Rebase>(&relation);
        rebase && rebase->parent.same_as(axis))
      return append_leaves(stage, rebase->rebased, leaves);
  }
  return false;
}

/// Guards around an intrinsic: those that depend on the loops around it only, and those that may
/// not hold for all iterations of the loops that it replaces.
struct GuardParts {
  Shells outside, inside;
  /// Whether the guards inside hold for all iterations. Absent if there are no guards.
  std::optional<Expr> whole;
};

// ---- statements ---------------------------------------------------------------------------------

class BodyMaker {
 public:
  BodyMaker(StageId id, const Program& program, const ComputeNest& nest, const IntrinCall& call)
      : stage_(program.graph.stage(id)),
        program_(program),
        nest_(nest),
        call_(call),
        main_(split(nest.main_guards, nest.main)) {
    if (nest.init) init_ = split(nest.init_guards, *nest.init);
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
  // ---- guards

  GuardParts split(const Shells& guards, const LoopNest& nest) const {
    const auto is_inside = [&](const Expr& var) {
      return std::any_of(nest.levels.begin() + static_cast<std::ptrdiff_t>(call_.depth),
                         nest.levels.end(),
                         [&](const Shells& level) { return defines(level, var); });
    };
    GuardParts parts;
    for (const LoopHeader& shell : guards) {
      const GuardShell* guard = std::get_if<GuardShell>(&shell);
      if (!guard || !uses_var(guard->condition, is_inside)) {
        parts.outside.push_back(shell);
        continue;
      }
      const Expr holds = always_inside(guard->condition, nest);
      parts.inside.push_back(shell);
      parts.whole = parts.whole ? *parts.whole && holds : holds;
    }
    return parts;
  }

  /// Whether the condition holds for all iterations of the replaced loops, in terms of the loops
  /// around.
  Expr always_inside(const Expr& condition, const LoopNest& nest) const {
    const Call* hinted = as_call(condition, Intrin::likely);
    const Expr bare = hinted ? hinted->args[0] : condition;
    const Binary* n = bare.as<Binary>();
    if (n && n->op == BinaryOp::And) return always_inside(n->a, nest) && always_inside(n->b, nest);
    if (n && n->a.dtype().is_integral()) {
      const arith::IntervalMap loops = replaced_loops(nest);
      const Interval a = values_of(n->a, loops, program_.facts),
                     b = values_of(n->b, loops, program_.facts);
      const bool is_below = n->op == BinaryOp::Lt || n->op == BinaryOp::Le;
      const bool is_above = n->op == BinaryOp::Gt || n->op == BinaryOp::Ge;
      const std::optional<Expr>& left = is_below ? a.max() : a.min();
      const std::optional<Expr>& right = is_below ? b.min() : b.max();
      if ((is_below || is_above) && left && right)
        return arith::simplify(make_binary(n->op, *left, *right), program_.facts);
    }
    call_.refuse("only iterations where " + print_expr(bare) +
                 " exist, and the calls in which all iterations exist cannot be deduced");
  }

  /// The values that the variables of the replaced loops take.
  arith::IntervalMap replaced_loops(const LoopNest& nest) const {
    arith::IntervalMap loops;
    for (std::size_t n = call_.depth; n < stage_.leaf_iter_vars.size(); ++n) {
      const IterVar& leaf = stage_.leaf_iter_vars[n];
      const Expr* value = nest.values.find(leaf);
      if (value && value->as<VarNode>())
        loops.set(Var::of(*value),
                  Interval::from_range(program_.lower(program_.bounds[leaf], nest.vars)));
      for (const LoopHeader& shell : nest.levels[n])
        if (const LetShell* let = std::get_if<LetShell>(&shell))
          loops.set(let->var, values_of(let->value, loops, program_.facts));
    }
    return loops;
  }

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

  /// Without a reset, the first iteration of the reduction computes the body instead.
  Stmt body_first() const {
    const Stmt later = update();
    const Stmt first = on_views(require(call_.code.body, "reset, and no body"), IntrinPart::Body);
    const std::optional<Expr> is_later = is_later_iteration();
    return is_later ? make_stmt(If{likely(*is_later), later, first}) : first;
  }

  /// The init for reductions that have no iteration, so that no body starts them.
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
          "its reduction may have no iterations, and then no iteration would compute the body; "
          "give the "
          "intrinsic a reset");
    return make_stmt(If{*is_empty, wrap(init_->outside, loops_of_init()), std::nullopt});
  }

  /// Axes of which one is beyond its first value where the reduction has begun: the reduction's
  /// loops around the intrinsic or, if one of these is fused with data, the reduction's own axes.
  ///
  /// The body computes the first step, so the loops must come to that step before any other.
  ///   for k.outer for k.inner     k.outer = 0, k.inner = 0 comes first
  ///   f = fuse(k, i), split f by 2, for f.inner for f.outer
  ///                               element 1 is at f = 1, 14, 27, ...: f = 14, of which k is 1,
  ///                               comes before f = 1, of which k is 0
  std::vector<IterVar> progress_axes() const {
    constexpr unsigned kFromData = 1;
    AxisMarks marks;
    for (const IterVar& axis : stage_.op.axis()) marks.set(axis, kFromData);
    mark_reached(stage_.relations, marks);
    const auto is_fused_with_data = [&](const IterVar& axis) {
      return axis.kind() == IterKind::Reduce && marks.value_or(axis, 0) != 0;
    };
    std::vector<IterVar> around;
    for (std::size_t n = 0; n < call_.depth; ++n)
      if (stage_.leaf_iter_vars[n].kind() == IterKind::Reduce)
        around.push_back(stage_.leaf_iter_vars[n]);
    if (std::ranges::none_of(around, is_fused_with_data)) return around;
    for (const Relation& relation : stage_.relations) {
      const Fuse* fuse = std::get_if<Fuse>(&relation);
      std::vector<std::ptrdiff_t> leaves;
      if (fuse && is_fused_with_data(fuse->fused) &&
          !(append_leaves(stage_, fuse->fused, leaves) && std::ranges::is_sorted(leaves)))
        call_.refuse("the first step of the reduction computes the body, but the loops of `" +
                     fuse->fused.name() +
                     "`, which is fused of data and reduction, come to later steps of some "
                     "elements before it; give the intrinsic a reset, or keep the order of these "
                     "loops");
    }
    return stage_.op.reduce_axis();
  }

  /// Whether the reduction has begun; absent if it has one iteration.
  std::optional<Expr> is_later_iteration() const {
    std::optional<Expr> later;
    for (const IterVar& axis : progress_axes()) {
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

  /// The values of variables in the first iteration of the loops that `is_of_them` selects.
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

  /// Checks that no guard skips the first iteration.
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
    return on_views(code, part, nest_.main, call_.inputs);
  }

  /// The code in views of the outputs and of these inputs.
  Stmt on_views(const Stmt& code, IntrinPart part, const LoopNest& nest,
                const std::vector<IntrinView>& inputs) const {
    // One intrinsic may serve several stages.
    Stmt body = fresh_copy(program_.lower(substitute(code, call_.values), nest.vars));
    const auto lowered = [&](const Expr& e) { return program_.lower(e, nest.vars); };
    if (program_.check_intrinsics)
      body = with_check(call_, part, "intrinsic `" + call_.intrin.name + "` of " + describe(stage_),
                        body, lowered, program_);
    for (const std::vector<IntrinView>* views : {&call_.outputs, &inputs})
      for (std::size_t n = views->size(); n-- > 0;) {
        const IntrinView& view = (*views)[n];
        std::vector<Range> region;
        for (const Range& range : view.region) region.push_back(program_.lower(range, nest.vars));
        body = make_stmt(BufferView{view.buffer, program_.buffers.buffer_of(view.tensor),
                                    std::move(region), body});
      }
    return body;
  }

  // ---- the call, and the loops of the tail

  Stmt main_part(const Stmt& call, const std::function<Stmt()>& loops) const {
    if (main_.whole && is_false(*main_.whole))
      call_.refuse(
          "it would be called nowhere: the loops that it replaces always run over the end of an "
          "axis");
    const Stmt all = main_.whole ? make_stmt(If{likely(*main_.whole), call, loops()}) : call;
    // A pragma of a replaced loop may import the function that the intrinsic calls.
    return wrap(main_.outside,
                in_levels(nest_.main, call_.depth, num_levels(), all, /*pragmas=*/true));
  }

  Stmt init_part() const {
    const Stmt reset =
        on_views(*call_.code.reset, IntrinPart::Reset, *nest_.init, inputs_of_reset());
    if (!init_->whole) return wrap(init_->outside, reset);
    return wrap(init_->outside, make_stmt(If{likely(*init_->whole), reset, loops_of_init()}));
  }

  /// The inputs that a reset reads. It runs before the reduction, where the parts that the steps of
  /// the reduction take in turn do not exist.
  std::vector<IntrinView> inputs_of_reset() const {
    std::vector<IntrinView> read;
    for (std::size_t n = 0; n < call_.inputs.size(); ++n) {
      const IntrinView& view = call_.inputs[n];
      if (!resets_from(n)) continue;
      for (std::size_t l = nest_.common; l < call_.depth; ++l) {
        const IterVar& leaf = stage_.leaf_iter_vars[l];
        if (!nest_.init->values.at(leaf).same_as(leaf.var())) continue;
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

  /// Whether the reset accesses the input's buffer or passes its pointer, offset or strides on, or
  /// the check of the reset reads it as a start value.
  bool resets_from(std::size_t input) const {
    const Buffer& buffer = call_.inputs[input].buffer;
    const auto describes = [&](const Expr& var) {
      return var.same_as(buffer->data) || var.same_as(buffer->elem_offset) ||
             std::ranges::any_of(buffer->strides, [&](const Expr& e) { return var.same_as(e); });
    };
    bool found = uses_var(*call_.code.reset, describes);
    walk(*call_.code.reset, [&](const Load& load) { found |= load.buffer.same_as(buffer); });
    const ReduceNode* reduction = call_.intrin.op.as<Compute>()->reduction();
    if (program_.check_intrinsics && reduction)
      for (const Expr& start : reduction->init)
        walk(start, [&](const ProducerLoad& read) {
          found |= index_of_input(read, call_.intrin.inputs) == input;
        });
    return found;
  }

  static Stmt in_levels(const LoopNest& nest, std::size_t begin, std::size_t end, Stmt body,
                        bool pragmas = false) {
    for (std::size_t n = end; n-- > begin;) {
      Shells shells = nest.levels[n];
      std::erase_if(shells, [&](const LoopHeader& shell) {
        const AttrShell* attr = std::get_if<AttrShell>(&shell);
        return (attr && attr->kind == AttrKind::Pragma) != pragmas;
      });
      body = wrap(shells, std::move(body));
    }
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

  /// The loops of the init inside those of the update, for the iterations that begin the reduction.
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
  return BodyMaker(id, program, nest, make_intrin_call(id, program, nest)).make();
}

}  // namespace tenon::te
