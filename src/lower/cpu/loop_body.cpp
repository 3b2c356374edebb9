#include "lower/cpu/loop_body.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Limits of a scalar loop. All pairs of accesses are compared, which costs more than vectors gain
/// if the body is longer.
constexpr std::size_t kMaxAccesses = 64;
constexpr std::size_t kMaxNodesOfScalarLoop = 2000;

// ---- the accesses of a body ---------------------------------------------------------------------

class BodyReader {
 public:
  explicit BodyReader(const Stmt& body) : body_(body), written_(body) {}

 protected:
  Expr flat(const Expr& e) const { return substitute(e, lets_); }
  void define(const Let& let) { set(lets_, let.var, flat(let.value)); }

  /// Whether no memory that the index reads is written by the body. Such an index would change
  /// after the store, which inlined lets would hide.
  bool is_stable(const Expr& index) const { return written_.is_stable(index); }

  /// Adds an access unless an equal one exists. Unrolled bodies repeat few indices, and clients
  /// compare all pairs of accesses.
  void add(arith::AccessKind kind, const Buffer& buffer, const Expr& index) {
    std::vector<std::size_t>& positions = known_[index];
    for (const std::size_t position : positions) {
      const arith::Access& known = memory_.accesses[position];
      if (known.buffer->data.same_as(buffer->data) && known.kind == kind &&
          known.buffer->dtype == buffer->dtype)
        return;
    }
    positions.push_back(memory_.accesses.size());
    arith::Access access = arith::access_of(kind, buffer, {index});
    for (const For* loop : around_)
      if (uses_var(index, loop->var))
        access.inner.push_back({loop->var, Range::from_min_extent(loop->min, loop->extent)});
    memory_.accesses.push_back(std::move(access));
    indices_.push_back(index);
  }

  const Stmt& body_;
  VarMap lets_;
  /// The loops inside the body that enclose the current statement.
  std::vector<const For*> around_;
  arith::Footprint memory_;
  std::vector<Expr> indices_;

 private:
  /// The positions in memory_.accesses of the accesses that have a given index.
  StructuralMap<std::vector<std::size_t>> known_;
  arith::WrittenMemory written_;
};

// ---- vector bodies ------------------------------------------------------------------------------

constexpr auto kNobody = [](const Buffer&, const Expr&) {};

class VectorBodyReader : BodyReader {
 public:
  using BodyReader::BodyReader;

  std::optional<VectorBody> read() {
    if (!stmt(body_) ||
        !std::ranges::all_of(indices_, [&](const Expr& index) { return is_stable(index); }))
      return std::nullopt;
    result_.memory = std::move(memory_);
    result_.indices = std::move(indices_);
    result_.lets = std::move(lets_);
    return std::move(result_);
  }

