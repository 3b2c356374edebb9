#include "lower/vector_body.h"

#include <algorithm>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/index_terms.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr auto kNobody = [](const Buffer&, const Expr&) {};

class BodyReader {
 public:
  std::optional<VectorBody> read(const Stmt& s) {
    if (!stmt(s) || !positions_stand_still()) return std::nullopt;
    return std::move(body_);
  }

 private:
  bool stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return store(*n);
    if (const Let* n = s.as<Let>()) {
      if (n->var.dtype().is_handle() || !is_plain(n->value) || !reads(n->value)) return false;
      const Expr value = substitute(n->value, lets_);
      set(lets_, n->var, value);
      lets_read_memory_ |= contains<Load>(value);
      return stmt(n->body);
    }
    if (const Seq* n = s.as<Seq>())
      return std::all_of(n->stmts.begin(), n->stmts.end(),
                         [&](const Stmt& part) { return stmt(part); });
    if (const Allocate* n = s.as<Allocate>()) {
      const bool is_constant =
          std::all_of(n->extents.begin(), n->extents.end(),
                      [](const Expr& extent) { return constant_int(extent).has_value(); });
      if (!is_constant || !is_true(n->condition) || n->double_buffer) return false;
      body_.own_memory.push_back(n->data);
      return stmt(n->body);
    }
    const For* n = s.as<For>();
    if (!n || n->kind != ForKind::Serial || !constant_int(n->min) || !constant_int(n->extent))
      return false;
    body_.loops.push_back({n->var, Range::from_min_extent(n->min, n->extent)});
    around_.push_back(n);
    const bool fine = stmt(n->body);
    around_.pop_back();
    return fine;
  }

  bool store(const Store& n) {
    ++body_.stores;
    if (n.indices.size() != 1 || !n.value.dtype().is_vector()) return false;
    if (!is_plain(n.value) || !is_plain(n.indices[0])) return false;
    const Expr index = substitute(n.indices[0], lets_);
    if (!access(n.buffer, index, true) || !reads(n.indices[0])) return false;
    bool reads_target = false;
    const auto compare = [&](const Buffer& buffer, const Expr& at) {
      reads_target |= buffer->data.same_as(n.buffer->data) && structural_equal(at, index);
    };
    if (!reads(n.value, compare)) return false;
    // What lets read at the position is read by this store.
    if (lets_read_memory_ && !reads_target)
      walk(substitute(n.value, lets_),
           [&](const Load& load) { compare(load.buffer, load.indices[0]); });
    if (reads_target) add_sum(n, index);
    return true;
  }

  /// Notes what an expression reads, wherever it stands: a let reads as well. Calls `on_read` with
  /// each buffer and position, with the lets inside.
  bool reads(const Expr& e, FunctionRef<void(const Buffer&, const Expr&)> on_read = kNobody) {
    bool fine = true;
    walk(e, [&](const Load& load) {
      if (!fine) return;
      fine = load.indices.size() == 1;
      if (!fine) return;
      const Expr index = substitute(load.indices[0], lets_);
      on_read(load.buffer, index);
      fine = access(load.buffer, index, false);
    });
    return fine;
  }

  /// Whether no position depends on memory that the body writes: such a position is another one
  /// after the store, and inlined lets would not tell.
  bool positions_stand_still() const {
    bool still = true;
    const auto is_stored = [&](const Load& load) {
      for (const Access& access : body_.accesses)
        if (access.is_store && access.buffer->data.same_as(load.buffer->data)) still = false;
    };
    for (const Access& access : body_.accesses) walk(access.first, is_stored);
    return still;
  }

  /// No call that does more than compute, and nothing that defines a variable.
  static bool is_plain(const Expr& e) {
    bool plain = true;
    walk(
        e, [&](const Call& n) { plain &= is_pure(n); }, [&](const LetExpr&) { plain = false; });
    return plain;
  }

  static bool is_pure(const Call& call) {
    return match(
        call.callee, [](Intrin intrin) { return effect_of(intrin) == Effect::Pure; },
        [](const ExternCallee& callee) { return callee.pure; });
  }

  /// `flat`: the position, with the lets inside.
  bool access(const Buffer& buffer, const Expr& flat, bool is_store) {
    if (body_.owns(buffer)) return true;
    if (!flat.dtype().is_vector()) {
      add_access({buffer, flat, 1, is_store});
      return true;
    }
    const Ramp* ramp = flat.as<Ramp>();
    const std::optional<std::int64_t> stride = ramp ? constant_int(ramp->stride) : std::nullopt;
    if (!stride || *stride < 1) return false;
    add_access({buffer, ramp->base, *stride * (ramp->lanes - 1) + 1, is_store, *stride});
    return true;
  }

  /// Once each: bodies that were unrolled read and store few positions often, and whoever asks
  /// compares all with all.
  void add_access(Access access) {
    const auto [begin, end] = accesses_by_first_.equal_range(access.first.node().hash);
    for (auto it = begin; it != end; ++it) {
      const Access& known = body_.accesses[it->second];
      if (known.buffer->data.same_as(access.buffer->data) && known.is_store == access.is_store &&
          known.count == access.count && known.stride == access.stride &&
          known.buffer->dtype == access.buffer->dtype &&
          structural_equal(known.first, access.first))
        return;
    }
    accesses_by_first_.emplace(access.first.node().hash, body_.accesses.size());
    body_.accesses.push_back(std::move(access));
  }

  void add_sum(const Store& n, const Expr& index) {
    std::int64_t additions = 1;
    for (auto loop = around_.rbegin(); loop != around_.rend() && !uses_var(index, (*loop)->var);
         ++loop)
      additions *= *constant_int((*loop)->extent);
    const auto [begin, end] = sums_by_index_.equal_range(index.node().hash);
    for (auto it = begin; it != end; ++it) {
      VectorSum& sum = body_.sums[it->second];
      if (!sum.buffer->data.same_as(n.buffer->data) || !structural_equal(sum.index, index))
        continue;
      sum.additions += additions;
      return;
    }
    sums_by_index_.emplace(index.node().hash, body_.sums.size());
    body_.sums.push_back({n.buffer, index, n.value.dtype(), additions});
  }

  VectorBody body_;
  /// Positions in the accesses, by the hash of where they begin.
  std::unordered_multimap<std::size_t, std::size_t> accesses_by_first_;
  /// Positions in the sums, by the hash of their index.
  std::unordered_multimap<std::size_t, std::size_t> sums_by_index_;
  /// The loops around the current place.
  std::vector<const For*> around_;
  VarMap lets_;
  bool lets_read_memory_ = false;
};

}  // namespace

