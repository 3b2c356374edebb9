#include "lower/cpu/vector_body.h"

#include <algorithm>

#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr auto kNobody = [](const Buffer&, const Expr&) {};

class BodyReader {
 public:
  std::optional<VectorBody> read(const Stmt& s) {
    if (!stmt(s) || !positions_stand_still(s)) return std::nullopt;
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
    // Loads that lets perform for this store count as its own reads.
    if (lets_read_memory_ && !reads_target)
      walk(substitute(n.value, lets_),
           [&](const Load& load) { compare(load.buffer, load.indices[0]); });
    if (reads_target) add_sum(n, index);
    return true;
  }

  /// Records the reads of an expression, also of a let's value. Calls `on_read` with each buffer
  /// and index, with lets inlined.
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

  /// Whether no index depends on memory that the body writes. Inlined lets would hide that such an
  /// index changes after the store.
  bool positions_stand_still(const Stmt& s) const {
    std::optional<arith::WrittenMemory> memory;
    return std::ranges::all_of(body_.accesses, [&](const VectorAccess& each) {
      if (effect_of(each.index) == Effect::Pure) return true;
      if (!memory) memory.emplace(s);
      return memory->is_stable(each.index);
    });
  }

  /// Whether the expression has no side effects and defines no variables.
  static bool is_plain(const Expr& e) {
    return !contains<LetExpr>(e) && effect_of(e) != Effect::UpdateState;
  }

  /// `flat`: the index with lets inlined.
  bool access(const Buffer& buffer, const Expr& flat, bool is_store) {
    if (body_.owns(buffer)) return true;
    const Ramp* ramp = flat.as<Ramp>();
    const std::optional<std::int64_t> stride = ramp ? constant_int(ramp->stride) : std::nullopt;
    if (flat.dtype().is_vector() && (!stride || *stride < 1)) return false;
    add_access(is_store ? arith::AccessKind::Write : arith::AccessKind::Read, buffer, flat);
    return true;
  }

  /// Adds an access unless it is known. Unrolled bodies repeat few indices, and clients compare all
  /// pairs.
  void add_access(arith::AccessKind kind, const Buffer& buffer, const Expr& flat) {
    const auto [begin, end] = accesses_by_index_.equal_range(flat.node().hash);
    for (auto it = begin; it != end; ++it) {
      const auto& [known, index] = body_.accesses[it->second];
      if (known.buffer->data.same_as(buffer->data) && known.kind == kind &&
          known.buffer->dtype == buffer->dtype && structural_equal(index, flat))
        return;
    }
    accesses_by_index_.emplace(flat.node().hash, body_.accesses.size());
    arith::Access access = arith::access_of(kind, buffer, {flat});
    for (const For* loop : around_)
      if (uses_var(flat, loop->var))
        access.inner.push_back({loop->var, Range::from_min_extent(loop->min, loop->extent)});
    body_.accesses.push_back({std::move(access), flat});
  }

  void add_sum(const Store& n, const Expr& index) {
    std::int64_t additions = 1;
    for (auto loop = around_.rbegin(); loop != around_.rend() && !uses_var(index, (*loop)->var);
         ++loop)
      additions *= *constant_int((*loop)->extent);
    const auto [begin, end] = sums_by_index_.equal_range(index.node().hash);
    for (auto it = begin; it != end; ++it) {
      Accumulator& sum = body_.sums[it->second];
      if (!sum.buffer->data.same_as(n.buffer->data) || !structural_equal(sum.index, index))
        continue;
      sum.additions += additions;
      return;
    }
    sums_by_index_.emplace(index.node().hash, body_.sums.size());
    body_.sums.push_back({n.buffer, index, n.value.dtype(), additions});
  }

  VectorBody body_;
  /// The positions of accesses in `body_.accesses`, by the hash of their index.
  std::unordered_multimap<std::size_t, std::size_t> accesses_by_index_;
  /// The positions of sums in `body_.sums`, by the hash of their index.
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

bool has_independent_iterations(const For& loop, const VectorBody& body) {
  arith::Footprint all;
  for (const VectorAccess& each : body.accesses) all.accesses.push_back(each.access);
  arith::Facts facts;
  return !arith::find_conflict(all, all, arith::Relation::other_iteration(loop), facts);
}

bool renames_memory(const Stmt& s) {
  bool renames = false;
  walk(s, [&](const Let& let) { renames |= let.var.dtype().is_handle(); });
  return renames;
}

}  // namespace tenon::lowering
