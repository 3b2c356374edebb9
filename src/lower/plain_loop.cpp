#include "lower/plain_loop.h"

#include <algorithm>
#include <limits>

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Comparing every store with every access of a longer body costs more than its lanes gain.
constexpr std::size_t kMostAccesses = 64;
constexpr std::size_t kMostNodes = 2000;

struct PlainAccess {
  Buffer buffer;
  Expr index;
  bool is_store;
};

class LoopReader {
 public:
  LoopReader(const For& loop, arith::Facts& facts, bool may_reassociate)
      : loop_(loop), facts_(facts), may_reassociate_(may_reassociate) {
    varying_.insert(&loop.var.node());
    facts_.bind(loop.var, Range::from_min_extent(loop.min, loop.extent), true);
  }

  std::optional<PlainLoop> read() {
    if (!stmt(loop_.body) || accesses_.size() > kMostAccesses) return std::nullopt;
    if (!positions_stand_still() || !accumulations_are_alone() || !iterations_are_independent())
      return std::nullopt;
    return std::move(result_);
  }

 private:
  // ---- what there is ----

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
      // Lanes of which some take a branch are no vectors.
      if (varies(n->condition) || !value(n->condition)) return false;
      ++conditions_;
      const bool fine = stmt(n->then_case) && (!n->else_case || stmt(*n->else_case));
      --conditions_;
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
    if (!varies(n.indices[0])) return accumulation(n);
    if (!value(n.value)) return false;
    count_operations(n.value);
    measure(n.value.dtype());
    accesses_.push_back({n.buffer, index, true});
    return count_access(index, true);
  }

  bool accumulation(const Store& n) {
    const std::optional<AccumulationStep> step = read_accumulation(n, lets_);
    // In a loop inside, an element is not the same all the time; under a condition, it may not be
    // there at all.
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

  /// Notes what an expression reads; false for what is more than a computation of scalars, or may
  /// only be evaluated where a condition holds.
  bool value(const Expr& e) {
    if (nodes_ += node_count(e); nodes_ > kMostNodes) return false;
    certain_.clear();
    note_certain(e);
    return can_be_lanes(e, Evaluated::Always);
  }

  /// Lanes evaluate both sides of a choice, of which the program evaluates one.
  enum class Evaluated : std::uint8_t { Always, Sometimes };

  void note_certain(const Expr& e) {
    if (const Load* n = e.as<Load>())
      for (const Expr& index : n->indices)
        certain_.emplace_back(n->buffer, substitute(index, lets_));
    if (const Call* n = as_call(e, Intrin::if_then_else)) return note_certain(n->args[0]);
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
    if (const Binary* n = e.as<Binary>()) {
      if (is_logic(n->op) && varies(e))
        return can_be_lanes(n->a, when) && can_be_lanes(n->b, Evaluated::Sometimes);
      if (is_integer_division(n->op) && when == Evaluated::Sometimes && e.dtype().is_integral() &&
          constant_int(n->b).value_or(0) == 0)
        return false;
    }
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
    if (when == Evaluated::Sometimes && !is_there(n.buffer, index)) return false;
    accesses_.push_back({n.buffer, index, false});
    if (!varies(n.indices[0])) return true;
    measure(n.buffer->dtype);
    return count_access(index, false);
  }

  /// Whether the element can be read wherever the value is computed.
  bool is_there(const Buffer& buffer, const Expr& index) const {
    for (const auto& [other, place] : certain_)
      if (other.same_as(buffer) && structural_equal(place, index)) return true;
    return is_inside(buffer, index, facts_);
  }

  bool varies(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return varying_.contains(&var.node()); });
  }

  // ---- what it costs ----

  void measure(DataType type) {
    result_.widest_bits =
        std::max<int>(result_.widest_bits, type.bits == 16 && type.is_floating() ? 32 : type.bits);
  }

  bool count_access(const Expr& index, bool is_store) {
    const std::optional<Expr> step = step_of(index, loop_.var);
    constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
    const std::int64_t distance = step ? constant_int(*step).value_or(kUnknown) : kUnknown;
    // Which elements are stored is not known, and so not whether two iterations store the same.
    if (is_store && !step) return false;
    if (distance == 0) return !is_store;
    if (distance == 1 || distance == -1)
      ++result_.contiguous;
    else if (is_store)
      ++result_.scattered;
    else if (distance >= 2 && distance <= 4)
      ++result_.strided;
    else
      ++result_.gathered;
    return true;
  }

  /// Counts operations on values, not on positions.
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

  // ---- whether lanes may do it ----

  /// Whether no position depends on memory that the body writes.
  bool positions_stand_still() const {
    bool still = true;
    const auto is_written = [&](const Load& load) {
      still = still && !is_stored(load.buffer) && !is_accumulated(load.buffer);
    };
    for (const PlainAccess& access : accesses_) walk(access.index, is_written);
    for (const Accumulation& target : result_.accumulations) walk(target.index, is_written);
    return still;
  }

  bool is_stored(const Buffer& buffer) const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const PlainAccess& access) {
      return access.is_store && access.buffer->data.same_as(buffer->data);
    });
  }

  bool is_accumulated(const Buffer& buffer) const {
    return std::any_of(
        result_.accumulations.begin(), result_.accumulations.end(),
        [&](const Accumulation& one) { return one.buffer->data.same_as(buffer->data); });
  }

  /// The memory of accumulations is touched by nothing else in the loop: a stricter rule than
  /// needed, and one without proofs.
  bool accumulations_are_alone() const {
    const auto& all = result_.accumulations;
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (all[a].buffer->data.same_as(all[b].buffer->data)) return false;
    return std::none_of(accesses_.begin(), accesses_.end(),
                        [&](const PlainAccess& access) { return is_accumulated(access.buffer); });
  }

  /// Compares every store with every access of a later iteration, and of an earlier one.
  bool iterations_are_independent() {
    const DataType type = loop_.var.dtype();
    const Var distance("distance", type);
    const Expr one = make_int(type, 1);
    facts_.bind(distance, Range::from_min_extent(one, loop_.extent - one));
    VarMap later;
    set(later, loop_.var, loop_.var + distance);
    for (const For* inner : loops_) {
      const Var other = inner->var.fresh();
      facts_.bind(other, Range::from_min_extent(inner->min, inner->extent));
      set(later, inner->var, other);
    }
    const auto never_meet = [&](const PlainAccess& a, const PlainAccess& b) {
      if (a.buffer->dtype.element() != b.buffer->dtype.element()) return false;
      const Expr apart = arith::simplify(substitute(b.index, later) - a.index, facts_);
      return arith::can_prove_at_least(apart, 1, facts_) ||
             arith::can_prove_below(apart, 0, facts_);
    };
    for (const PlainAccess& store : accesses_) {
      if (!store.is_store) continue;
      for (const PlainAccess& other : accesses_) {
        if (!store.buffer->data.same_as(other.buffer->data)) continue;
        if (!never_meet(store, other) || !never_meet(other, store)) return false;
      }
    }
    return true;
  }

  const For& loop_;
  arith::Facts& facts_;
  bool may_reassociate_;
  PlainLoop result_;
  std::vector<PlainAccess> accesses_;
  /// What the expression at hand reads in any case.
  std::vector<std::pair<Buffer, Expr>> certain_;
  /// The loops inside.
  std::vector<const For*> loops_;
  /// How many conditions are around the current place.
  int conditions_ = 0;
  std::size_t nodes_ = 0;
  /// The loop's variable, and lets whose values differ between iterations.
  std::unordered_set<const ExprNode*> varying_;
  VarMap lets_;
};

}  // namespace

