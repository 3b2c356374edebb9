// Splits loops whose guards hold in all but a few iterations, so that the main part has no guards.
//
//   for (o, 0, 13) { for (i, 0, 8) { if likely(o*8 + i < 100) { S } } }
//   for (o, 0, 12) { for (i, 0, 8) { S } }    for (i, 0, 4) { S with o = 12 }
//
// The parts of a loop are consecutive and cover exactly its range for all sizes: a split point that
// is not provably within the range is clamped to it. A guard is removed only if it holds for all
// values of the inner loops. A parallel loop remains one loop and branches inside. Unrolled loops
// are kept, because guards are decided in their copies. Afterwards no condition is marked `likely`.
// The growth of the function is limited to partition.max_growth; loops beyond that keep their
// guards.
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;

namespace {

// ---- guards ----

// The guards of a loop are the `likely` conditions in its body that depend on its variable, and the
// clamps in its indices. find_span finds the iterations in which the guards provably hold.
//
//   for (o, 0, 13) { for (i, 0, 8) { if likely(o*8 + i < 100) ... } }
//   find_span: o in [0, 12): there the guard holds for every i
//   for (x, 0, 64) { B[x] = A[max(x - 1, 0)] }
//   find_span: x in [1, 64): there the index is x - 1

using Settled = std::unordered_map<const ExprNode*, Expr>;

/// A half-open range of values of a loop variable. If `begin` or `end` is absent, it is the loop's
/// own.
struct GuardSpan {
  std::optional<Expr> begin;
  std::optional<Expr> end;
  /// Nodes of the loop body with the expressions that replace them within the span: true for a
  /// condition, one operand for a minimum or maximum, and the dividend for a remainder.
  Settled settled;
};

class Finder {
 public:
  /// `finds_all_conditions`: whether to find conditions that are not marked `likely`.
  /// `finds_clamps`: whether to find indices that are clamped or wrapped, if most iterations do not
  /// need the clamp or remainder.
  Finder(const Var& var, bool finds_all_conditions, bool finds_clamps, Facts& facts)
      : var_(var),
        finds_all_conditions_(finds_all_conditions),
        finds_clamps_(finds_clamps),
        facts_(facts) {}

  std::vector<Expr> conditions;
  /// The indices in the body that use the loop variable.
  std::vector<Expr> indices;
  IntervalMap relaxed;

  void stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) {
      // The variable of an inner loop is relaxed to its range. This is impossible if the range
      // depends on the loop being split or on definitions inside it.
      if (is_from_inside(loop->min) || is_from_inside(loop->extent)) return;
      enter(loop->var, Range::from_min_extent(loop->min, loop->extent));
    } else if (const Attr* attr = s.as<Attr>(); attr && bound_axis(*attr)) {
      if (is_from_inside(attr->value)) return;
      enter(bound_axis(*attr)->var(), Range(0, attr->value));
    } else if (const Let* let = s.as<Let>()) {
      unknown_.insert(&let->var.node());
    }
    if (const If* branch = s.as<If>(); branch && finds_all_conditions_) add(branch->condition);
    if (const Store* store = s.as<Store>()) add_indices(store->indices);
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
  }

  /// Whether the expression uses a variable that a let inside the loop defines.
  bool uses_unknown(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return unknown_.contains(&var.node()); });
  }

  bool is_from_inside(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) {
      return var.same_as(var_) || relaxed.find(Var::of(var)) || unknown_.contains(&var.node());
    });
  }

 private:
  void enter(const Var& var, const Range& range) {
    relaxed.set(var, Interval::from_range(range));
    facts_.bind(var, range, true);
  }

  void expr(const Expr& e) {
    if (const Call* call = e.as<Call>()) {
      const bool is_choice = finds_all_conditions_ && call->is(Intrin::if_then_else);
      if (call->is(Intrin::likely) || is_choice) add(call->args[0]);
    }
    if (const Select* select = e.as<Select>(); select && finds_all_conditions_)
      add(select->condition);
    if (const LetExpr* let = e.as<LetExpr>()) unknown_.insert(&let->var.node());
    if (const Load* load = e.as<Load>()) add_indices(load->indices);
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void add_indices(const std::vector<Expr>& list) {
    if (!finds_clamps_) return;
    for (const Expr& index : list)
      if (uses_var(index, var_) && seen_.insert(&index.node()).second) indices.push_back(index);
  }

  void add(const Expr& condition) {
    for_each_conjunct(condition, [&](const Expr& part) {
      const Binary* comparison = part.as<Binary>();
      if (!comparison || !is_comparison(comparison->op) || effect_of(part) != Effect::Pure) return;
      if (!uses_var(part, var_) || !seen_.insert(&part.node()).second) return;
      if (uses_unknown(part)) return;
      conditions.push_back(part);
    });
  }

  const Var& var_;
  bool finds_all_conditions_, finds_clamps_;
  Facts& facts_;
  std::unordered_set<const ExprNode*> unknown_, seen_;
};

