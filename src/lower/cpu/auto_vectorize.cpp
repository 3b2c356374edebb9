// Vectorizes scalar loops that no schedule marked. Runs for host code only, after `lower`.
//
//   for (i, 0, 100) {                            for (i, 0, 3) {
//     B[i] = A[i*2] + 1                  =>        B[ramp(i*32, 1, 32)] = A[ramp(i*64, 2, 32)] + 1
//   }                                            }
//                                                B[ramp(96, 1, 4)] = A[ramp(192, 2, 4)] + 1
//
// A loop is vectorized if its body is scalar code without side effects and its iterations are
// provably independent. Every element is then computed from the same operands in the same order.
// The pass tries the innermost loop first. If its iterations depend on each other, as in a float
// sum, the pass tries the enclosing loop; each lane then runs the whole inner loop. Integer sums,
// products, minima and maxima are associative, so the lanes accumulate separately and are combined
// after the loop. Only reassociate_accumulations does this for floats.
//
// A condition that differs between iterations becomes a vector condition if the processor has
// masked stores; each lane then takes the branch or skips it. Loops that vectorize_loops left
// serial because of such a condition are also candidates, whatever their stage.
//
// The tail of a loop is computed by narrower vectors, and finally by scalar iterations. If the tail
// has a constant number of iterations and the processor's registers have masks, the tail is one
// vector of that many lanes.
//
// With fast_math, reassociate_accumulations also vectorizes loops that accumulate floats:
//
//   for (i, 0, 64) {              allocate lanes[16] {
//     B[0] = B[0] + A[i]    =>      lanes[ramp(0, 1, 16)] = broadcast(0, 16)
//   }                               for (i, 0, 4) { lanes[..] = lanes[..] + A[ramp(i*16, 1, 16)] }
//                                   B[0] = B[0] + (the sum of lanes)
//                                 }
#include "lower/passes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "lower/cpu/loop_body.h"
#include "lower/cpu/tile_registers.h"
#include "lower/hoisted_extents.h"
#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/support/error.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- if-conversion ----

// If-conversion of accumulations: a guarded accumulation becomes an unguarded one that adds a
// selected term. Lanes whose condition fails add the identity element.
//
//   if (k % 3 != 0) B[i] = B[i] + A[k]   =>   B[i] = B[i] + if_then_else(k % 3 != 0, A[k], 0)
//
// An unguarded store would race with other threads that access the element while the condition
// fails. The conversion therefore requires that the same task also stores the element
// unconditionally.

/// The elements that the current task has stored unconditionally, and the memory that no other task
/// can access. A task is an iteration of the innermost parallel loop.
class StoredByTask {
 public:
  /// A snapshot of the state. `leave` returns to it by dropping everything added since.
  struct Mark {
    std::size_t stores, memories, loops;
  };
  Mark mark() const { return {stores_.size(), memories_.size(), loops_.size()}; }
  void leave(const Mark& mark) {
    truncate(stores_, mark.stores);
    truncate(memories_, mark.memories);
    truncate(loops_, mark.loops);
  }

  /// Adds the elements that the statement stores unconditionally.
  void add_stores_of(const Stmt& s) {
    VarMap lets;
    std::vector<RangedVar> loops;
    add(s, lets, loops);
  }

  void add_memory(const Var& data) { memories_.push_back(data); }
  /// Records that the walk is inside `loop`.
  void enter(const For& loop) {
    loops_.push_back({loop.var, Range::from_min_extent(loop.min, loop.extent)});
  }

  bool has(const Buffer& buffer, const Expr& index, const arith::Facts& facts) const {
    const bool is_own =
        std::ranges::any_of(memories_, [&](const Var& data) { return data.same_as(buffer->data); });
    return is_own || std::ranges::any_of(stores_, [&](const Stored& stored) {
             return stored.buffer->data.same_as(buffer->data) &&
                    stored.buffer->dtype == buffer->dtype &&
                    covers(stored, 0, stored.index, index, facts);
           });
  }

 private:
  struct Stored {
    Buffer buffer;
    Expr index;
    /// The loops inside the current task that enclose the store.
    std::vector<RangedVar> loops;
  };