std::optional<PlainLoop> read_plain_loop(const For& loop, arith::Facts& facts,
                                         bool may_reassociate) {
  return LoopReader(loop, facts, may_reassociate).read();
}

bool is_inside(const Buffer& buffer, const Expr& index, const arith::Facts& facts) {
  return buffer->shape.size() == 1 && is_zero(buffer->elem_offset) &&
         arith::can_prove_at_least(index, 0, facts) &&
         arith::can_prove(index < buffer->shape[0], facts);
}

std::optional<Expr> step_of(const Expr& index, const Var& var) {
  VarMap next;
  set(next, var, var + make_int(var.dtype(), 1));
  const Expr step = arith::simplify(substitute(index, next) - index);
  if (uses_var(step, var)) return std::nullopt;
  bool reads_memory = false;
  walk(step, [&](const Load&) { reads_memory = true; });
  return reads_memory ? std::nullopt : std::optional(step);
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
    case Intrin::isnan:
    case Intrin::isinf:
    case Intrin::isfinite:
    case Intrin::popcount:
    case Intrin::clz:
    case Intrin::shift_left:
    case Intrin::shift_right:
    case Intrin::bitwise_and:
    case Intrin::bitwise_or:
    case Intrin::bitwise_xor:
    case Intrin::bitwise_not:
    case Intrin::likely:
    case Intrin::reinterpret:
      return true;
    default:
      return false;
  }
}

}  // namespace tenon::lowering
