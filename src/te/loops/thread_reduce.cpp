#include "te/loops/thread_reduce.h"

#include <algorithm>

#include "te/graph/thread_scope.h"
#include "te/loops/compute_nest.h"
#include "te/loops/loop_nest.h"
#include "te/operations/body.h"
#include "tenon/arith/reducer_laws.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

bool reduces_across_threads(const FrozenStage& stage) {
  const IterVar* reduced = nullptr;
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    if (leaf.kind() == IterKind::Reduce) {
      if (stage.thread_mark_of(leaf)) reduced = &leaf;
    } else if (reduced) {
      throw ScheduleError("bind of the reduction " + describe(stage, *reduced) +
                              " to a thread: the data axis `" + leaf.name() +
                              "` is a loop inside of it; reorder it outwards",
                          stage.thread_mark_of(*reduced)->where);
    }
  }
  return reduced != nullptr;
}

namespace {

bool is_bound(const FrozenStage& stage, const IterVar& leaf) {
  return stage.thread_mark_of(leaf) != nullptr;
}

/// Rejects reductions across threads inside virtual threads. The copies of a virtual thread run one
/// after another, so real threads cannot synchronize for each copy.
void check_not_in_virtual_threads(const StageGraph& graph, StageId id, const Bounds& bounds) {
  const FrozenStage& stage = graph.stage(id);
  std::vector<AttachPoint> around = graph.attach_path(id);
  for (const IterVar& leaf : stage.leaf_iter_vars) around.push_back({id, leaf});
  for (const AttachPoint& loop : around) {
    const IterVar* thread = thread_of(graph, loop);
    if (!thread || !thread->thread()->is_virtual() || is_one(bounds[loop.axis].extent)) continue;
    for (const IterVar& leaf : stage.leaf_iter_vars) {
      if (leaf.kind() != IterKind::Reduce || !is_bound(stage, leaf)) continue;
      throw ScheduleError(
          "bind of the reduction " + describe(stage, leaf) +
              " to a thread: " + describe(graph.stage(loop.stage), loop.axis) +
              " around it is bound to virtual thread `" + thread->name() +
              "`, whose copies cannot reduce across threads; leave that axis a loop, or bind "
              "it to another thread",
          stage.thread_mark_of(leaf)->where);
    }
  }
}

/// Rejects a reducer that uses an axis of the operation. Threads combine their results after loops
/// have become threads, when the axis is no longer a variable.
void check_reducer_uses_no_axis(const FrozenStage& stage, const CommReducerNode& reducer) {
  for (const std::vector<Expr>* values : {&reducer.result, &reducer.identity})
    for (const Expr& value : *values)
      for (const IterVar& axis : stage.op.axis()) {
        if (!uses_var(value, axis.var())) continue;
        const auto leaf = std::ranges::find_if(stage.leaf_iter_vars, [&](const IterVar& reduced) {
          return reduced.kind() == IterKind::Reduce && is_bound(stage, reduced);
        });
        throw ScheduleError(
            "bind of the reduction " + describe(stage, *leaf) + " to a thread: its reducer `" +
                reducer.name + "` uses axis `" + axis.name() +
                "`, but threads combine the values of all elements alike; make the value of the "
                "axis a component of the reduction",
            stage.thread_mark_of(*leaf)->where);
      }
}

Expr first_element(const Buffer& buffer) { return make_load(buffer, {Expr(0)}); }

Stmt allocated(const Buffer& buffer, const Stmt& body) {
  return make_stmt(Allocate{buffer->data, buffer->dtype, buffer->shape, make_true(), body});
}

/// Whether the condition is defined for all values of its variables: no loads, and divisions only
/// by constants.
bool is_always_defined(const Expr& condition) {
  return effect_of(condition) == Effect::Pure && !any_node(condition, [](const Binary& n) {
           return is_division(n.op) && constant_int(n.b).value_or(0) == 0;
         });
}

class ThreadReductionMaker {
 public:
  ThreadReductionMaker(StageId id, const Program& program, const LoopNest& nest)
      : stage_(program.graph.stage(id)),
        program_(program),
        nest_(nest),
        reduction_(*stage_.op.as<Compute>()->reduction()),
        own_(leaves_of_thread_reduction(stage_).second),
        guards_(make_guards(id, nest, program)) {
    const Expr condition = program.lower(reduction_.condition, nest.vars);
    has_condition_ = !is_true(condition);
    if (has_condition_) guards_.push_back(condition);
    // Computes the guards of the result. Skips axes that derive only from reduction axes.
    AxisFlags reduced;
    const AxisFlags from_data = derived_from(stage_.op.axis(), stage_.relations);
    for (const IterVar& axis : stage_.all_iter_vars) reduced.set(axis, !from_data.contains(axis));
    result_guards_ = make_guards(id, nest, program, {.skip = &reduced});
  }