  void add(const Stmt& s, VarMap& lets, std::vector<RangedVar>& loops) {
    if (const Store* n = s.as<Store>()) {
      if (n->indices.size() != 1 || !n->indices[0].dtype().is_scalar()) return;
      const Expr index = substitute(n->indices[0], lets);
      if (effect_of(index) == Effect::Pure) stores_.push_back({n->buffer, index, loops});
      return;
    }
    if (const Let* n = s.as<Let>()) set(lets, n->var, substitute(n->value, lets));
    if (const For* n = s.as<For>()) {
      // The iterations of a parallel loop belong to other tasks.
      if (n->kind == ForKind::Parallel) return;
      loops.push_back({n->var, Range::from_min_extent(n->min, n->extent)});
      add(n->body, lets, loops);
      return loops.pop_back();
    }
    const bool is_certain = s.as<Seq>() || s.as<Let>() || s.as<Allocate>() || s.as<Attr>();
    if (is_certain) for_each_statement(s, [&](const Stmt& child) { add(child, lets, loops); });
  }

  /// Whether the elements in `stored` include `index`. Tries to replace the variables of the
  /// store's loops, from loop number `loop` on, by variables of the loops around the current
  /// statement. `first` is the index of the store after earlier replacements.
  bool covers(const Stored& stored, std::size_t loop, const Expr& first, const Expr& index,
              const arith::Facts& facts) const {
    if (loop == stored.loops.size())
      return first.dtype() == index.dtype() && is_zero(arith::simplify(first - index, facts));
    const RangedVar& of_store = stored.loops[loop];
    if (!uses_var(first, of_store.var))
      return arith::can_prove(of_store.range.extent >= 1, facts) &&
             covers(stored, loop + 1, first, index, facts);
    return std::ranges::any_of(loops_, [&](const RangedVar& around) {
      const Range &inner = around.range, &outer = of_store.range;
      if (around.var.dtype() != of_store.var.dtype()) return false;
      const bool is_within = (structural_equal(inner.min, outer.min) &&
                              structural_equal(inner.extent, outer.extent)) ||
                             (arith::can_prove(around.var >= outer.min, facts) &&
                              arith::can_prove(around.var < outer.min + outer.extent, facts));
      if (!is_within) return false;
      return covers(stored, loop + 1, substitute(first, {{&of_store.var.node(), around.var}}),
                    index, facts);
    });
  }

  std::vector<Stored> stores_;
  std::vector<Var> memories_;
  std::vector<RangedVar> loops_;
};

// ---- stored elements ----------------------------------------------------------------------------

// ---- conversion ---------------------------------------------------------------------------------

/// Returns the accumulations with selected terms; nullopt unless `s` consists of accumulations into
/// elements that provably exist and belong to the task, at indices that read no memory.
std::optional<Stmt> chosen(const Stmt& s, const Expr& condition, const arith::Facts& facts,
                           const StoredByTask& own) {
  if (const Seq* n = s.as<Seq>()) {
    std::vector<Stmt> parts;
    for (const Stmt& part : n->stmts) {
      std::optional<Stmt> one = chosen(part, condition, facts, own);
      if (!one) return std::nullopt;
      parts.push_back(std::move(*one));
    }
    return make_seq(std::move(parts));
  }
  const Store* n = s.as<Store>();
  // The store becomes unconditional. Its index must therefore be in bounds and without loads, which
  // the condition may guard.
  if (!n || n->indices.size() != 1 || effect_of(n->indices[0]) != Effect::Pure ||
      !is_inside(n->buffer, n->indices[0], facts) || !own.has(n->buffer, n->indices[0], facts))
    return std::nullopt;
  const std::optional<Accumulation> step = read_accumulation(*n, {});
  if (!step || reads(condition, n->buffer->data)) return std::nullopt;
  const DataType type = step->term.dtype();
  const Expr element = make_load(n->buffer, {n->indices[0]});
  const auto chosen_or = [&](const Expr& value, const Expr& otherwise) {
    return make_call(type, Intrin::if_then_else, {condition, value, otherwise});
  };
  // A float value with several terms is selected as a whole, which keeps the order of its
  // additions.
  const Binary& sum = *n->value.as<Binary>();
  const bool is_one_term = step->term.same_as(sum.a) || step->term.same_as(sum.b);
  const Expr value =
      type.is_floating() && !is_one_term
          ? chosen_or(n->value, element)
          : make_binary(step->op, element, chosen_or(step->term, identity_of(step->op, type)));
  return make_store(n->buffer, value, {n->indices[0]});
}

