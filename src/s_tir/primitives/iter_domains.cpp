#include "s_tir/primitives/iter_domains.h"

#include <algorithm>

#include "s_tir/primitives/loops.h"
#include "tenon/arith/simplify.h"

namespace tenon::s_tir {

using namespace tir;
using arith::Interval;

namespace {

struct Solved {
  std::size_t iter;
  /// Nullopt: any value may be required.
  std::optional<Interval> values;
};

/// Whether the loop's threads share memory of that scope. The requirements of all of them are then
/// combined.
bool is_shared_over(const For& loop, StorageScope scope) {
  const std::optional<ThreadTag>& thread = traits_of(loop).thread;
  if (!thread || thread->is_virtual()) return false;
  switch (scope) {
    case StorageScope::Global:
      return true;
    case StorageScope::Shared:
    case StorageScope::SharedDyn:
      return thread->is_thread();
    case StorageScope::Warp:
      return thread->is_thread() && thread->dim == 0;
    default:
      return false;
  }
}

/// Returns the box of a buffer that the neighbours access in one iteration of the loop.
std::vector<Interval> required_box(const Move& move, const std::vector<int>& required,
                                   const Buffer& buffer, const arith::Facts& facts) {
  std::vector<std::vector<Interval>> boxes(buffer->shape.size());
  for (const int n : required) {
    arith::IntervalMap relaxed;
    for (const int at : move.program.loops_of(n)) {
      const For& loop = move.program.loop(at);
      const bool is_inside = at > move.loop;
      const bool is_shared = move.is_producer() && is_shared_over(loop, buffer.scope());
      if (is_inside || is_shared) relax(relaxed, {loop.var, loop.min, loop.extent});
    }
    const VarMap bindings = bindings_of(move.program.realize(n));
    const Block& other = move.program.block(n);
    for (const BufferRegion& region : move.is_producer() ? other.reads : other.writes) {
      if (!region.buffer.same_as(buffer)) continue;
      for (std::size_t d = 0; d < region.region.size(); ++d) {
        const Range own = substitute(region.region[d], bindings);
        const Interval low = arith::values_of(own.min, relaxed, facts);
        const Interval high =
            is_one(own.extent) ? low : arith::values_of(own.min + own.extent - 1, relaxed, facts);
        boxes[d].push_back(low.min() && high.max() ? Interval::of(*low.min(), *high.max())
                                                   : Interval::everything());
      }
    }
  }
  std::vector<Interval> result;
  for (const std::vector<Interval>& box : boxes)
    result.push_back(box.empty() ? Interval::empty() : arith::hull(box, facts));
  return result;
}

/// Returns the values of an iterator for which the block's access intersects the interval. In one
/// dimension, the access must be the element `v`, `v + c`, `c - v`, `v // c` or `v % c`, or a tile
/// that begins at `v * c`. `c` uses no iterators of the block.
/// Nullopt if the access uses no iterator.
std::optional<Solved> solve(const Move& move, const Range& provided, const Interval& required,
                            const arith::Facts& facts) {
  const auto uses_iter = [&](const Expr& e) {
    return std::ranges::any_of(move.own().iters,
                               [&](const IterVar& iter) { return uses_var(e, iter.var()); });
  };
  const auto iter_of = [&](const Expr& e) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < move.own().iters.size(); ++i)
      if (e.same_as(move.own().iters[i].var())) return i;
    return std::nullopt;
  };
  const Expr begin = arith::simplify(provided.min, facts);
  const auto map = [&](auto&& low, auto&& high) {
    if (!required.min() || !required.max()) return Interval::everything();
    return Interval::of(low(*required.min()), high(*required.max()));
  };
  const auto same = [](const Expr& e) { return e; };
  const bool is_element = is_one(arith::simplify(provided.extent, facts));
  if (!uses_iter(begin) && !uses_iter(provided.extent)) return std::nullopt;
  if (const auto iter = iter_of(begin); iter && is_element) return Solved{*iter, map(same, same)};
  // The other operand of a sum or difference, if it uses no iterators.
  for (std::size_t i = 0; is_element && i < move.own().iters.size(); ++i) {
    const Var& own = move.own().iters[i].var();
    if (!uses_var(begin, own)) continue;
    const Expr offset = arith::simplify(begin - own, facts),
               end = arith::simplify(begin + own, facts);
    if (!uses_iter(offset)) {
      const auto back = [&](const Expr& e) { return e - offset; };
      return Solved{i, map(back, back)};
    }
    if (!uses_iter(end)) {
      if (!required.min() || !required.max()) return Solved{i, Interval::everything()};
      return Solved{i, Interval::of(end - *required.max(), end - *required.min())};
    }
  }
  if (const Binary* binary = begin.as<Binary>()) {
    const auto left = iter_of(binary->a), right = iter_of(binary->b);
    if (binary->op == BinaryOp::Mul && (left || right)) {
      const Expr& factor = left ? binary->b : binary->a;
      const auto divide = [&](const Expr& e) { return floordiv(e, factor); };
      return Solved{left ? *left : *right, map(divide, divide)};
    }
    if (left && binary->op == BinaryOp::FloorDiv)
      return Solved{*left, map([&](const Expr& e) { return e * binary->b; },
                               [&](const Expr& e) { return e * binary->b + binary->b - 1; })};
    if (left && binary->op == BinaryOp::FloorMod) return Solved{*left, std::nullopt};
  }
  refuse(move.caller, move.what() + " touches [" + tir_text(begin) + ", " +
                          tir_text(provided.extent) + " more] in a dimension of a buffer, from " +
                          "which the values of its iterators cannot be determined");
}

