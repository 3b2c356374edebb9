#include "lower/cpu/scalar_loop.h"

#include <algorithm>
#include <limits>

#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Limits of the body: comparing all pairs of accesses in a longer body costs more than vectors
/// gain.
constexpr std::size_t kMaxAccesses = 64;
constexpr std::size_t kMaxNodesOfPlainLoop = 2000;

class LoopReader {
 public:
  LoopReader(const For& loop, arith::Facts& facts, bool may_reassociate)
      : loop_(loop), facts_(facts), may_reassociate_(may_reassociate) {
    varying_.insert(&loop.var.node());
    facts_.bind(loop.var, Range::from_min_extent(loop.min, loop.extent), true);
  }

  std::optional<ScalarLoop> read() {
    if (!stmt(loop_.body) || all_.accesses.size() > kMaxAccesses) return std::nullopt;
    count_interleaved();
    if (!accumulations_are_alone() ||
        arith::find_conflict(all_, all_, arith::Relation::other_iteration(loop_), facts_))
      return std::nullopt;
    return std::move(result_);
  }

 private:
  // ---- statements and accesses ----

  bool stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return store(*n);
    if (const Seq* n = s.as<Seq>())
      return std::all_of(n->stmts.begin(), n->stmts.end(),
                         [&](const Stmt& part) { return stmt(part); });
    if (const Let* n = s.as<Let>()) {
      if (n->var.dtype().is_handle() || !value(n->value)) return false;
      if (varies(n->value)) varying_.insert(&n->var.node());
      set(lets_, n->var, substitute(n->value, lets_));
      return stmt(n->body);
    }
    if (const If* n = s.as<If>()) {
      if (!value(n->condition)) return false;
      count_operations(n->condition);
      const Evaluated outer = when_;
      if (varies(n->condition)) when_ = Evaluated::Sometimes;
      ++conditions_;
      const bool fine = stmt(n->then_case) && (!n->else_case || stmt(*n->else_case));
      --conditions_;
      when_ = outer;
      return fine;
    }
    const For* n = s.as<For>();
    if (!n || n->kind != ForKind::Serial || varies(n->min) || varies(n->extent)) return false;
    if (!value(n->min) || !value(n->extent)) return false;
    result_.has_loops = true;
    loops_.push_back(n);
    facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), true);
    return stmt(n->body);
  }

  bool store(const Store& n) {
    if (n.indices.size() != 1 || !n.value.dtype().is_scalar() || n.buffer->dtype.lanes != 1)
      return false;
    if (!value(n.indices[0])) return false;
    const Expr index = substitute(n.indices[0], lets_);
    if (!stands_still(index)) return false;
    if (!varies(n.indices[0])) return accumulation(n);
    if (!value(n.value)) return false;
    count_operations(n.value);
    measure(n.value.dtype());
    if (when_ == Evaluated::Sometimes) note_masked(n.buffer);
    add(arith::AccessKind::Write, n.buffer, index);
    return count_access(index, true);
  }

  bool accumulation(const Store& n) {
    const std::optional<AccumulationStep> step = read_accumulation(n, lets_);
    // The index may vary in an inner loop, and the element may not exist under a condition.
    if (!step || !loops_.empty() || conditions_ > 0) return false;
    const DataType type = n.value.dtype();
    if (type.is_floating() && !may_reassociate_) return false;
    if (!value(step->term)) return false;
    count_operations(step->term);
    ++result_.operations;
    measure(type);
    for (const Accumulation& other : result_.accumulations)
      if (other.op == step->target.op && other.buffer->data.same_as(n.buffer->data) &&
          structural_equal(other.index, step->target.index))
        return true;
    result_.accumulations.push_back(step->target);
    return true;
  }

  /// Records the reads of an expression; false unless it is a pure scalar computation.
  bool value(const Expr& e) {
    if (nodes_ += node_count(e); nodes_ > kMaxNodesOfPlainLoop) return false;
    certain_.clear();
    if (when_ == Evaluated::Always) note_certain(e);
    return can_be_lanes(e, when_);
  }

  /// Whether every lane evaluates the expression, or only the lanes that take a branch or a choice.
  enum class Evaluated : std::uint8_t { Always, Sometimes };

  void note_certain(const Expr& e) {
    if (const Load* n = e.as<Load>())
      for (const Expr& index : n->indices)
        certain_.emplace_back(n->buffer, substitute(index, lets_));
    if (const Call* n = as_call(e, Intrin::if_then_else)) return note_certain(n->args[0]);
    if (const Select* n = e.as<Select>()) return note_certain(n->condition);
    if (const Binary* n = e.as<Binary>(); n && is_logic(n->op)) return note_certain(n->a);
    for_each_child(e, [&](const Expr& child) { note_certain(child); });
  }

  static bool is_logic(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or; }

  bool can_be_lanes(const Expr& e, Evaluated when) {
    if (e.as<LetExpr>() || e.as<Ramp>() || e.as<Broadcast>() || e.as<Shuffle>()) return false;
    if (const Load* n = e.as<Load>(); n && !load(*n, when)) return false;
    if (const Call* n = e.as<Call>()) {
      if (!call(*n)) return false;
      if (n->is(Intrin::if_then_else) && varies(n->args[0]))
        return can_be_lanes(n->args[0], when) && can_be_lanes(n->args[1], Evaluated::Sometimes) &&
               can_be_lanes(n->args[2], Evaluated::Sometimes);
    }
    if (const Select* n = e.as<Select>(); n && varies(n->condition))
      return can_be_lanes(n->condition, when) && can_be_lanes(n->if_true, Evaluated::Sometimes) &&
             can_be_lanes(n->if_false, Evaluated::Sometimes);
    if (const Binary* n = e.as<Binary>(); n && is_logic(n->op) && varies(e))
      return can_be_lanes(n->a, when) && can_be_lanes(n->b, Evaluated::Sometimes);
    bool fine = true;
    for_each_child(e, [&](const Expr& child) { fine = fine && can_be_lanes(child, when); });
    return fine;
  }

  bool call(const Call& n) const {
    bool varies_in = false;
    for (const Expr& arg : n.args) varies_in |= varies(arg);
    if (varies_in) return n.is(Intrin::if_then_else) || has_vector_form(n);
    const Intrin* intrin = std::get_if<Intrin>(&n.callee);
    return intrin && effect_of(*intrin) == Effect::Pure;
  }

  bool load(const Load& n, Evaluated when) {
    if (n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return false;
    const Expr index = substitute(n.indices[0], lets_);
    if (when == Evaluated::Sometimes && !is_there(n.buffer, index)) note_masked(n.buffer);
    if (!stands_still(index)) return false;
    add(arith::AccessKind::Read, n.buffer, index);
    if (!varies(n.indices[0])) return true;
    measure(n.buffer->dtype);
    return count_access(index, false);
  }

  void note_masked(const Buffer& buffer) {
    const int bits = std::max<int>(buffer->dtype.bits, 8);
    result_.masked_bits = std::min(result_.masked_bits.value_or(bits), bits);
  }

  /// Whether the index is independent of memory that the body writes.
  bool stands_still(const Expr& index) {
    if (effect_of(index) == Effect::Pure) return true;
    if (!memory_) memory_.emplace(loop_.body);
    return memory_->is_stable(index);
  }

  void add(arith::AccessKind kind, const Buffer& buffer, const Expr& index) {
    arith::Access access = arith::access_of(kind, buffer, {index});
    for (const For* inner : loops_)
      if (uses_var(index, inner->var))
        access.inner.push_back({inner->var, Range::from_min_extent(inner->min, inner->extent)});
    all_.accesses.push_back(std::move(access));
  }

  /// Whether the element can be read in every lane, even where the value is not needed.
  bool is_there(const Buffer& buffer, const Expr& index) const {
    for (const auto& [other, place] : certain_)
      if (other.same_as(buffer) && structural_equal(place, index)) return true;
    return is_inside(buffer, index, facts_);
  }

  bool varies(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return varying_.contains(&var.node()); });
  }

  // ---- cost ----

  void measure(DataType type) {
    result_.widest_bits =
        std::max<int>(result_.widest_bits, type.bits == 16 && type.is_floating() ? 32 : type.bits);
  }

  bool count_access(const Expr& index, bool is_store) {
    const std::optional<Expr> step = step_of(index, loop_.var);
    constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
    const std::int64_t distance = step ? constant_int(*step).value_or(kUnknown) : kUnknown;
    // If the step is unknown, two iterations may store the same element.
    if (is_store && !step) return false;
    if (distance == 0) return !is_store;
    if (distance == 1 || distance == -1)
      ++result_.contiguous;
    else if (is_store)
      strided_stores_.push_back({distance, all_.accesses.back()});
    else if (distance >= 2 && distance <= 4)
      ++result_.strided;
    else
      ++result_.gathered;
    return true;
  }

  /// Counts strided stores: interleaved if others fill their gaps, scattered otherwise.
  void count_interleaved() {
    for (const StridedStore& store : strided_stores_) {
      std::unordered_set<std::int64_t> offsets;
      for (const StridedStore& other : strided_stores_) {
        if (!other.access.buffer.same_as(store.access.buffer) || other.stride != store.stride)
          continue;
        const std::optional<std::int64_t> offset =
            constant_int(arith::simplify(other.access.indices[0] - store.access.indices[0]));
        if (offset && *offset > -store.stride && *offset < store.stride)
          offsets.insert((*offset + store.stride) % store.stride);
      }
      const bool is_filled = store.stride >= 2 && store.stride <= 4 &&
                             offsets.size() == static_cast<std::size_t>(store.stride);
      ++(is_filled ? result_.interleaved : result_.scattered);
    }
  }

  /// Counts operations on values. Index computations do not count.
  void count_operations(const Expr& e) {
    if (!varies(e) || e.as<Load>()) return;
    if (const Call* n = e.as<Call>(); n && std::get<Intrin>(n->callee) <= Intrin::erf)
      result_.operations += 15;
    if (e.as<Binary>() || e.as<Cast>() || e.as<Select>()) {
      ++result_.operations;
      measure(e.dtype());
    }
    for_each_child(e, [&](const Expr& child) { count_operations(child); });
  }

  // ---- legality ----

  bool is_accumulated(const Buffer& buffer) const {
    return std::any_of(
        result_.accumulations.begin(), result_.accumulations.end(),
        [&](const Accumulation& one) { return one.buffer->data.same_as(buffer->data); });
  }

  /// Whether no other access in the loop uses the memory of an accumulation. This is stricter than
  /// necessary, but it needs no proofs.
  bool accumulations_are_alone() const {
    const auto& all = result_.accumulations;
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (all[a].buffer->data.same_as(all[b].buffer->data)) return false;
    return std::none_of(all_.accesses.begin(), all_.accesses.end(),
                        [&](const auto& access) { return is_accumulated(access.buffer); });
  }

  const For& loop_;
  /// The memory that the body writes; computed lazily at the first index that reads memory.
  std::optional<arith::WrittenMemory> memory_;
  arith::Facts& facts_;
  bool may_reassociate_;
  ScalarLoop result_;
  arith::Footprint all_;
  struct StridedStore {
    std::int64_t stride;
    arith::Access access;
  };
  std::vector<StridedStore> strided_stores_;
  /// The elements that the current expression reads unconditionally.
  std::vector<std::pair<Buffer, Expr>> certain_;
  /// The enclosing loops inside the body.
  std::vector<const For*> loops_;
  /// The number of enclosing conditions, and whether one of them differs between lanes.
  int conditions_ = 0;
  Evaluated when_ = Evaluated::Always;
  std::size_t nodes_ = 0;
  /// The loop variable and the lets whose values differ between iterations.
  std::unordered_set<const ExprNode*> varying_;
  VarMap lets_;
};

}  // namespace