/// If-converts the accumulations of a loop body: makes them unguarded by selecting the accumulated
/// term. An `if` stays if it guards other statements too, if an accumulated element is not provably
/// in bounds, or if the task does not provably store that element unconditionally (or own its
/// memory). `facts` hold around the body.
Stmt with_chosen_terms(const Stmt& body, const arith::Facts& facts, const StoredByTask& own) {
  return rewrite(body, [&](const If& n, const Stmt&) -> std::optional<Stmt> {
    return n.else_case ? std::nullopt : chosen(n.then_case, n.condition, facts, own);
  });
}

// ---- index-set splitting ----

// Index-set splitting: a loop with a condition that changes once becomes two loops, and the
// condition is constant in each of them.
//
//   for (i, 0, 16) { B[i] = if_then_else(1 <= i && c, A[i - 1], 0) }
// becomes
//   for (i, 0, 1) { B[i] = 0 }
//   for (i, 1, 16) { B[i] = if_then_else(c, A[i - 1], 0) }

constexpr std::size_t kMaxNodesOfACopiedLoop = 400;

/// A comparison, the first iteration in which it no longer has its initial value, and its initial
/// value.
using Boundary = std::tuple<Expr, Expr, bool>;

class BoundaryFinder {
 public:
  BoundaryFinder(const For& loop, const arith::Facts& facts) : var_(loop.var), facts_(facts) {}

  std::optional<Boundary> find(const Stmt& s) {
    stmt(s);
    return std::move(found_);
  }

 private:
  void stmt(const Stmt& s) {
    if (found_) return;
    if (const Let* n = s.as<Let>()) set(lets_, n->var, substitute(n->value, lets_));
    if (const For* n = s.as<For>()) inner_.push_back(n->var);
    if (const If* n = s.as<If>()) condition(n->condition);
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  }

