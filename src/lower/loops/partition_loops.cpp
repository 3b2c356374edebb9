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

#include "lower/loops/guards.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/pragma.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The number of nodes that small functions may add regardless of the growth factor.
constexpr std::size_t kFreeNodes = 20000;
/// The nesting depth of edges from which loops are not split at clamps.
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
    const bool outer = is_in_kernel_;
    is_in_kernel_ = true;
    const Stmt result = children(s);
    is_in_kernel_ = outer;
    return result;
  }

  /// Records the hint for the loop of its axis, directly inside the attribute. A copied loop has a
  /// new variable with the name of the axis. Hints in hand-written code name no axis.
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
  /// before or after it is empty anyway.
  Expr clamped(const Expr& end, const Expr& low, const Expr& high) const {
    Expr result = end;
    if (!proves(result <= high)) result = min(result, high);
    if (!proves(low <= result)) result = max(low, result);
    return arith::simplify(result, facts_);
  }

  Expr difference(const Expr& a, const Expr& b) const { return arith::simplify(a - b, facts_); }

  std::optional<Stmt> split(const For& loop) {
    // Vectors are not split at clamps: a partial vector is no better than a gather.
    const GuardKinds kinds{
        .every_condition = hinted_.contains(&loop.var.node()),
        .clamps = loop.kind != ForKind::Vectorized && edges_around_ < kMaxEdges && !is_in_kernel_};
    const std::optional<GuardSpan> span = find_span(loop, kinds, facts_);
    if (!span || has_barrier(loop.body)) return std::nullopt;
    const Expr last = arith::simplify(loop.min + loop.extent, facts_);
    const Expr begin = span->begin ? clamped(*span->begin, loop.min, last) : loop.min;
    const Expr end = span->end ? clamped(*span->end, begin, last) : last;
    // A constant trip count is worth more than the removal of a guard.
    if (is_constant(loop) && !(constant_int(begin) && constant_int(end))) return std::nullopt;
    const Expr before = difference(begin, loop.min), behind = difference(last, end);
    const bool has_before = !proves(before <= 0), has_behind = !proves(behind <= 0);
    if (proves(difference(end, begin) <= 0)) return std::nullopt;
    const std::size_t copies = int{has_before} + int{has_behind};
    if (!spend(copies == 0 ? 0 : copies * node_count(loop.body))) return std::nullopt;

    const Stmt main = without_settled(loop.body, span->settled);
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
    bool result = false;
    walk(s, [&](const Call& call) {
      result |= call.is(Intrin::tvm_thread_allreduce) || call.is(Intrin::tvm_storage_sync);
    });
    return result;
  }

  bool spend(std::size_t nodes) {
    if (nodes > nodes_left_) return false;
    nodes_left_ -= nodes;
    return true;
  }

  /// Returns the result of `make` for the first or last iterations of a loop. Loops inside several
  /// such edges are not split at clamps, which keeps the number of parts below 3^(number of loops).
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

  /// Returns `extent` iterations of the loop, starting at `begin`, as a separate loop that starts
  /// at 0.
  Stmt part(const For& loop, const Expr& begin, const Expr& extent, const Stmt& body) {
    const Expr length = cast(loop.var.dtype(), extent), offset = cast(loop.var.dtype(), begin);
    VarMap replaced;
    if (is_one(length)) {
      set(replaced, loop.var, offset);
      return stmt(fresh_copy(body, std::move(replaced)));
    }
    const Var var = loop.var.fresh();
    finished_.insert(&var.node());
    known_vars_.push_back(var);
    set(replaced, loop.var, var + offset);
    return stmt(make_stmt(For{var, make_int(var.dtype(), 0), length, loop.kind,
                              fresh_copy(body, std::move(replaced))}));
  }

  /// Branches inside a parallel loop instead of splitting it: the threads would synchronize between
  /// the parts.
  Stmt choose(const For& loop, const Expr& begin, const Expr& end, bool has_before, bool has_behind,
              const Stmt& main) {
    Expr inside = make_true();
    if (has_before) inside = inside && begin <= loop.var;
    if (has_behind) inside = inside && loop.var < end;
    Stmt rest = loop.body;
    const bool is_single =
        is_one(has_before ? difference(begin, loop.min) : difference(loop.min + loop.extent, end));
    if (is_single && has_before != has_behind) {
      // There is exactly one other iteration, so its index is known.
      VarMap replaced;
      set(replaced, loop.var, has_before ? loop.min : end);
      rest = fresh_copy(rest, std::move(replaced));
    } else {
      rest = fresh_copy(rest);
    }
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
  /// The loops of the pragma "loop_partition_hint", and the loops that are already parts.
  std::unordered_set<const ExprNode*> hinted_, finished_;
  /// Keeps the nodes in both sets alive.
  std::vector<Var> known_vars_;
};

}  // namespace

PrimFunc partition_loops(const PrimFunc& func, const PassOptions& options) {
  PrimFunc result = func;
  result.body = without_likely(Partitioner(func, options.partition).stmt(func.body));
  return result;
}

}  // namespace tenon::lowering