 private:
  bool stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return store(*n);
    if (const Let* n = s.as<Let>()) {
      if (n->var.dtype().is_handle() || !is_plain(n->value) || !reads(n->value)) return false;
      define(*n);
      lets_read_memory_ |= contains<Load>(lets_.at(&n->var.node()));
      return stmt(n->body);
    }
    if (const Seq* n = s.as<Seq>())
      return std::ranges::all_of(n->stmts, [&](const Stmt& part) { return stmt(part); });
    if (const Allocate* n = s.as<Allocate>()) {
      const bool is_constant = std::ranges::all_of(
          n->extents, [](const Expr& extent) { return constant_int(extent).has_value(); });
      if (!is_constant || !is_true(n->condition) || n->double_buffer) return false;
      result_.own_memory.push_back(n->data);
      return stmt(n->body);
    }
    const For* n = s.as<For>();
    if (!n || n->kind != ForKind::Serial || !constant_int(n->min) || !constant_int(n->extent))
      return false;
    result_.loops.push_back(n);
    around_.push_back(n);
    const bool fine = stmt(n->body);
    around_.pop_back();
    return fine;
  }

  bool store(const Store& n) {
    ++result_.stores;
    if (n.indices.size() != 1 || !n.value.dtype().is_vector()) return false;
    if (!is_plain(n.value) || !is_plain(n.indices[0])) return false;
    const Expr index = flat(n.indices[0]);
    if (!access(n.buffer, index, true) || !reads(n.indices[0])) return false;
    bool reads_target = false;
    const auto compare = [&](const Buffer& buffer, const Expr& at) {
      reads_target |= buffer->data.same_as(n.buffer->data) && structural_equal(at, index);
    };
    if (!reads(n.value, compare)) return false;
    // If lets load memory for the value of this store, the loads count as reads of the store.
    if (lets_read_memory_ && !reads_target)
      walk(flat(n.value), [&](const Load& load) { compare(load.buffer, load.indices[0]); });
    if (reads_target) add_sum(n, index);
    return true;
  }

  /// Records the reads of an expression or of a let's value. Calls `on_read` with each buffer and
  /// index, in which lets are inlined.
  bool reads(const Expr& e, FunctionRef<void(const Buffer&, const Expr&)> on_read = kNobody) {
    bool fine = true;
    walk(e, [&](const Load& load) {
      if (!fine) return;
      fine = load.indices.size() == 1;
      if (!fine) return;
      const Expr index = flat(load.indices[0]);
      on_read(load.buffer, index);
      fine = access(load.buffer, index, false);
    });
    return fine;
  }

  /// Whether the expression has no side effects and defines no variables.
  static bool is_plain(const Expr& e) {
    return !contains<LetExpr>(e) && effect_of(e) != Effect::UpdateState;
  }

  /// Records a vector access with a constant positive stride, or a scalar access. Returns false for
  /// other accesses.
  bool access(const Buffer& buffer, const Expr& index, bool is_store) {
    if (result_.owns(buffer)) return true;
    const Ramp* ramp = index.as<Ramp>();
    if (index.dtype().is_vector() && (!ramp || constant_int(ramp->stride).value_or(0) < 1))
      return false;
    add(is_store ? arith::AccessKind::Write : arith::AccessKind::Read, buffer, index);
    return true;
  }

  void add_sum(const Store& n, const Expr& index) {
    std::int64_t additions = 1;
    for (auto loop = around_.rbegin(); loop != around_.rend() && !uses_var(index, (*loop)->var);
         ++loop)
      additions *= *constant_int((*loop)->extent);
    std::vector<std::size_t>& positions = sums_by_index_[index];
    for (const std::size_t position : positions) {
      Accumulator& sum = result_.sums[position];
      if (!sum.buffer->data.same_as(n.buffer->data)) continue;
      sum.additions += additions;
      return;
    }
    positions.push_back(result_.sums.size());
    result_.sums.push_back({n.buffer, index, n.value.dtype(), additions});
  }

  VectorBody result_;
  /// The positions in result_.sums of the sums that have a given index.
  StructuralMap<std::vector<std::size_t>> sums_by_index_;
  bool lets_read_memory_ = false;
};

// ---- scalar loops -------------------------------------------------------------------------------

class ScalarLoopReader : BodyReader {
 public:
  ScalarLoopReader(const For& loop, arith::Facts& facts, bool may_reassociate)
      : BodyReader(loop.body), loop_(loop), facts_(facts), may_reassociate_(may_reassociate) {
    varying_.insert(&loop.var.node());
    facts_.bind(loop.var, Range::from_min_extent(loop.min, loop.extent), true);
  }

  std::optional<ScalarLoop> read() {
    if (!stmt(loop_.body) || memory_.accesses.size() > kMaxAccesses) return std::nullopt;
    count_interleaved();
    if (!accumulations_are_alone() ||
        arith::find_conflict(memory_, memory_, arith::Relation::other_iteration(loop_), facts_))
      return std::nullopt;
    return std::move(result_);
  }

 private:
  // ---- statements and accesses ----