std::optional<ScalarLoop> read_scalar_loop(const For& loop, arith::Facts& facts,
                                           bool may_reassociate) {
  return LoopReader(loop, facts, may_reassociate).read();
}

bool is_inside(const Buffer& buffer, const Expr& index, const arith::Facts& facts) {
  return buffer->shape.size() == 1 && is_zero(buffer->elem_offset) &&
         arith::can_prove_at_least(index, 0, facts) &&
         arith::can_prove(index < buffer->shape[0], facts);
}

bool has_vector_form(const Call& call) {
  const Intrin* intrin = std::get_if<Intrin>(&call.callee);
  if (!intrin) return false;
  const DataType type = call.args.empty() ? DataType(Handle()) : call.args[0].dtype();
  const bool is_float = type.is_floating(), is_float32 = is_float && type.bits <= 32;
  switch (*intrin) {
    case Intrin::exp:
    case Intrin::exp2:
    case Intrin::exp10:
    case Intrin::log:
    case Intrin::log2:
    case Intrin::log10:
    case Intrin::tanh:
    case Intrin::erf:
    case Intrin::sigmoid:
      return is_float;
    case Intrin::sin:
    case Intrin::cos:
    case Intrin::tan:
    case Intrin::pow:
      return is_float32;
    case Intrin::sqrt:
    case Intrin::rsqrt:
    case Intrin::floor:
    case Intrin::ceil:
    case Intrin::round:
    case Intrin::trunc:
    case Intrin::nearbyint:
    case Intrin::fabs:
    case Intrin::fma:
    case Intrin::copysign:
    case Intrin::likely:
    case Intrin::reinterpret:
      return true;
    default:
      return *intrin >= Intrin::isnan && *intrin <= Intrin::bitwise_not;
  }
}

}  // namespace tenon::lowering