/// Whether the condition provably holds for every value of the variable in [begin, end). Used to
/// confirm deduced bounds, but only if they are constant, because the proof is then simple.
bool holds_between(const Expr& condition, const Var& var, std::int64_t begin, std::int64_t end,
                   Facts& facts) {
  const Var inside = var.fresh();
  facts.bind(inside, Range::from_min_extent(make_int(var.dtype(), begin),
                                            make_int(var.dtype(), end - begin)));
  return arith::can_prove(substitute_folding(condition, {{&var.node(), inside}}), facts);
}

class SpanBuilder {
 public:
  SpanBuilder(const For& loop, const Finder& finder, Facts& facts)
      : loop_(loop), finder_(finder), facts_(facts) {}

  void add(const Expr& condition) {
    std::optional<Ends> narrow = narrowed(condition);
    if (!narrow) return;
    ends_ = std::move(*narrow);
    settled_.emplace(&condition.node(), make_true());
  }

  /// Returns the index with its clamps removed. Narrows the span to the iterations in which the
  /// result is equivalent.
  Expr settle(const Expr& e) {
    if (const auto known = done_.find(&e.node()); known != done_.end()) return known->second;
    const Expr result = uses_var(e, loop_.var) ? without_clamps(e) : e;
    done_.emplace(&e.node(), result);
    return result;
  }

  std::optional<GuardSpan> take() {
    if (settled_.empty()) return std::nullopt;
    return GuardSpan{ends_.first, ends_.second, std::move(settled_)};
  }

 private:
  /// The beginning and the end of a span.
  using Ends = std::pair<std::optional<Expr>, std::optional<Expr>>;

  Expr without_clamps(const Expr& e) {
    const Expr inside = map_children(e, [&](const Expr& child) { return settle(child); });
    if (!e.dtype().is_int() || !e.dtype().is_scalar()) return inside;
    if (const Select* n = inside.as<Select>())
      return settle_choice(e, inside, {n->condition, n->if_true, n->if_false});
    if (const Call* n = as_call(inside, Intrin::if_then_else))
      return settle_choice(e, inside, {n->args[0], n->args[1], n->args[2]});
    const Binary* n = inside.as<Binary>();
    if (!n) return inside;
    const bool a_varies = uses_var(n->a, loop_.var), b_varies = uses_var(n->b, loop_.var);
    if (a_varies == b_varies) return inside;
    const Expr &value = a_varies ? n->a : n->b, &bound = a_varies ? n->b : n->a;
    if (n->op == BinaryOp::Min && narrow_for_clamp({value <= bound})) return settled(e, value);
    if (n->op == BinaryOp::Max && narrow_for_clamp({value >= bound})) return settled(e, value);
    if (n->op == BinaryOp::FloorMod && a_varies)
      if (std::optional<Expr> remainder = settle_remainder(value, bound))
        return settled(e, *remainder);
    return inside;
  }