  std::pair<Stmt, std::function<Stmt(const Stmt& own_loops)>> make() {
    for (const Expr& source : reduction_.source)
      sources_.push_back(program_.lower(source, nest_.vars));
    // Buffers with one element each: the results, and the partial results of a thread. There are no
    // partial results if each thread has a single term.
    const std::vector<Buffer> totals = temporaries("reduce_temp");
    std::vector<Buffer> parts;
    std::vector<Stmt> start_parts;
    Stmt update = make_nop();
    if (!own_.empty()) {
      parts = temporaries("normal_reduce_temp");
      for (std::size_t k = 0; k < parts.size(); ++k)
        start_parts.push_back(make_store(parts[k], reduction_.combiner->identity[k], {Expr(0)}));
      update = guarded(guards_, update_parts(parts));
    }
    const Stmt reduced = make_seq({all_reduce(totals, parts), store_result(totals)});
    return {update, [=](const Stmt& own_loops) {
              std::vector<Stmt> steps = start_parts;
              if (!parts.empty()) steps.push_back(own_loops);
              steps.push_back(reduced);
              Stmt body = make_seq(std::move(steps));
              for (std::size_t k = totals.size(); k-- > 0;) {
                body = allocated(totals[k], body);
                if (!parts.empty()) body = allocated(parts[k], body);
              }
              return body;
            }};
  }

 private:
  std::vector<Buffer> temporaries(const std::string& prefix) const {
    std::vector<Buffer> buffers;
    for (std::size_t k = 0; k < reduction_.source.size(); ++k) {
      buffers.push_back(decl_buffer({Expr(1)}, reduction_.source[k].dtype(),
                                    {.name = prefix + std::to_string(k), .scope = "local"}));
    }
    return buffers;
  }

  Stmt update_parts(const std::vector<Buffer>& parts) const {
    std::vector<Expr> old_values;
    for (const Buffer& part : parts) old_values.push_back(first_element(part));
    return store_together(parts, combine(*reduction_.combiner, old_values, sources_), {Expr(0)});
  }

  /// Returns what the current thread contributes: its partial result if it has several terms.
  /// Otherwise its single term, or the identity if the guards exclude this term.
  std::vector<Expr> contributions(const std::vector<Buffer>& parts) const {
    std::vector<Expr> values;
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      if (!parts.empty()) {
        values.push_back(first_element(parts[k]));
        continue;
      }
      Expr value = sources_[k];
      // The reduction's own condition is evaluated last, because its reads may be in bounds only if
      // the guards hold.
      std::vector<Expr> innermost_first = guards_;
      if (has_condition_)
        std::rotate(innermost_first.begin(), innermost_first.end() - 1, innermost_first.end());
      for (const Expr& guard : innermost_first)
        value = if_then_else(guard, value, reduction_.combiner->identity[k]);
      values.push_back(value);
    }
    return values;
  }

  Stmt all_reduce(const std::vector<Buffer>& totals, const std::vector<Buffer>& parts) const {
    std::vector<Expr> args{make_int(UInt(32), static_cast<std::int64_t>(sources_.size()))};
    for (const Expr& value : contributions(parts)) args.push_back(value);
    args.push_back(make_true());
    for (const Buffer& total : totals) args.push_back(first_element(total));
    for (const IterVar& leaf : stage_.leaf_iter_vars) {
      if (leaf.kind() == IterKind::Reduce && is_bound(stage_, leaf))
        args.push_back(thread_of(stage_, leaf)->var());
    }
    const Expr null = make_call(Handle(), Intrin::reinterpret, {make_int(UInt(64), 0)});
    return make_stmt(
        Attr{AttrKind::ReduceScope, reduction_.combiner, "", null,
             make_evaluate(make_call(Handle(), Intrin::tvm_thread_allreduce, std::move(args)))});
  }