  bool stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return store(*n);
    if (const Seq* n = s.as<Seq>())
      return std::ranges::all_of(n->stmts, [&](const Stmt& part) { return stmt(part); });
    if (const Let* n = s.as<Let>()) {
      if (n->var.dtype().is_handle() || !value(n->value)) return false;
      if (varies(n->value)) varying_.insert(&n->var.node());
      define(*n);
      return stmt(n->body);
    }
    if (const If* n = s.as<If>()) {
      if (!value(n->condition)) return false;
      count_operations(n->condition);
      const bool outer = std::exchange(is_masked_, is_masked_ || varies(n->condition));
      ++conditions_;
      const bool fine = stmt(n->then_case) && (!n->else_case || stmt(*n->else_case));
      --conditions_;
      is_masked_ = outer;
      return fine;
    }
    const For* n = s.as<For>();
    if (!n || n->kind != ForKind::Serial || varies(n->min) || varies(n->extent)) return false;
    if (!value(n->min) || !value(n->extent)) return false;
    result_.has_loops = true;
    around_.push_back(n);
    facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), true);
    return stmt(n->body);
  }

  bool store(const Store& n) {
    if (n.indices.size() != 1 || !n.value.dtype().is_scalar() || n.buffer->dtype.lanes != 1)
      return false;
    if (!value(n.indices[0])) return false;
    const Expr index = flat(n.indices[0]);
    if (!is_stable(index)) return false;
    if (!varies(n.indices[0])) return accumulation(n);
    if (!value(n.value)) return false;
    count_operations(n.value);
    measure(n.value.dtype());
    if (is_masked_) note_masked(n.buffer);
    add(arith::AccessKind::Write, n.buffer, index);
    return count_access(n.buffer, index, true);
  }

  bool accumulation(const Store& n) {
    const std::optional<Accumulation> step = read_accumulation(n, lets_);
    // In an inner loop, the index could vary. Under a condition, the element may not exist.
    if (!step || !around_.empty() || conditions_ > 0) return false;
    const DataType type = n.value.dtype();
    if (type.is_floating() && !may_reassociate_) return false;
    if (!value(step->term)) return false;
    count_operations(step->term);
    ++result_.operations;
    measure(type);
    for (const Accumulation& other : result_.accumulations)
      if (other.op == step->op && other.buffer->data.same_as(n.buffer->data) &&
          structural_equal(other.index, step->index))
        return true;
    result_.accumulations.push_back(*step);
    return true;
  }

  /// Records the reads of an expression. Returns false unless it is a pure scalar computation.
  bool value(const Expr& e) {
    if (nodes_ += node_count(e); nodes_ > kMaxNodesOfScalarLoop) return false;
    certain_.clear();
    if (!is_masked_) note_certain(e);
    return can_be_lanes(e, is_masked_);
  }

  void note_certain(const Expr& e) {
    if (const Load* n = e.as<Load>())
      for (const Expr& index : n->indices) certain_.emplace_back(n->buffer, flat(index));
    for_each_operand(
        e, [&](const Expr& operand) { note_certain(operand); }, [](const Expr&, const Expr&) {});
  }

  /// Whether the expression is a computation that lanes can perform. `is_masked`: only the lanes
  /// that take a branch or choose a side evaluate it.
  bool can_be_lanes(const Expr& e, bool is_masked) {
    if (e.as<LetExpr>() || e.as<Ramp>() || e.as<Broadcast>() || e.as<Shuffle>()) return false;
    if (const Load* n = e.as<Load>(); n && !load(*n, is_masked)) return false;
    if (const Call* n = e.as<Call>(); n && !call(*n)) return false;
    bool can_be = true;
    for_each_operand(
        e, [&](const Expr& operand) { can_be = can_be && can_be_lanes(operand, is_masked); },
        [&](const Expr& condition, const Expr& operand) {
          // A choice whose condition is the same for all lanes remains a choice. A logical
          // operation becomes a vector operation if either operand varies.
          const bool differs = varies(e.as<Binary>() ? e : condition);
          can_be = can_be && can_be_lanes(operand, is_masked || differs);
        });
    return can_be;
  }

  bool call(const Call& n) const {
    if (std::ranges::any_of(n.args, [&](const Expr& arg) { return varies(arg); }))
      return n.is(Intrin::if_then_else) || has_vector_form(n);
    const Intrin* intrin = std::get_if<Intrin>(&n.callee);
    return intrin && effect_of(*intrin) == Effect::Pure;
  }

  bool load(const Load& n, bool is_masked) {
    if (n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return false;
    const Expr index = flat(n.indices[0]);
    if (is_masked && !is_there(n.buffer, index)) note_masked(n.buffer);
    if (!is_stable(index)) return false;
    add(arith::AccessKind::Read, n.buffer, index);
    if (!varies(n.indices[0])) return true;
    measure(n.buffer->dtype);
    return count_access(n.buffer, index, false);
  }

  void note_masked(const Buffer& buffer) {
    const int bits = std::max<int>(buffer->dtype.bits, 8);
    result_.masked_bits = std::min(result_.masked_bits.value_or(bits), bits);
  }

  /// Whether the element provably exists in every lane, including lanes that do not need its value.
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

  bool count_access(const Buffer& buffer, const Expr& index, bool is_store) {
    const std::optional<Expr> step = step_of(index, loop_.var);
    constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
    const std::int64_t distance = step ? constant_int(*step).value_or(kUnknown) : kUnknown;
    // If the step is unknown, two iterations may store the same element.
    if (is_store && !step) return false;
    if (distance == 0) return !is_store;
    if (distance == 1 || distance == -1)
      ++result_.contiguous;
    else if (is_store)
      strided_stores_.emplace_back(distance, buffer, index);
    else if (distance >= 2 && distance <= 4)
      ++result_.strided;
    else
      ++result_.gathered;
    return true;
  }

  /// Counts strided stores. They are interleaved if other stores fill their gaps, and scattered
  /// otherwise.
  void count_interleaved() {
    for (const auto& [stride, buffer, index] : strided_stores_) {
      std::unordered_set<std::int64_t> offsets;
      for (const auto& [other_stride, other_buffer, other_index] : strided_stores_) {
        if (!other_buffer.same_as(buffer) || other_stride != stride) continue;
        const std::optional<std::int64_t> offset =
            constant_int(arith::simplify(other_index - index));
        if (offset && *offset > -stride && *offset < stride)
          offsets.insert((*offset + stride) % stride);
      }
      const bool is_filled =
          stride >= 2 && stride <= 4 && offsets.size() == static_cast<std::size_t>(stride);
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
    return std::ranges::any_of(result_.accumulations, [&](const Accumulation& one) {
      return one.buffer->data.same_as(buffer->data);
    });
  }

  /// Whether the loop accesses the memory of each accumulation nowhere else. This is stricter than
  /// necessary, but needs no proofs.
  bool accumulations_are_alone() const {
    const auto& all = result_.accumulations;
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (all[a].buffer->data.same_as(all[b].buffer->data)) return false;
    return std::ranges::none_of(memory_.accesses,
                                [&](const auto& access) { return is_accumulated(access.buffer); });
  }

  const For& loop_;
  arith::Facts& facts_;
  bool may_reassociate_;
  ScalarLoop result_;
  /// The stride, the buffer and the index of each strided store.
  std::vector<std::tuple<std::int64_t, Buffer, Expr>> strided_stores_;
  /// The elements that the current expression reads unconditionally.
  std::vector<std::pair<Buffer, Expr>> certain_;
  /// The number of enclosing conditions, and whether one of them differs between lanes.
  int conditions_ = 0;
  bool is_masked_ = false;
  std::size_t nodes_ = 0;
  /// The loop variable and the lets whose values differ between iterations.
  std::unordered_set<const ExprNode*> varying_;
};

}  // namespace