void add(std::optional<Interval>& set, const std::optional<Interval>& more,
         const arith::Facts& facts) {
  if (!more) return;
  set = set ? arith::hull({*set, *more}, facts) : *more;
}

Interval simplified(const Interval& set, const arith::Facts& facts) {
  if (!set.is_bounded()) return set;
  return Interval::of(arith::simplify(*set.min(), facts), arith::simplify(*set.max(), facts));
}

bool same_ends(const Interval& a, const Interval& b, const arith::Facts& facts) {
  return a.is_bounded() && b.is_bounded() && arith::can_prove_equal(*a.min(), *b.min(), facts) &&
         arith::can_prove_equal(*a.max(), *b.max(), facts);
}

/// Limits the required values to the allowed ones, and removes the bound if it has no effect.
void settle(IterDomain& domain, const Range& whole, const arith::Facts& facts) {
  const Interval own = Interval::from_range(whole);
  domain.allowed = domain.allowed ? arith::intersect(*domain.allowed, own, facts) : own;
  if (!domain.needed) {
    domain.needed = simplified(*domain.allowed, facts);
    domain.allowed = std::nullopt;
    return;
  }
  domain.needed = simplified(*domain.needed, facts);
  domain.allowed = simplified(*domain.allowed, facts);
  const Interval common =
      simplified(arith::intersect(*domain.needed, *domain.allowed, facts), facts);
  if (same_ends(*domain.needed, common, facts)) {
    domain.allowed = std::nullopt;
  } else if (same_ends(*domain.allowed, common, facts)) {
    domain.needed = domain.allowed;
    domain.allowed = std::nullopt;
  }
}

}  // namespace

std::vector<IterDomain> iter_domains(const Move& move, const std::vector<int>& required,
                                     const arith::Facts& facts) {
  std::vector<IterDomain> domains(move.own().iters.size());
  for (const BufferRegion& provided : move.is_producer() ? move.own().writes : move.own().reads) {
    const bool is_required = std::any_of(required.begin(), required.end(), [&](int n) {
      const Block& other = move.program.block(n);
      return mentions(move.is_producer() ? other.reads : other.writes, provided.buffer);
    });
    if (!is_required) continue;
    const std::vector<Interval> box = required_box(move, required, provided.buffer, facts);
    for (std::size_t d = 0; d < box.size(); ++d) {
      const Expr& size = provided.buffer->shape[d];
      const Interval whole =
          Interval::from_range(Range::from_min_extent(make_int(size.dtype(), 0), size));
      const auto needed = solve(move, provided.region[d], box[d], facts);
      const auto allowed = solve(move, provided.region[d], whole, facts);
      if (!needed || !allowed) continue;
      add(domains[needed->iter].needed, needed->values, facts);
      add(domains[needed->iter].allowed, allowed->values, facts);
    }
  }
  for (std::size_t i = 0; i < domains.size(); ++i)
    settle(domains[i], *move.own().iters[i].dom(), facts);
  return domains;
}

}  // namespace tenon::s_tir