  /// Returns the ends of the part of the span in which the condition holds; nullopt if that part is
  /// unknown or not useful.
  std::optional<Ends> narrowed(const Expr& condition) {
    const Expr simple = arith::simplify(condition, facts_);
    if (is_true(simple)) return ends_;
    if (!uses_var(simple, loop_.var)) return std::nullopt;
    const std::optional<Interval> where =
        arith::deduce_bound(loop_.var, simple, {}, finder_.relaxed, facts_);
    if (!where || where->is_empty()) return std::nullopt;
    std::optional<Expr> begin = where->min(), end;
    if (where->max()) end = arith::simplify(*where->max() + 1, facts_);
    if ((begin && finder_.is_from_inside(*begin)) || (end && finder_.is_from_inside(*end)))
      return std::nullopt;
    const Expr loop_end = loop_.min + loop_.extent;
    // If the condition never holds in the loop, splitting does not help. Simplification removes the
    // condition.
    if (begin && arith::can_prove(*begin >= loop_end, facts_)) return std::nullopt;
    if (end && arith::can_prove(*end <= loop_.min, facts_)) return std::nullopt;
    if (!is_confirmed(simple, begin.value_or(loop_.min), end.value_or(loop_end)))
      return std::nullopt;
    Ends result = ends_;
    auto& [first, last] = result;
    if (begin) first = first ? arith::simplify(max(*first, *begin), facts_) : *begin;
    if (end) last = last ? arith::simplify(min(*last, *end), facts_) : *end;
    return result;
  }

  /// Removes a clamp in the form of a select.
  Expr settle_choice(const Expr& e, const Expr& inside, const Select& choice) {
    if (!uses_var(choice.condition, loop_.var)) return inside;
    std::vector<Expr> all;
    bool are_of_positions = true;
    for_each_conjunct(choice.condition, [&](const Expr& one) {
      const Binary* n = one.as<Binary>();
      are_of_positions = are_of_positions && n && is_comparison(n->op) && n->a.dtype().is_index();
      all.push_back(one);
    });
    if (!are_of_positions) return inside;
    if (narrow_for_clamp(all)) return settled(e, choice.if_true);
    if (all.size() == 1 && narrow_for_clamp({make_not(all[0])})) return settled(e, choice.if_false);
    return inside;
  }

  Expr settled(const Expr& e, const Expr& value) {
    settled_.emplace(&e.node(), value);
    return value;
  }

  /// Removes a remainder, by narrowing the span to the period that contains most iterations.
  std::optional<Expr> settle_remainder(const Expr& value, const Expr& divisor) {
    const std::int64_t period = constant_int(divisor).value_or(0);
    const arith::ConstBound bound = arith::const_bound(value, facts_);
    if (period <= 0 || !bound.min || !bound.max) return std::nullopt;
    const std::int64_t first = floor_division(*bound.min, period),
                       last = floor_division(*bound.max, period);
    constexpr std::int64_t kMaxPeriods = 3;
    for (std::int64_t n = first; n <= last && last - first < kMaxPeriods; ++n) {
      const Expr begin = make_int(value.dtype(), n * period),
                 end = make_int(value.dtype(), (n + 1) * period);
      if (narrow_for_clamp({value >= begin, value < end})) return fold(BinaryOp::Sub, value, begin);
    }
    return std::nullopt;
  }

  static std::int64_t floor_division(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
  }

  /// Narrows the span to the iterations that do not need a clamp. Unlike a guard, a clamp justifies
  /// a copy of the loop only if these are most of the iterations.
  bool narrow_for_clamp(const std::vector<Expr>& conditions) {
    Ends before = ends_;
    for (const Expr& condition : conditions) {
      std::optional<Ends> narrow = finder_.uses_unknown(condition) ||
                                           effect_of(condition) != Effect::Pure ||
                                           arith::wraps(condition, facts_)
                                       ? std::nullopt
                                       : narrowed(condition);
      if (!narrow || !has_most_iterations(*narrow)) {
        ends_ = std::move(before);
        return false;
      }
      ends_ = std::move(*narrow);
    }
    return true;
  }

  bool has_most_iterations(const Ends& span) const {
    const std::optional<std::int64_t> min = constant_int(loop_.min),
                                      extent = constant_int(loop_.extent);
    if (!min || !extent) return true;
    const std::optional<std::int64_t> begin = span.first ? constant_int(*span.first) : min;
    const std::optional<std::int64_t> end =
        span.second ? constant_int(*span.second) : std::optional(*min + *extent);
    return begin && end && (std::min(*end, *min + *extent) - std::max(*begin, *min)) * 2 >= *extent;
  }