bool VectorBody::owns(const Buffer& buffer) const {
  return std::ranges::any_of(own_memory,
                             [&](const Var& data) { return data.same_as(buffer->data); });
}

std::optional<VectorBody> read_vector_body(const Stmt& s) { return VectorBodyReader(s).read(); }

bool has_independent_iterations(const For& loop, const VectorBody& body) {
  arith::Facts facts;
  return !arith::find_conflict(body.memory, body.memory, arith::Relation::other_iteration(loop),
                               facts);
}

bool renames_memory(const Stmt& s) {
  return any_node(s, [](const Let& let) { return let.var.dtype().is_handle(); });
}

std::optional<ScalarLoop> read_scalar_loop(const For& loop, arith::Facts& facts,
                                           bool may_reassociate) {
  return ScalarLoopReader(loop, facts, may_reassociate).read();
}

bool is_inside(const Buffer& buffer, const Expr& index, const arith::Facts& facts) {
  return buffer->shape.size() == 1 && is_zero(buffer->elem_offset) &&
         arith::can_prove_at_least(index, 0, facts) &&
         arith::can_prove(index < buffer->shape[0], facts);
}

bool has_vector_form(const Call& call) {
  using enum Intrin;
  static constexpr Intrin kOfFloats[] = {exp, exp2, exp10, log, log2, log10, tanh, erf, sigmoid};
  static constexpr Intrin kOfFloat32[] = {sin, cos, tan, pow};
  static constexpr Intrin kOfAll[] = {sqrt,      rsqrt, floor, ceil,     round,  trunc,
                                      nearbyint, fabs,  fma,   copysign, likely, reinterpret};
  const Intrin* intrin = std::get_if<Intrin>(&call.callee);
  if (!intrin) return false;
  const DataType type = call.args.empty() ? DataType(Handle()) : call.args[0].dtype();
  const auto is_among = [&](const auto& list) {
    return std::ranges::find(list, *intrin) != std::end(list);
  };
  if (is_among(kOfFloats)) return type.is_floating();
  if (is_among(kOfFloat32)) return type.is_floating() && type.bits <= 32;
  return is_among(kOfAll) || (*intrin >= isnan && *intrin <= bitwise_not);
}

}  // namespace tenon::lowering