  void expr(const Expr& e) {
    if (const Call* n = as_call(e, Intrin::if_then_else)) condition(n->args[0]);
    if (!found_) for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  void condition(const Expr& e) {
    if (found_) return;
    if (const Call* n = as_call(e, Intrin::likely)) return condition(n->args[0]);
    if (const Not* n = e.as<Not>()) return condition(n->a);
    const Binary* n = e.as<Binary>();
    if (!n) return;
    if (n->op == BinaryOp::And || n->op == BinaryOp::Or) {
      condition(n->a);
      return condition(n->b);
    }
    comparison(*n, e);
  }

  void comparison(const Binary& n, const Expr& e) {
    if (!n.a.dtype().is_int() || n.a.dtype().is_vector()) return;
    // Writes the comparison in the form 0 <= rest + step*var.
    const Expr one = make_int(n.a.dtype(), 1);
    std::optional<Expr> slack;
    if (n.op == BinaryOp::Lt) slack = n.b - n.a - one;
    if (n.op == BinaryOp::Le) slack = n.b - n.a;
    if (n.op == BinaryOp::Gt) slack = n.a - n.b - one;
    if (n.op == BinaryOp::Ge) slack = n.a - n.b;
    if (!slack || n.a.dtype() != var_.dtype()) return;
    slack = substitute(*slack, lets_);
    // If the sum wraps, the comparison may change its value several times.
    if (arith::wraps(*slack, facts_)) return;
    const std::optional<Expr> step = step_of(*slack, var_);
    const std::optional<std::int64_t> by = step ? constant_int(*step) : std::nullopt;
    if (by != 1 && by != -1) return;
    const Expr zero = make_int(var_.dtype(), 0);
    const Expr rest = arith::simplify(substitute(*slack, {{&var_.node(), zero}}));
    if (!is_fixed(rest)) return;
    // For step -1, 0 <= rest - var holds up to and including `rest`. For step 1, 0 <= rest + var
    // holds from `-rest` on.
    found_ = *by < 0 ? Boundary{e, arith::simplify(rest + one), true}
                     : Boundary{e, arith::simplify(zero - rest), false};
  }

  bool is_fixed(const Expr& e) const {
    return !contains<Load>(e) && !contains<Call>(e) && !uses_var(e, var_) &&
           std::ranges::none_of(inner_, [&](const Var& var) { return uses_var(e, var); });
  }

  Var var_;
  const arith::Facts& facts_;
  std::vector<Var> inner_;
  VarMap lets_;
  std::optional<Boundary> found_;
};

/// Returns the body with the comparison replaced by the constant `holds`, and folded.
Stmt given_comparison(const Stmt& body, const Expr& comparison, bool holds) {
  return rewrite(
      body,
      [&](const Binary& n, const Expr& self) -> std::optional<Expr> {
        if (structural_equal(self, comparison)) return holds ? make_true() : make_false();
        const bool is_logic = n.op == BinaryOp::And || n.op == BinaryOp::Or;
        if (!is_logic || (!is_constant(n.a) && !is_constant(n.b))) return std::nullopt;
        return fold(n.op, n.a, n.b);
      },
      [&](const Not& n, const Expr&) -> std::optional<Expr> {
        if (is_true(n.a)) return make_false();
        if (is_false(n.a)) return make_true();
        return std::nullopt;
      },
      [&](const Call& n, const Expr&) -> std::optional<Expr> {
        if (n.is(Intrin::likely) && is_constant(n.args[0])) return n.args[0];
        if (!n.is(Intrin::if_then_else)) return std::nullopt;
        if (is_true(n.args[0])) return n.args[1];
        if (is_false(n.args[0])) return n.args[2];
        return std::nullopt;
      },
      [&](const If& n, const Stmt&) -> std::optional<Stmt> {
        if (is_true(n.condition)) return n.then_case;
        if (is_false(n.condition)) return n.else_case ? *n.else_case : make_nop();
        return std::nullopt;
      });
}

/// Splits at the first comparison that changes its value at most once and guards a branch or a
/// choice. Returns the loop over the iterations before the split point and the loop over the
/// remaining ones; either loop may be empty. Returns nullopt if there is no such comparison, or if
/// the body exceeds a few hundred nodes. `facts` hold around the loop.
std::optional<std::array<For, 2>> part_at_condition(const For& loop, const arith::Facts& facts) {
  if (node_count(loop.body) > kMaxNodesOfACopiedLoop) return std::nullopt;
  const std::optional<Boundary> boundary = BoundaryFinder(loop, facts).find(loop.body);
  if (!boundary) return std::nullopt;
  const Expr end = loop.min + loop.extent;
  const auto& [comparison, change, holds_before] = *boundary;
  const Expr point = arith::simplify(max(min(change, end), loop.min));
  const Stmt before = given_comparison(loop.body, comparison, holds_before);
  const Stmt after = given_comparison(loop.body, comparison, !holds_before);
  const auto made = [&](const Expr& from, const Expr& to, const Stmt& body) {
    const Stmt copy =
        fresh_copy(make_stmt(For{loop.var, from, arith::simplify(to - from), loop.kind, body}));
    return *copy.as<For>();
  };
  return std::array{made(loop.min, point, before), made(point, end, after)};
}

/// The minimum width: shorter vectors gain less than their setup costs.
constexpr int kMinLanes = 4;
/// The minimum width of the tail of a vector that the schedule has chosen. Even short vectors allow
/// the enclosing loop to accumulate in registers.
constexpr int kMinLanesOfATail = 2;
/// The maximum number of vectors per iteration for a body with few operations. Several vectors
/// amortize the loop overhead and shorten the dependence chains of accumulators.
constexpr int kMaxVectors = 4;
/// The maximum number of condition boundaries at which a loop is split.
constexpr int kMaxBoundaries = 3;
/// The minimum number of operations per gathered or scattered vector, whose elements are moved one
/// by one.
constexpr int kOperationsPerGather = 4;
/// Masked accesses may become one branch per lane. A loop is then vectorized only if the schedule
/// requests it, and if an iteration has at least this number of operations.
constexpr int kOperationsPerBranch = 8;

/// Returns the values of the lets in the statement, inlined into each other.
VarMap values_of_lets(const Stmt& s) {
  VarMap lets;
  walk(s, [&](const Let& let) { set(lets, let.var, substitute(let.value, lets)); });
  return lets;
}

/// An accumulation, and the local memory in which each lane accumulates separately.
using LaneAccumulator = std::pair<Accumulation, Buffer>;

/// Redirects the accumulations of a loop body to the element `lane` of the lanes' memory.
Stmt redirected(const Stmt& body, const std::vector<LaneAccumulator>& accumulators,
                const Expr& lane) {
  const VarMap lets = values_of_lets(body);
  return rewrite(body, [&](const Store& n, const Stmt&) -> std::optional<Stmt> {
    const Expr index = substitute(n.indices[0], lets);
    for (const auto& [target, memory] : accumulators) {
      if (!target.buffer->data.same_as(n.buffer->data) || !structural_equal(target.index, index))
        continue;
      const Accumulation step = *read_accumulation(n, lets);
      return make_store(memory, make_binary(step.op, make_load(memory, {lane}), step.term), {lane});
    }
    return std::nullopt;
  });
}

class LoopVectorizer {
 public:
  LoopVectorizer(const PrimFunc& func, const PassOptions& options, bool may_reassociate)
      : autotuned_(func, options),
        vector_bits_(options.vector_registers->bits),
        may_reassociate_(may_reassociate) {}

