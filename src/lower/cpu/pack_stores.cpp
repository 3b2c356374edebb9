// Packs consecutive stores to adjacent elements into vector stores, such as those of an unrolled
// loop that is not vectorized. Runs for host code only, after `lower`.
//
//   B[i*4] = A[i*4] + 1
//   B[i*4 + 1] = A[i*4 + 1] + 1          =>        B[ramp(i*4, 1, 4)] = A[ramp(i*4, 1, 4)] + 1
//   B[i*4 + 2] = A[i*4 + 2] + 1
//   B[i*4 + 3] = A[i*4 + 3] + 1
//
// Values are packed if they apply the same operations to equidistant elements, equidistant numbers
// and shared operands (superword-level parallelism: Larsen and Amarasinghe, 2000). The pass proves
// that no store reads an element that an earlier store of the same vector writes.
#include "lower/passes.h"

#include <algorithm>
#include <bit>
#include <span>

#include "lower/cpu/loop_body.h"
#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::size_t kMinPackedStores = 4;
constexpr std::size_t kMaxNodesOfPackedValue = 200;

/// The values of a vector, one expression per lane.
using LaneValues = std::vector<Expr>;

/// Replaces consecutive stores by one store whose index and value depend on a lane variable. The
/// lane variable becomes a vector.
class Packer {
 public:
  explicit Packer(const StableLets& lets) : lets_(lets) {}

  /// Returns one vector store for the stores; nullopt if they cannot be packed.
  std::optional<Stmt> packed(std::span<const Store> stores) {
    LaneValues values;
    for (const Store& store : stores) values.push_back(store.value);
    const std::optional<Expr> value = rolled(values);
    if (!value || loads_ == 0 || !reads_before_stores(stores)) return std::nullopt;
    const Expr& first = stores[0].indices[0];
    return in_lanes(make_store(stores[0].buffer, *value, {first + cast(first.dtype(), lane_)}),
                    {lane_, Expr(0), static_cast<int>(stores.size())}, {});
  }

 private:
  Expr flat(const Expr& e) const { return lets_.flat(e); }

  /// Whether no lane reads an element that an earlier lane stores. A vector reads all lanes first.
  bool reads_before_stores(std::span<const Store> stores) const {
    arith::Facts facts;
    arith::Footprint stored;
    for (const Store& store : stores) {
      const Expr index = flat(store.indices[0]);
      for (const Expr& e : {flat(store.value), index})
        if (reads(e, store.buffer->data) &&
            arith::find_conflict(stored, arith::footprint(e, lets_.memory()),
                                 arith::Relation::same_iteration(), facts))
          return false;
      stored.accesses.push_back(arith::access_of(arith::AccessKind::Write, store.buffer, {index}));
    }
    return true;
  }

  /// Returns one expression in the lane variable that equals `lanes[n]` in lane n; nullopt if no
  /// such expression is found.
  std::optional<Expr> rolled(const LaneValues& lanes) {
    const Expr& first = lanes[0];
    const auto all = [&](auto holds) { return std::ranges::all_of(lanes, holds); };
    if (!first.dtype().is_scalar() ||
        !all([&](const Expr& e) { return e.dtype() == first.dtype(); }))
      return std::nullopt;
    if (all([](const Expr& e) { return e.as<Load>() != nullptr; })) return rolled_loads(lanes);
    const Expr same = flat(first);
    if (!reads_memory(same) && all([&](const Expr& e) { return structural_equal(flat(e), same); }))
      return first;
    if (first.dtype().is_int())
      if (const std::optional<std::int64_t> step = distance(lanes)) return linear(first, *step);
    return all([&](const Expr& e) { return is_same_operation(first, e); }) ? rolled_operands(lanes)
                                                                           : std::nullopt;
  }

  /// Whether both expressions apply the same operation, and lanes can perform the operation
  /// together.
  bool is_same_operation(const Expr& a, const Expr& b) const {
    if (a.node().value.index() != b.node().value.index()) return false;
    if (const Binary* n = a.as<Binary>()) {
      // In a vector, both operands of `&&` and `||` are evaluated. The second one may only be
      // readable if the first one holds.
      return as_binary(b, n->op) && !(is_lazy(a) && reads_memory(flat(b.as<Binary>()->b)));
    }
    if (const Call* n = a.as<Call>())
      return has_vector_form(*n) && b.as<Call>()->is(std::get<Intrin>(n->callee));
    return a.as<Cast>() || a.as<Select>() || a.as<Not>();
  }

  std::optional<Expr> rolled_operands(const LaneValues& lanes) {
    std::vector<LaneValues> operands;
    for (const Expr& e : lanes) operands.push_back(children_of(e));
    std::size_t at = 0;
    bool is_rolled = true;
    const Expr result = map_children(lanes[0], [&](const Expr& child) {
      LaneValues column;
      for (const LaneValues& of_lane : operands) column.push_back(of_lane[at]);
      ++at;
      const std::optional<Expr> one = is_rolled ? rolled(column) : std::nullopt;
      is_rolled = one.has_value();
      return one.value_or(child);
    });
    return is_rolled ? std::optional(result) : std::nullopt;
  }