bool VectorBody::owns(const Buffer& buffer) const {
  return std::any_of(own_memory.begin(), own_memory.end(),
                     [&](const Var& data) { return data.same_as(buffer->data); });
}

std::optional<VectorBody> read_vector_body(const Stmt& s) { return BodyReader().read(s); }

int registers_for(DataType dtype, int vector_bits) {
  return (dtype.bits * dtype.lanes + vector_bits - 1) / vector_bits;
}

namespace {

/// The difference of two indices as a sum of multiples.
class Difference {
 public:
  Difference(const Expr& to, const Expr& from) { is_known_ = add(to, 1) && add(from, -1); }

  /// Whether the difference is known to miss [low, high]. nullopt where only a proof may tell:
  /// among the summands are divisions and the like.
  std::optional<bool> misses(std::int64_t low, std::int64_t high, const arith::Facts& facts) const {
    if (!is_known_) return std::nullopt;
    arith::Reach reach(constant_);
    bool is_opaque = false;
    for (const Term& term : terms_) {
      if (term.coefficient == 0) continue;
      const arith::ConstBound bound = arith::const_bound(term.value, facts);
      reach.add(term.coefficient, bound.min, bound.max);
      is_opaque |= !term.value.as<VarNode>();
    }
    if (reach.misses(low, high)) return true;
    return is_opaque ? std::nullopt : std::optional(false);
  }

 private:
  struct Term {
    Expr value;
    std::int64_t coefficient;
  };

  bool add(const Expr& e, std::int64_t factor) {
    return arith::for_each_term(
        e, factor, constant_, [&](const Expr& value, std::int64_t coefficient) {
          for (Term& term : terms_)
            if (structural_equal(term.value, value))
              return !__builtin_add_overflow(term.coefficient, coefficient, &term.coefficient);
          terms_.push_back({value, coefficient});
          return true;
        });
  }

  std::vector<Term> terms_;
  std::int64_t constant_ = 0;
  bool is_known_;
};

}  // namespace

bool are_apart(const Access& a, const Access& b, const arith::Facts& facts) {
  if (a.buffer->dtype.element() != b.buffer->dtype.element()) return false;
  if (const auto apart = Difference(b.first, a.first).misses(1 - b.count, a.count - 1, facts))
    return *apart;
  const Expr difference = arith::simplify(b.first - a.first, facts);
  return arith::can_prove_at_least(difference, a.count, facts) ||
         arith::can_prove_below(difference, 1 - b.count, facts);
}

namespace {

/// Compares every access of an iteration with those of a later one.
class Independence {
 public:
  Independence(const For& loop, const VectorBody& body) : var_(loop.var), body_(body) {
    const std::int64_t extent = *constant_int(loop.extent);
    distance_ = Var("distance", var_.dtype());
    facts_.bind(var_, Range::from_min_extent(loop.min, loop.extent));
    facts_.bind(distance_, Range::from_min_extent(make_int(var_.dtype(), 1),
                                                  make_int(var_.dtype(), extent - 1)));
    set(later_, var_, var_ + distance_);
    for (const VectorBody::Loop& inner : body.loops) {
      const Var other = inner.var.fresh();
      facts_.bind(inner.var, inner.range);
      facts_.bind(other, inner.range);
      set(later_, inner.var, other);
    }
  }

  bool holds() const {
    for (const Access& store : body_.accesses) {
      if (!store.is_store) continue;
      for (const Access& other : body_.accesses) {
        if (!store.buffer->data.same_as(other.buffer->data)) continue;
        if (!never_meet(store, other) || !never_meet(other, store)) return false;
      }
    }
    return true;
  }

 private:
  /// `a` in some iteration, and `b` in any later one, touch no common element.
  bool never_meet(const Access& a, const Access& b) const {
    return are_apart(a, {b.buffer, substitute(b.first, later_), b.count, b.is_store}, facts_);
  }

  Var var_;
  const VectorBody& body_;
  Var distance_{"distance"};
  arith::Facts facts_;
  VarMap later_;
};

}  // namespace

bool has_independent_iterations(const For& loop, const VectorBody& body) {
  return Independence(loop, body).holds();
}

bool renames_memory(const Stmt& s) {
  bool renames = false;
  walk(s, [&](const Let& let) { renames |= let.var.dtype().is_handle(); });
  return renames;
}

}  // namespace tenon::lowering