  PrimFunc function(const PrimFunc& func) {
    walk(
        func.body, [&](const For& loop) { defined_.insert(&loop.var.node()); },
        [&](const Let& let) { defined_.insert(&let.var.node()); });
    return with_body(func, stmt(func.body));
  }

 private:
  Stmt stmt(const Stmt& s) {
    if (const For* loop = s.as<For>())
      facts_.bind(loop->var, Range::from_min_extent(loop->min, loop->extent), true);
    if (const Let* let = s.as<Let>(); let && let->var.dtype().is_int()) {
      if (!reads_memory(let->value))
        facts_.bind(let->var, let->value, true);
      else if (arith::wraps(let->value, facts_))
        arith::bind_data(let->var, facts_);
    }
    const Attr* attr = s.as<Attr>();
    const bool is_region = attr && attr->key == "parallel_launch_point";
    const bool was_in_region = std::exchange(in_parallel_region_, in_parallel_region_ || is_region);
    const bool outer = std::exchange(found_vectors_, false);
    const For* loop_around = s.as<For>();
    const bool is_wanted = loop_around && (autotuned_.contains(s) || is_serial_lanes(*loop_around));
    const bool begins_task = is_region || (attr && attr->kind == AttrKind::ThreadExtent) ||
                             (loop_around && loop_around->kind == ForKind::Parallel);
    const StoredByTask of_outer_task = begins_task ? std::exchange(own_, {}) : StoredByTask();
    const StoredByTask::Mark mark = own_.mark();
    if (loop_around) own_.enter(*loop_around);
    if (const Allocate* memory = s.as<Allocate>()) own_.add_memory(memory->data);
    const Stmt inside = map_children(
        s,
        [&](const Expr& e) {
          found_vectors_ = found_vectors_ || has_vectors(e);
          return e;
        },
        [&](const Stmt& child) {
          Stmt result = stmt(child);
          if (s.as<Seq>()) own_.add_stores_of(child);
          return result;
        });
    Stmt result = inside;
    if (const For* loop = inside.as<For>(); loop && is_wanted && !found_vectors_) {
      if (std::optional<Stmt> vectors = vectorized(*loop)) {
        result = std::move(*vectors);
        found_vectors_ = true;
      }
    }
    found_vectors_ = found_vectors_ || outer;
    in_parallel_region_ = was_in_region;
    own_.leave(mark);
    if (begins_task) own_ = of_outer_task;
    return result;
  }

  static bool has_vectors(const Expr& e) {
    return e.dtype().is_vector() || any_child(e, has_vectors);
  }

  static bool reads_memory(const Expr& e) { return contains<Load>(e) || contains<Call>(e); }