  bool is_confirmed(const Expr& condition, const Expr& begin, const Expr& end) {
    const std::optional<std::int64_t> first =
        constant_int(arith::simplify(max(begin, loop_.min), facts_));
    const std::optional<std::int64_t> last =
        constant_int(arith::simplify(min(end, loop_.min + loop_.extent), facts_));
    return !first || !last ||
           (*first < *last && holds_between(condition, loop_.var, *first, *last, facts_));
  }

  const For& loop_;
  const Finder& finder_;
  Facts& facts_;
  Ends ends_;
  Settled settled_;
  /// The results of settle, by its argument.
  Settled done_;
};

/// Returns the largest useful span; nullopt if no useful span was found. In the span, some guards
/// of the loop body hold. The ends use only variables from outside the loop. `facts` must know the
/// enclosing loops; inner loops are added to it.
std::optional<GuardSpan> find_span(const For& loop, bool finds_all_conditions, bool finds_clamps,
                                   Facts& facts) {
  Finder finder(loop.var, finds_all_conditions, finds_clamps, facts);
  finder.stmt(loop.body);
  SpanBuilder builder(loop, finder, facts);
  for (const Expr& condition : finder.conditions) builder.add(condition);
  for (const Expr& index : finder.indices) builder.settle(index);
  return builder.take();
}

/// Folds a conjunction or a choice if one of its conditions is the constant true.
Expr without_known_conditions(const Expr& e) {
  if (const Binary* both = as_binary(e, BinaryOp::And))
    return fold(BinaryOp::And, both->a, both->b);
  if (const Call* call = as_call(e, Intrin::likely); call && is_true(call->args[0]))
    return make_true();
  if (const Call* call = as_call(e, Intrin::if_then_else); call && is_true(call->args[0]))
    return call->args[1];
  if (const Select* select = e.as<Select>(); select && is_true(select->condition))
    return select->if_true;
  return e;
}

/// Replaces the nodes in GuardSpan::settled by the expressions that they equal within the span, and
/// folds the result. Adds the results of all visited nodes to `settled`.
Expr within_span(const Expr& e, Settled& settled) {
  if (const auto found = settled.find(&e.node()); found != settled.end()) return found->second;
  const Expr inside = map_children(e, [&](const Expr& c) { return within_span(c, settled); });
  const Expr result = inside.same_as(e) ? e : without_known_conditions(inside);
  settled.emplace(&e.node(), result);
  return result;
}

Stmt within_span(const Stmt& s, Settled& settled) {
  const Stmt result = map_children(
      s, [&](const Expr& e) { return within_span(e, settled); },
      [&](const Stmt& c) { return within_span(c, settled); });
  const If* branch = result.as<If>();
  return branch && is_true(branch->condition) ? branch->then_case : result;
}

/// Returns the statement with `likely(c)` replaced by c, and without marks for partitioning.
Stmt without_likely(const Stmt& s) {
  return rewrite(
      s,
      [](const Call& call, const Expr&) -> std::optional<Expr> {
        if (!call.is(Intrin::likely)) return std::nullopt;
        return call.args[0];
      },
      [](const Attr& attr, const Stmt&) -> std::optional<Stmt> {
        if (!is_pragma(attr, PragmaKey::LoopPartitionHint)) return std::nullopt;
        return attr.body;
      });
}

/// The number of nodes that may be added to any function, independent of the growth factor.
constexpr std::size_t kFreeNodes = 20000;
/// The maximum nesting of edges (the few first or last iterations of a loop). Loops that are nested
/// deeper are not split at clamps.
constexpr int kMaxEdges = 2;

class Partitioner {
 public:
  Partitioner(const PrimFunc& func, const PassOptions::Partition& options) : options_(options) {
    nodes_left_ = kFreeNodes + node_count(func.body) *
                                   static_cast<std::size_t>(std::max(0, options.max_growth - 1));
    // Extents of arrays are nonnegative, which is checked at the function's entry.
    for (const BufferParam& param : func.buffers)
      for (const Expr& extent : param.declared->shape)
        if (extent.as<VarNode>())
          facts_.bind_bound(Var::of(extent), {.min = 0, .max = std::nullopt});
  }