  /// Stores the total, combined with the user's start value if there is one. If threads have no
  /// partial results, the identity has not been combined yet. It is combined here if this can
  /// change the result.
  Stmt store_result(const std::vector<Buffer>& totals) const {
    std::vector<Expr> values, indices;
    for (const Buffer& total : totals) values.push_back(first_element(total));
    if (!reduction_.init.empty()) {
      std::vector<Expr> start;
      for (const Expr& init : reduction_.init) start.push_back(program_.lower(init, nest_.vars));
      values = combine(*reduction_.combiner, start, values);
    } else if (own_.empty() &&
               !arith::is_identity_neutral(*reduction_.combiner, reduction_.source)) {
      values = combine(*reduction_.combiner, reduction_.combiner->identity, values);
    }
    for (const IterVar& axis : stage_.op.axis())
      indices.push_back(program_.lower(axis.var(), nest_.vars));
    std::vector<Stmt> stores;
    for (std::size_t k = 0; k < values.size(); ++k) {
      stores.push_back(make_store(program_.buffers.buffer_of(stage_.op.output(static_cast<int>(k))),
                                  values[k], indices));
    }
    return guarded(store_conditions(), make_seq(std::move(stores)));
  }

  /// Returns the conditions under which the result is stored: its guards and the user's store
  /// predicate. Omits guards that the predicate implies.
  std::vector<Expr> store_conditions() const {
    std::vector<Expr> conditions;
    if (!stage_.store_predicate) {
      for (const Expr& guard : result_guards_) conditions.push_back(likely(guard));
      return conditions;
    }
    const Expr predicate = program_.lower(*stage_.store_predicate, nest_.vars);
    check_known_after_loops(predicate);
    // A predicate with reads or divisions may be defined only if the guards hold, so it then cannot
    // replace them.
    const bool is_total = is_always_defined(predicate);
    arith::Facts facts;
    const auto stored = facts.assume(predicate);
    for (const Expr& guard : result_guards_)
      if (!is_total || !arith::can_prove(guard, facts)) conditions.push_back(likely(guard));
    conditions.push_back(predicate);
    return conditions;
  }

  /// Checks that the condition of the store does not depend on loops that each thread runs by
  /// itself. The result is stored once, after these loops.
  void check_known_after_loops(const Expr& predicate) const {
    for (const std::size_t n : own_) {
      const auto is_defined = [&](const Expr& var) { return defines(nest_.levels[n], var); };
      if (!uses_var(predicate, is_defined)) continue;
      const IterVar& leaf = stage_.leaf_iter_vars[n];
      throw ScheduleError(
          "set_store_predicate of " + describe(stage_) + ": the condition uses reduction loop `" +
              leaf.name() +
              "`, but threads that reduce together store the result once, after that loop; use "
              "only threads and data axes",
          stage_.store_predicate_where);
    }
  }

  const FrozenStage& stage_;
  const Program& program_;
  const LoopNest& nest_;
  const ReduceNode& reduction_;
  const std::vector<std::size_t> own_;
  /// Conditions under which the current iteration contributes a term. If the reduction has its own
  /// condition, it is the last one.
  std::vector<Expr> guards_;
  bool has_condition_ = false;
  /// Conditions under which the result is in the bounds of the output.
  std::vector<Expr> result_guards_;
  std::vector<Expr> sources_;
};

}  // namespace

std::pair<std::vector<std::size_t>, std::vector<std::size_t>> leaves_of_thread_reduction(
    const FrozenStage& stage) {
  std::vector<std::size_t> common, own;
  for (std::size_t i = 0; i < stage.leaf_iter_vars.size(); ++i) {
    const IterVar& leaf = stage.leaf_iter_vars[i];
    const bool is_own = leaf.kind() == IterKind::Reduce && !is_bound(stage, leaf);
    (is_own ? own : common).push_back(i);
  }
  return {std::move(common), std::move(own)};
}

std::pair<Stmt, std::function<Stmt(const Stmt& own_loops)>> make_thread_reduction(
    StageId stage, const Program& program, const LoopNest& nest) {
  const FrozenStage& reduced = program.graph.stage(stage);
  check_not_in_virtual_threads(program.graph, stage, program.bounds);
  check_reducer_uses_no_axis(reduced, *reduced.op.as<Compute>()->reduction()->combiner);
  return ThreadReductionMaker(stage, program, nest).make();
}

}  // namespace tenon::te