  std::optional<Stmt> vectorized(const For& loop, int parted = 0) {
    const bool is_parallel = loop.kind == ForKind::Parallel && !in_parallel_region_;
    if (loop.kind != ForKind::Serial && !is_parallel) return std::nullopt;
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    const bool is_lanes = is_serial_lanes(loop);
    const int min_lanes = is_lanes ? kMinLanesOfATail : kMinLanes;
    if (extent && *extent < min_lanes) return std::nullopt;
    if (const std::vector<Var> strides = strides_of(loop); !strides.empty())
      return where_compact(loop, strides, parted);
    // Removing a condition is better than masking with it, unless the condition is a vector and the
    // target's registers have masks.
    if (!(is_lanes && vector_bits_ >= 512) && parted < kMaxBoundaries && !is_parallel)
      if (std::optional<Stmt> parts = in_parts(loop, parted)) return parts;
    const For chosen{loop.var,
                     loop.min,
                     loop.extent,
                     loop.kind,
                     with_chosen_terms(with_unrolled_channels(loop), facts_, own_),
                     loop.traits};
    const std::optional<ScalarLoop> plain = read_scalar_loop(chosen, facts_, may_reassociate_);
    if (!plain || !gains(*plain, is_lanes)) return std::nullopt;
    // A parallel loop with accumulators or inner loops is not vectorized, because too few
    // iterations would remain for the threads.
    if (is_parallel && (plain->has_loops || !plain->accumulations.empty())) return std::nullopt;
    const int lanes = lanes_for(*plain, extent);
    if (lanes < min_lanes) return std::nullopt;
    return split_up(chosen, *plain, lanes);
  }

  /// Returns the body with short loops over interleaved elements unrolled. The unrolled stores then
  /// fill each other's gaps. An example of such a loop:
  ///   for (c, 0, 3) { B[i*3 + c] = ... }
  static Stmt with_unrolled_channels(const For& loop) {
    const VarMap lets = values_of_lets(loop.body);
    return rewrite(loop.body, [&](const For& inner, const Stmt&) -> std::optional<Stmt> {
      const std::int64_t channels = constant_int(inner.extent).value_or(0);
      if (inner.kind != ForKind::Serial || channels < 2 || channels > 4) return std::nullopt;
      bool is_interleaved = false;
      walk(inner.body, [&](const Store& store) {
        const Expr index = substitute(store.indices.back(), lets);
        const std::optional<Expr> stride = step_of(index, loop.var),
                                  step = step_of(index, inner.var);
        is_interleaved = is_interleaved ||
                         (stride && step && is_one(*step) && constant_int(*stride) == channels);
      });
      if (!is_interleaved) return std::nullopt;
      std::vector<Stmt> parts;
      for (std::int64_t n = 0; n < channels; ++n) {
        const Expr channel = arith::simplify(inner.min + make_int(inner.var.dtype(), n));
        parts.push_back(fresh_copy(inner.body, {{&inner.var.node(), channel}}));
      }
      return make_seq(std::move(parts));
    });
  }

  /// Returns the variables that are the distance between the elements of consecutive iterations.
  /// Only variables defined outside of all loops and lets, such as array strides, qualify.
  std::vector<Var> strides_of(const For& loop) const {
    std::vector<Var> strides;
    const VarMap lets = values_of_lets(loop.body);
    // A copied loop has new inner loop variables, which `defined_` does not contain.
    std::unordered_set<const ExprNode*> inner;
    walk(loop.body, [&](const For& n) { inner.insert(&n.var.node()); });
    const auto note = [&](const Expr& index) {
      const std::optional<Expr> step = step_of(substitute(index, lets), loop.var);
      if (!step || !step->as<VarNode>() || defined_.contains(&step->node()) ||
          inner.contains(&step->node()))
        return;
      const bool is_known =
          std::ranges::any_of(strides, [&](const Var& other) { return other.same_as(*step); });
      if (!is_known) strides.push_back(Var::of(*step));
    };
    walk(
        loop.body, [&](const Load& load) { note(load.indices.back()); },
        [&](const Store& store) { note(store.indices.back()); });
    return strides;
  }

  /// Versions the loop. The vectorized loop runs if all `strides` are 1, which is true in nearly
  /// every call. The original loop runs otherwise.
  std::optional<Stmt> where_compact(const For& loop, const std::vector<Var>& strides, int parted) {
    VarMap ones;
    std::vector<Expr> conditions;
    for (const Var& stride : strides) {
      set(ones, stride, make_int(stride.dtype(), 1));
      conditions.push_back(stride == make_int(stride.dtype(), 1));
    }
    const Stmt compact = fresh_copy(
        make_stmt(For{loop.var, loop.min, loop.extent, loop.kind, substitute(loop.body, ones)}));
    const std::optional<Stmt> vectors = vectorized(*compact.as<For>(), parted);
    if (!vectors) return std::nullopt;
    return make_stmt(If{conjunction(conditions), *vectors, make_stmt(loop)});
  }