  Stmt stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) {
      facts_.bind(loop->var, Range::from_min_extent(loop->min, loop->extent), true);
      if (is_candidate(*loop))
        if (std::optional<Stmt> parts = split(*loop)) return *parts;
    } else if (const Attr* attr = s.as<Attr>()) {
      return this->attr(*attr, s);
    } else if (const Let* let = s.as<Let>(); let && arith::wraps(let->value, facts_)) {
      arith::bind_data(let->var, facts_);
    }
    return children(s);
  }

 private:
  Stmt children(const Stmt& s) {
    return map_statements(s, [&](const Stmt& c) { return stmt(c); });
  }

  Stmt attr(const Attr& attr, const Stmt& s) {
    if (is_pragma(attr, PragmaKey::LoopPartitionHint)) hint(attr);
    if (attr.kind != AttrKind::ThreadExtent) return children(s);
    facts_.bind(std::get<IterVar>(attr.subject).var(), Range(0, attr.value), true);
    const bool outer = std::exchange(is_in_kernel_, true);
    const Stmt result = children(s);
    is_in_kernel_ = outer;
    return result;
  }

  /// Records a hint for the loop directly inside the attribute. The loop must have the name of the
  /// hint's axis, because the variable of a copied loop is new. Hints in hand-written code do not
  /// name an axis and apply to any loop.
  void hint(const Attr& attr) {
    const Stmt* inside = &attr.body;
    while (const Attr* next = inside->as<Attr>()) inside = &next->body;
    const For* loop = inside->as<For>();
    const IterVar* axis = std::get_if<IterVar>(&attr.subject);
    if (!loop || (axis && axis->name() != loop->var.name())) return;
    hinted_.insert(&loop->var.node());
    known_vars_.push_back(loop->var);
  }

  bool is_candidate(const For& loop) const {
    if (loop.kind == ForKind::Unrolled || finished_.contains(&loop.var.node())) return false;
    if (hinted_.contains(&loop.var.node())) return true;
    return !is_constant(loop) || (options_.constant_loops && !is_in_kernel_);
  }

  static bool is_constant(const For& loop) {
    return constant_int(loop.min) && constant_int(loop.extent);
  }

  // ---- split points -----------------------------------------------------------------------------

  bool proves(const Expr& condition) const { return arith::can_prove(condition, facts_); }

  /// Clamps a split point to [low, high], unless it provably lies there. If low > high, the part
  /// before or after the split point is empty anyway.
  Expr clamped(const Expr& end, const Expr& low, const Expr& high) const {
    Expr result = end;
    if (!proves(result <= high)) result = min(result, high);
    if (!proves(low <= result)) result = max(low, result);
    return arith::simplify(result, facts_);
  }

  Expr difference(const Expr& a, const Expr& b) const { return arith::simplify(a - b, facts_); }

  std::optional<Stmt> split(const For& loop) {
    // Vectorized loops are not split at clamps, because a partial vector is not better than a
    // gather.
    const bool finds_clamps =
        loop.kind != ForKind::Vectorized && edges_around_ < kMaxEdges && !is_in_kernel_;
    std::optional<GuardSpan> span =
        find_span(loop, hinted_.contains(&loop.var.node()), finds_clamps, facts_);
    if (!span || has_barrier(loop.body)) return std::nullopt;
    const Expr last = arith::simplify(loop.min + loop.extent, facts_);
    const Expr begin = span->begin ? clamped(*span->begin, loop.min, last) : loop.min;
    const Expr end = span->end ? clamped(*span->end, begin, last) : last;
    // Keeps the loop if its trip count is constant and would become symbolic. A constant trip count
    // is worth more than the removal of a guard.
    if (is_constant(loop) && !(constant_int(begin) && constant_int(end))) return std::nullopt;
    const Expr before = difference(begin, loop.min), behind = difference(last, end);
    const bool has_before = !proves(before <= 0), has_behind = !proves(behind <= 0);
    if (proves(difference(end, begin) <= 0)) return std::nullopt;
    const std::size_t copies = int{has_before} + int{has_behind};
    if (!spend(copies == 0 ? 0 : copies * node_count(loop.body))) return std::nullopt;

    const Stmt main = within_span(loop.body, span->settled);
    if (copies == 0) return stmt(make_stmt(For{loop.var, loop.min, loop.extent, loop.kind, main}));
    if (loop.kind == ForKind::Parallel)
      return choose(loop, begin, end, has_before, has_behind, main);
    std::vector<Stmt> parts;
    if (has_before)
      parts.push_back(edge(loop, before, [&] { return part(loop, loop.min, before, loop.body); }));
    parts.push_back(part(loop, begin, difference(end, begin), main));
    if (has_behind)
      parts.push_back(edge(loop, behind, [&] { return part(loop, end, behind, loop.body); }));
    return make_seq(std::move(parts));
  }

  static bool has_barrier(const Stmt& s) {
    return any_node(s, [](const Call& call) {
      return call.is(Intrin::tvm_thread_allreduce) || call.is(Intrin::tvm_storage_sync);
    });
  }

  bool spend(std::size_t nodes) {
    if (nodes > nodes_left_) return false;
    nodes_left_ -= nodes;
    return true;
  }

  /// Calls `make`, which emits an edge of the loop (its first or last iterations). If the edge has
  /// few iterations, it is counted in `edges_around_` during the call. A loop inside two such edges
  /// is not split at clamps, which keeps the number of parts below 3^(number of loops).
  template <class F>
  Stmt edge(const For& loop, const Expr& iterations, const F& make) {
    constexpr std::int64_t kMaxFractionOfFew = 8;
    const std::optional<std::int64_t> count = constant_int(iterations),
                                      all = constant_int(loop.extent);
    const bool are_few = !count || !all || *count * kMaxFractionOfFew <= *all;
    const int outer = std::exchange(edges_around_, edges_around_ + int{are_few});
    Stmt result = make();
    edges_around_ = outer;
    return result;
  }

  // ---- parts ------------------------------------------------------------------------------------

  /// Returns a separate loop that runs `extent` iterations of `loop`, starting at `begin`. The new
  /// loop starts at 0.
  Stmt part(const For& loop, const Expr& begin, const Expr& extent, const Stmt& body) {
    const Expr length = cast(loop.var.dtype(), extent), offset = cast(loop.var.dtype(), begin);
    if (is_one(length)) return stmt(fresh_copy(body, {{&loop.var.node(), offset}}));
    const Var var = loop.var.fresh();
    finished_.insert(&var.node());
    known_vars_.push_back(var);
    return stmt(make_stmt(For{var, make_int(var.dtype(), 0), length, loop.kind,
                              fresh_copy(body, {{&loop.var.node(), var + offset}})}));
  }

  /// Emits a branch inside a parallel loop. If the loop were split, the threads would synchronize
  /// between its parts.
  Stmt choose(const For& loop, const Expr& begin, const Expr& end, bool has_before, bool has_behind,
              const Stmt& main) {
    Expr inside = make_true();
    if (has_before) inside = inside && begin <= loop.var;
    if (has_behind) inside = inside && loop.var < end;
    const bool is_single =
        is_one(has_before ? difference(begin, loop.min) : difference(loop.min + loop.extent, end));
    // If only one iteration is outside the span, the value of the loop variable there is known.
    VarMap known;
    if (is_single && has_before != has_behind) set(known, loop.var, has_before ? loop.min : end);
    const Stmt rest = fresh_copy(loop.body, std::move(known));
    const Stmt main_part = stmt(main);
    const Expr others = difference(loop.extent, difference(end, begin));
    const Stmt body =
        make_stmt(If{inside, main_part, edge(loop, others, [&] { return stmt(rest); })});
    return make_stmt(For{loop.var, loop.min, loop.extent, loop.kind, body});
  }

  const PassOptions::Partition& options_;
  arith::Facts facts_;
  std::size_t nodes_left_;
  bool is_in_kernel_ = false;
  /// The number of enclosing edges with few iterations.
  int edges_around_ = 0;
  /// The loops that the pragma "loop_partition_hint" marks, and the loops that are parts of a loop
  /// that has already been split.
  std::unordered_set<const ExprNode*> hinted_, finished_;
  /// Keeps the nodes in both sets alive.
  std::vector<Var> known_vars_;
};

}  // namespace

PrimFunc partition_loops(const PrimFunc& func, const PassOptions& options) {
  return with_body(func, without_likely(Partitioner(func, options.partition).stmt(func.body)));
}

}  // namespace tenon::lowering