  std::optional<Expr> rolled_loads(const LaneValues& lanes) {
    const Load& first = *lanes[0].as<Load>();
    LaneValues places;
    for (const Expr& e : lanes) {
      const Load& load = *e.as<Load>();
      if (!load.buffer.same_as(first.buffer) || load.indices.size() != 1 ||
          load.buffer->dtype.lanes != 1)
        return std::nullopt;
      places.push_back(load.indices[0]);
    }
    const std::optional<std::int64_t> step = distance(places);
    if (!step || *step < 0 || *step > 4 || reads_memory(flat(places[0]))) return std::nullopt;
    ++loads_;
    return make_load(first.buffer, {linear(places[0], *step)});
  }

  Expr linear(const Expr& first, std::int64_t step) const {
    return first + cast(first.dtype(), lane_) * make_int(first.dtype(), step);
  }

  /// Returns the constant difference between consecutive lanes.
  std::optional<std::int64_t> distance(const LaneValues& lanes) const {
    std::optional<std::int64_t> step;
    for (std::size_t n = 1; n < lanes.size(); ++n) {
      const std::optional<std::int64_t> one =
          constant_int(arith::simplify(flat(lanes[n]) - flat(lanes[n - 1])));
      if (!one || (step && *step != *one)) return std::nullopt;
      step = one;
    }
    return step;
  }

  static bool reads_memory(const Expr& e) {
    return any_node(
        e, [](const Load&) { return true; },
        [](const Call& n) { return !std::holds_alternative<Intrin>(n.callee); });
  }

  Var lane_{"lane"};
  const StableLets& lets_;
  /// The number of packed loads. Packing a value without loads saves no work.
  int loads_ = 0;
};

/// Returns the stores to consecutive elements that start at statement `begin`, at most one vector.
std::vector<Store> run_from(const std::vector<Stmt>& stmts, std::size_t begin,
                            const StableLets& lets, int vector_bits) {
  std::vector<Store> run;
  const auto is_full = [&] {
    if (run.empty()) return false;
    const int bits = std::max<int>(run[0].value.dtype().bits, 8);
    return run.size() >= static_cast<std::size_t>(std::max(vector_bits / bits, 1));
  };
  for (std::size_t n = begin; n < stmts.size() && !is_full(); ++n) {
    const Store* store = stmts[n].as<Store>();
    if (!store || store->indices.size() != 1 || !store->value.dtype().is_scalar() ||
        !store->indices[0].dtype().is_scalar() || store->buffer->dtype.lanes != 1 ||
        node_count(store->value) > kMaxNodesOfPackedValue)
      return run;
    if (!run.empty()) {
      if (!store->buffer.same_as(run[0].buffer)) return run;
      const Expr apart = lets.flat(store->indices[0]) - lets.flat(run.back().indices[0]);
      if (!is_one(arith::simplify(apart))) return run;
    }
    run.push_back(*store);
  }
  return run;
}

Stmt with_packed_stores(const Stmt& s, StableLets& lets, int vector_bits) {
  const auto packed = [&](const Stmt& child) {
    return with_packed_stores(child, lets, vector_bits);
  };
  if (const Let* n = s.as<Let>(); n && n->var.dtype().is_int()) lets.define(*n);
  const Seq* n = s.as<Seq>();
  if (!n) return map_statements(s, packed);
  std::vector<Stmt> parts;
  bool changed = false;
  for (std::size_t begin = 0; begin < n->stmts.size();) {
    const std::vector<Store> run = run_from(n->stmts, begin, lets, vector_bits);
    std::optional<Stmt> vector;
    const std::size_t lanes = std::bit_floor(run.size());
    if (lanes >= kMinPackedStores) vector = Packer(lets).packed(std::span(run).first(lanes));
    if (vector) {
      parts.push_back(std::move(*vector));
      changed = true;
      begin += lanes;
      continue;
    }
    // Stores that do not fill one vector are few, so they remain scalar.
    for (std::size_t end = begin + std::max<std::size_t>(run.size(), 1); begin < end; ++begin) {
      parts.push_back(packed(n->stmts[begin]));
      changed |= !parts.back().same_as(n->stmts[begin]);
    }
  }
  return changed ? make_seq(std::move(parts)) : s;
}

}  // namespace

PrimFunc pack_stores(const PrimFunc& func, const PassOptions& options) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  StableLets lets(func.body);
  return with_body(func, with_packed_stores(func.body, lets, options.vector_registers->bits));
}

}  // namespace tenon::lowering