  /// Splits the loop where a condition changes. Returns nullopt if neither part can be vectorized.
  std::optional<Stmt> in_parts(const For& loop, int parted) {
    const auto halves = part_at_condition(loop, facts_);
    if (!halves) return std::nullopt;
    bool has_vectors = false;
    std::vector<Stmt> parts;
    for (const For& half : *halves) {
      if (constant_int(half.extent).value_or(1) <= 0) continue;
      std::optional<Stmt> vectors = vectorized(half, parted + 1);
      has_vectors |= vectors.has_value();
      parts.push_back(vectors ? std::move(*vectors) : make_stmt(half));
    }
    return has_vectors ? std::optional(make_seq(std::move(parts))) : std::nullopt;
  }

  /// Whether masked accesses to elements of `bits` bits are instructions: 32-bit elements in
  /// 256-bit registers, and any element from 512 bits on. Otherwise each lane becomes a branch.
  bool has_masks(int bits) const {
    return vector_bits_ >= 512 || (vector_bits_ >= 256 && bits >= 32);
  }

  bool gains(const ScalarLoop& plain, bool is_lanes) const {
    if (plain.masked_bits && !has_masks(*plain.masked_bits))
      return is_lanes && plain.operations >= kOperationsPerBranch;
    if (plain.contiguous + plain.strided == 0 && plain.operations == 0) return false;
    return plain.operations >= kOperationsPerGather * (plain.gathered + plain.scattered);
  }

  /// Whether vectors may have any number of lanes without loss: the registers have masks, all
  /// accesses are contiguous, and there are no accumulators.
  bool has_any_width(const ScalarLoop& plain) const {
    return vector_bits_ >= 512 && plain.accumulations.empty() &&
           plain.strided + plain.gathered + plain.scattered + plain.interleaved == 0;
  }

  /// Returns the number of lanes that fill a register, reduced until it does not exceed the extent.
  int lanes_for(const ScalarLoop& plain, std::optional<std::int64_t> extent) const {
    int lanes = vector_bits_ / plain.widest_bits;
    if (extent && lanes > *extent && has_any_width(plain)) return static_cast<int>(*extent);
    while (extent && lanes > *extent) lanes /= 2;
    return lanes;
  }

  static int vectors_for(const ScalarLoop& plain) {
    if (plain.has_loops || plain.gathered + plain.scattered + plain.interleaved > 0) return 1;
    if (plain.strided > 0) return 2;
    return plain.operations <= 8 ? kMaxVectors : plain.operations <= 20 ? 2 : 1;
  }

  Stmt split_up(const For& loop, const ScalarLoop& plain, int lanes) const {
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    int widest = lanes * (loop.kind == ForKind::Parallel ? 1 : vectors_for(plain));
    while (extent && widest > *extent) widest /= 2;
    // Narrower vectors for the tail do not pay in two cases: accumulators, which are combined after
    // every chunk, and long bodies with inner loops, whose conversion takes long.
    const bool has_narrower = plain.accumulations.empty() &&
                              (!plain.has_loops || node_count(loop.body) <= kMaxNodesOfACopiedLoop);
    std::vector<int> widths = {widest};
    if (widest > lanes) widths.push_back(lanes);
    if (extent && has_any_width(plain)) {
      if (const auto tail = static_cast<int>(*extent % lanes); tail > 1) widths.push_back(tail);
    } else if (has_narrower && extent) {
      while (widths.back() / 2 >= kMinLanes) widths.push_back(widths.back() / 2);
    } else if (has_narrower && widths.back() > kMinLanes) {
      widths.push_back(kMinLanes);
    }

    const DataType type = loop.var.dtype();
    Expr begin = loop.min;
    Expr left = extent ? loop.extent : max(loop.extent, make_int(type, 0));
    std::vector<Stmt> parts;
    for (int width : widths) {
      const Expr count = arith::simplify(floordiv(left, make_int(type, width)));
      if (is_zero(count)) continue;
      // The tail of a parallel loop is short, so the thread that started the loop runs it.
      const ForKind kind = parts.empty() ? loop.kind : ForKind::Serial;
      parts.push_back(stretch(loop, plain, width, begin, count, kind));
      const Expr done = count * make_int(type, width);
      begin = arith::simplify(begin + done);
      left = arith::simplify(left - done);
    }
    if (!is_zero(left))
      parts.push_back(
          fresh_copy(make_stmt(For{loop.var, begin, left, ForKind::Serial, loop.body})));
    return make_seq(std::move(parts));
  }

