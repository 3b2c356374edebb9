#include "lower/cpu/plain_vectorizer.h"

#include <algorithm>

#include "lower/cpu/autotuned_loops.h"
#include "lower/cpu/chosen_terms.h"
#include "lower/cpu/loop_boundary.h"
#include "lower/cpu/plain_lanes.h"
#include "lower/cpu/vector_body.h"
#include "lower/loops/lanes.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Shorter vectors gain less than it costs to set them up.
constexpr int kMinLanes = 4;
/// Vectors that an iteration of few operations handles at once: what a loop itself costs is shared
/// by them, and accumulators wait for each other less.
constexpr int kMostVectors = 4;
/// A loop is parted at so many points where conditions change.
constexpr int kMostBoundaries = 3;
/// Values in a gathered or scattered vector are moved one by one. So many operations pay for one.
constexpr int kOperationsPerGather = 4;
/// Without masks lanes are stored under branches, one each. So many operations pay for them where
/// the schedule asks for vectors.
constexpr int kOperationsPerBranch = 8;

/// A run of whole vectors: `count` of them from `begin` on.
struct Stretch {
  int lanes;
  Expr begin;
  Expr count;
  ForKind kind;
};

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
    PrimFunc result = func;
    result.body = stmt(func.body);
    return result;
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
    if (e.dtype().is_vector()) return true;
    bool found = false;
    for_each_child(e, [&](const Expr& child) { found = found || has_vectors(child); });
    return found;
  }

  static bool reads_memory(const Expr& e) { return contains<Load>(e) || contains<Call>(e); }

  std::optional<Stmt> vectorized(const For& loop, int parted = 0) {
    const bool is_parallel = loop.kind == ForKind::Parallel && !in_parallel_region_;
    if (loop.kind != ForKind::Serial && !is_parallel) return std::nullopt;
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    if (extent && *extent < kMinLanes) return std::nullopt;
    if (const std::vector<Var> strides = strides_of(loop); !strides.empty())
      return where_compact(loop, strides, parted);
    // No condition at all is better than one that picks lanes, unless these are a vector of which
    // registers have masks.
    const bool is_lanes = is_serial_lanes(loop);
    if (!(is_lanes && vector_bits_ >= 512) && parted < kMostBoundaries && !is_parallel)
      if (std::optional<Stmt> parts = in_parts(loop, parted)) return parts;
    const For chosen{loop.var,
                     loop.min,
                     loop.extent,
                     loop.kind,
                     with_chosen_terms(with_unrolled_channels(loop), facts_, own_),
                     loop.traits};
    const std::optional<PlainLoop> plain = read_plain_loop(chosen, facts_, may_reassociate_);
    if (!plain || !gains(*plain, is_lanes)) return std::nullopt;
    // Whole loops as lanes would leave too few iterations for the threads.
    if (is_parallel && (plain->has_loops || !plain->accumulations.empty())) return std::nullopt;
    const int lanes = lanes_for(*plain, extent);
    if (lanes < kMinLanes) return std::nullopt;
    return split_up(chosen, *plain, lanes);
  }

  /// The body with short loops over interleaved elements unrolled, `for (c, 0, 3) { B[i*3 + c] =
  /// ... }`: the lanes' stores then fill each other's gaps.
  static Stmt with_unrolled_channels(const For& loop) {
    VarMap lets;
    walk(loop.body, [&](const Let& let) { set(lets, let.var, substitute(let.value, lets)); });
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
        VarMap channel;
        set(channel, inner.var, arith::simplify(inner.min + make_int(inner.var.dtype(), n)));
        parts.push_back(fresh_copy(inner.body, std::move(channel)));
      }
      return make_seq(std::move(parts));
    });
  }

  /// The strides of arrays, which are known where the function begins, between the elements of
  /// neighbouring iterations.
  std::vector<Var> strides_of(const For& loop) const {
    std::vector<Var> strides;
    VarMap lets;
    // Copies have loops of their own.
    std::unordered_set<const ExprNode*> inner;
    walk(loop.body, [&](const For& n) { inner.insert(&n.var.node()); });
    const auto note = [&](const Expr& index) {
      const std::optional<Expr> step = step_of(substitute(index, lets), loop.var);
      if (!step || !step->as<VarNode>() || defined_.contains(&step->node()) ||
          inner.contains(&step->node()))
        return;
      const bool is_known = std::any_of(strides.begin(), strides.end(),
                                        [&](const Var& other) { return other.same_as(*step); });
      if (!is_known) strides.push_back(Var::of(*step));
    };
    walk(
        loop.body, [&](const Let& let) { set(lets, let.var, substitute(let.value, lets)); },
        [&](const Load& load) { note(load.indices.back()); },
        [&](const Store& store) { note(store.indices.back()); });
    return strides;
  }

  /// Vectors for arrays whose elements lie side by side, as nearly all do, and the loop as it was
  /// for others.
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
    Expr is_compact = conditions[0];
    for (std::size_t n = 1; n < conditions.size(); ++n) is_compact = is_compact && conditions[n];
    return make_stmt(If{is_compact, *vectors, make_stmt(loop)});
  }

  /// A loop of which conditions change on the way as several loops, where any of them then has
  /// vectors.
  std::optional<Stmt> in_parts(const For& loop, int parted) {
    const std::optional<PartedLoop> halves = part_at_condition(loop, facts_);
    if (!halves) return std::nullopt;
    bool has_vectors = false;
    std::vector<Stmt> parts;
    for (const For* half : {&halves->before, &halves->after}) {
      if (constant_int(half->extent).value_or(1) <= 0) continue;
      std::optional<Stmt> vectors = vectorized(*half, parted + 1);
      has_vectors |= vectors.has_value();
      parts.push_back(vectors ? std::move(*vectors) : make_stmt(*half));
    }
    return has_vectors ? std::optional(make_seq(std::move(parts))) : std::nullopt;
  }

  /// Masked loads and stores are instructions for registers of 256 bits and elements of 32, and for
  /// any from 512 bits on; without them they are branches, one a lane.
  bool has_masks(int bits) const {
    return vector_bits_ >= 512 || (vector_bits_ >= 256 && bits >= 32);
  }

  bool gains(const PlainLoop& plain, bool is_lanes) const {
    if (plain.masked_bits && !has_masks(*plain.masked_bits))
      return is_lanes && plain.operations >= kOperationsPerBranch;
    if (plain.contiguous + plain.strided == 0 && plain.operations == 0) return false;
    return plain.operations >= kOperationsPerGather * (plain.gathered + plain.scattered);
  }

  /// As many as the registers hold, and no more than there are iterations.
  int lanes_for(const PlainLoop& plain, std::optional<std::int64_t> extent) const {
    int lanes = vector_bits_ / plain.widest_bits;
    while (extent && lanes > *extent) lanes /= 2;
    return lanes;
  }

  static int vectors_for(const PlainLoop& plain) {
    if (plain.has_loops || plain.gathered + plain.scattered + plain.interleaved > 0) return 1;
    if (plain.strided > 0) return 2;
    return plain.operations <= 8 ? kMostVectors : plain.operations <= 20 ? 2 : 1;
  }

  Stmt split_up(const For& loop, const PlainLoop& plain, int lanes) const {
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    int widest = lanes * (loop.kind == ForKind::Parallel ? 1 : vectors_for(plain));
    while (extent && widest > *extent) widest /= 2;
    // Accumulators are combined after every stretch, and a body with loops is long.
    const bool is_short = plain.accumulations.empty() && !plain.has_loops && extent.has_value();
    std::vector<int> widths = {widest};
    if (widest > lanes) widths.push_back(lanes);
    if (is_short)
      while (widths.back() / 2 >= kMinLanes) widths.push_back(widths.back() / 2);
    else if (plain.accumulations.empty() && !plain.has_loops && widths.back() > kMinLanes)
      widths.push_back(kMinLanes);

    const DataType type = loop.var.dtype();
    Expr begin = loop.min;
    Expr left = extent ? loop.extent : max(loop.extent, make_int(type, 0));
    std::vector<Stmt> parts;
    for (int width : widths) {
      const Expr count = arith::simplify(floordiv(left, make_int(type, width)));
      if (is_zero(count)) continue;
      // What a parallel loop leaves over is little, and done by the thread that started it.
      const ForKind kind = parts.empty() ? loop.kind : ForKind::Serial;
      parts.push_back(stretch(loop, plain, {width, begin, count, kind}));
      const Expr done = count * make_int(type, width);
      begin = arith::simplify(begin + done);
      left = arith::simplify(left - done);
    }
    if (!is_zero(left))
      parts.push_back(
          fresh_copy(make_stmt(For{loop.var, begin, left, ForKind::Serial, loop.body})));
    return make_seq(std::move(parts));
  }

  static Stmt stretch(const For& loop, const PlainLoop& plain, const Stretch& part) {
    std::vector<LaneAccumulator> accumulators;
    for (const Accumulation& target : plain.accumulations)
      accumulators.push_back(
          {target, decl_buffer({Expr(part.lanes)}, target.buffer->dtype.element(),
                               {.name = "lanes", .scope = "local"})});
    const DataType type = loop.var.dtype();
    const Var round = loop.var.fresh();
    const bool is_once = is_one(part.count);
    const Expr first = is_once ? part.begin : Expr(round) * make_int(type, part.lanes) + part.begin;
    Stmt result = as_lanes(loop, first, part.lanes, accumulators);
    if (!is_once) result = make_stmt(For{round, make_int(type, 0), part.count, part.kind, result});
    for (const LaneAccumulator& one : accumulators) result = accumulated(one, result, part);
    // Accumulators would be combined with what may not be there.
    if (!accumulators.empty() && !constant_int(part.count))
      result = make_stmt(If{part.count > make_int(type, 0), result, std::nullopt});
    return result;
  }

  /// The statement between the start of an accumulator and its combination.
  static Stmt accumulated(const LaneAccumulator& one, const Stmt& s, const Stretch& part) {
    const auto& [target, memory] = one;
    const DataType element = memory->dtype;
    const Expr all = make_ramp(Expr(0), Expr(1), part.lanes);
    const Stmt start =
        make_store(memory, make_broadcast(identity_of(target.op, element), part.lanes), {all});
    const Stmt end = combined(target, make_load(memory, {all}));
    return make_stmt(
        Allocate{memory->data, element, memory->shape, make_true(), make_seq({start, s, end})});
  }

  /// The element combined with all lanes: halves with halves.
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
  /// Variables of loops and lets.
  std::unordered_set<const ExprNode*> defined_;
  int vector_bits_;
  bool may_reassociate_;
  bool found_vectors_ = false;
  /// Inside of one, every thread runs what is no parallel loop.
  bool in_parallel_region_ = false;
};

}  // namespace

PrimFunc vectorized(const PrimFunc& func, const PassOptions& options, bool may_reassociate) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  return LoopVectorizer(func, options, may_reassociate).function(func);
}

}  // namespace tenon::lowering