  /// Returns the code of consecutive vectors: `count` vectors of `lanes` iterations each, starting
  /// at iteration `begin`. `kind` is the kind of the loop over the vectors.
  static Stmt stretch(const For& loop, const ScalarLoop& plain, int lanes, const Expr& begin,
                      const Expr& count, ForKind kind) {
    std::vector<LaneAccumulator> accumulators;
    for (const Accumulation& target : plain.accumulations)
      accumulators.emplace_back(target, decl_buffer({Expr(lanes)}, target.buffer->dtype.element(),
                                                    {.name = "lanes", .scope = "local"}));
    const DataType type = loop.var.dtype();
    const Var round = loop.var.fresh();
    const bool is_once = is_one(count);
    const Expr first = is_once ? begin : Expr(round) * make_int(type, lanes) + begin;
    const std::optional<Stmt> vectors =
        in_lanes(redirected(loop.body, accumulators, loop.var - first), {loop.var, first, lanes},
                 {.masks_branches = true, .simplifies_indices = true});
    internal_check(vectors.has_value(), "a scalar loop that lanes cannot run");
    Stmt result = fresh_copy(*vectors);
    if (!is_once) result = make_stmt(For{round, make_int(type, 0), count, kind, result});
    for (const LaneAccumulator& one : accumulators) result = accumulated(one, result, lanes);
    // A chunk without iterations must not access the accumulated element, which may not exist.
    if (!accumulators.empty() && !constant_int(count))
      result = make_stmt(If{count > make_int(type, 0), result, std::nullopt});
    return result;
  }

  /// Adds to `s` the allocation and initialization of an accumulator before it, and the final
  /// combination after it.
  static Stmt accumulated(const LaneAccumulator& one, const Stmt& s, int lanes) {
    const auto& [target, memory] = one;
    const DataType element = memory->dtype;
    const Expr all = make_ramp(Expr(0), Expr(1), lanes);
    const Stmt start =
        make_store(memory, make_broadcast(identity_of(target.op, element), lanes), {all});
    const Stmt end = combined(target, make_load(memory, {all}));
    return allocated(memory, make_seq({start, s, end}));
  }

  /// Combines the element with all lanes in a tree: each step adds the two halves of the vector.
  static Stmt combined(const Accumulation& target, const Expr& lanes) {
    const int count = lanes.dtype().lanes;
    const Var whole("lanes", lanes.dtype());
    if (count == 1)
      return make_store(target.buffer,
                        make_binary(target.op, make_load(target.buffer, {target.index}), lanes),
                        {target.index});
    std::vector<Expr> low, high;
    for (int lane = 0; lane < count / 2; ++lane) {
      low.emplace_back(lane);
      high.emplace_back(lane + count / 2);
    }
    const Expr halves =
        make_binary(target.op, make_shuffle({whole}, low), make_shuffle({whole}, high));
    return make_stmt(Let{whole, lanes, combined(target, halves)});
  }

  AutotunedLoops autotuned_;
  arith::Facts facts_;
  StoredByTask own_;
  /// The variables of the enclosing loops and lets.
  std::unordered_set<const ExprNode*> defined_;
  int vector_bits_;
  bool may_reassociate_;
  bool found_vectors_ = false;
  /// Whether the current loop is inside a parallel region, where every thread runs the serial
  /// loops.
  bool in_parallel_region_ = false;
};

PrimFunc vectorized(const PrimFunc& func, const PassOptions& options, bool may_reassociate) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  return LoopVectorizer(func, options, may_reassociate).function(func);
}

}  // namespace

PrimFunc auto_vectorize(const PrimFunc& func, const PassOptions& options) {
  return vectorized(func, options, false);
}

PrimFunc reassociate_accumulations(const PrimFunc& func, const PassOptions& options) {
  return vectorized(func, options, true);
}

}  // namespace tenon::lowering
