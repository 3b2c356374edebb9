// Whether iterations that run side by side touch the same element (access_proofs.h).
//
// Of two accesses in two iterations, the loop's variable is v in one and v + d in the other; what
// is defined inside of the loop has two values as well. They are apart where the indices of one
// dimension, or the elements' offsets, surely differ. Where an index has digits of v, as those of a
// fused loop are floordiv(v, 8) and floormod(v, 8), some digit is the first one that differs: each
// is a case.
#include <algorithm>

#include <unordered_set>

#include "lower/access_walk.h"
#include "lower/loop_touches.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;
using arith::can_prove;

namespace {

/// Beyond it a loop is not proved.
constexpr int kMostProofs = 1000;
constexpr std::size_t kMostSteps = 4;

/// The positions at which indices take a variable apart: 8 of floordiv(v, 8), floormod(v, 8), and
/// 32 of floordiv(floordiv(v, 8), 4). Each divides the next one; others are left out.
class Digits {
 public:
  explicit Digits(const Var& var) : var_(var) {}

  void add(const Expr& e) {
    const Binary* n = e.as<Binary>();
    if (n && (n->op == BinaryOp::FloorDiv || n->op == BinaryOp::FloorMod))
      if (const auto cut = position_of(e)) cuts_.push_back(*cut);
    for_each_child(e, [&](const Expr& child) { add(child); });
  }

  /// 1 and the cuts, ascending.
  std::vector<std::int64_t> positions() {
    std::ranges::sort(cuts_);
    std::vector<std::int64_t> result = {1};
    for (const std::int64_t cut : cuts_)
      if (cut > result.back() && cut % result.back() == 0) result.push_back(cut);
    return result;
  }

 private:
  std::optional<std::int64_t> position_of(const Expr& e) const {
    if (e.same_as(var_)) return 1;
    if (const Cast* n = e.as<Cast>()) return position_of(n->value);
    const Binary* n = e.as<Binary>();
    if (!n || (n->op != BinaryOp::FloorDiv && n->op != BinaryOp::FloorMod)) return std::nullopt;
    const auto inner = position_of(n->a);
    const auto by = constant_int(n->b);
    std::int64_t product = 0;
    if (!inner || !by || *by < 1 || __builtin_mul_overflow(*inner, *by, &product))
      return std::nullopt;
    return product;
  }

  Var var_;
  std::vector<std::int64_t> cuts_;
};

bool same_list(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::ranges::equal(a, b,
                            [](const Expr& x, const Expr& y) { return structural_equal(x, y); });
}

/// Equal indices are the same element.
bool same_layout(const Buffer& a, const Buffer& b) {
  if (a.same_as(b)) return true;
  return a->data.same_as(b->data) && a->dtype == b->dtype && same_list(a->shape, b->shape) &&
         same_list(a->strides, b->strides) && structural_equal(a->elem_offset, b->elem_offset);
}

class LoopProver {
 public:
  /// `only_certain`: looks for conflicts that are certain, which costs little.
  LoopProver(const PrimFunc& func, bool only_certain)
      : memory_(func.body), only_certain_(only_certain) {
    walk(func.body, [&](const BufferView& n) {
      source_of_.insert_or_assign(&n.view->data.node(), &n.source->data.node());
    });
    for (const BufferParam& param : func.buffers) arguments_.insert(&param.declared->data.node());
    for (const BufferParam& param : func.buffers)
      for (const Expr& extent : param.declared->shape)
        if (extent.as<VarNode>()) facts_.bind_bound(Var::of(extent), {0, std::nullopt});
    stmt(func.body);
  }
  std::vector<LoopProof> take() { return std::move(proofs_); }

 private:
  using Scopes = std::vector<arith::Facts::Scope>;

  void stmt(const Stmt& s) {
    Scopes scopes;
    if (const For* n = s.as<For>()) {
      if (n->kind == ForKind::Parallel || n->kind == ForKind::Vectorized)
        proofs_.push_back({n->var, n->kind, conflict_in(*n)});
      facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), /*replace=*/true);
      if (!constant_int(n->extent) && memory_.is_stable(n->extent))
        scopes.push_back(facts_.assume(n->extent >= 1));
    }
    if (const Let* n = s.as<Let>(); n && n->value.dtype().is_index() && memory_.is_stable(n->value))
      facts_.bind(n->var, n->value, /*replace=*/true);
    if (const Attr* n = s.as<Attr>();
        n && (n->kind == AttrKind::ThreadExtent || n->kind == AttrKind::VirtualThread)) {
      const Var var = std::get<IterVar>(n->subject).var();
      facts_.bind(var, Range::from_min_extent(make_int(var.dtype(), 0), n->value), true);
    }
    if (const If* n = s.as<If>()) {
      {
        Scopes own;
        assume(n->condition, own);
        stmt(n->then_case);
      }
      if (n->else_case) stmt(*n->else_case);
      return;
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
  }

  void assume(const Expr& condition, Scopes& scopes) {
    for_each_conjunct(condition, [&](const Expr& part) {
      if (part.dtype().is_scalar() && memory_.is_stable(part))
        scopes.push_back(facts_.assume(part));
    });
  }

  /// Of a view, what it is a view of.
  const ExprNode* memory_of(const Buffer& buffer) const {
    const ExprNode* data = &buffer->data.node();
    for (auto next = source_of_.find(data); next != source_of_.end(); next = source_of_.find(data))
      data = next->second;
    return data;
  }

  std::optional<Conflict> conflict_in(const For& loop) {
    if (const auto count = constant_int(loop.extent); count && *count < 2) return std::nullopt;
    const std::vector<Touch> touches = touches_of(loop.body, memory_);
    for (const Touch& touch : touches)
      if (surely_meets(loop, touch)) return Conflict{touch.access, touch.access, true};
    if (only_certain_) return std::nullopt;
    if (touches.size() >= kMostTouches)
      return Conflict{touches.front().access, touches.back().access, false};
    int proofs = 0;
    for (std::size_t a = 0; a < touches.size(); ++a)
      for (std::size_t b = a; b < touches.size(); ++b) {
        const AccessProof &first = touches[a].access, &second = touches[b].access;
        const bool is_written = first.kind == AccessKind::Store || second.kind == AccessKind::Store;
        if (!is_written || memory_of(first.buffer) != memory_of(second.buffer)) continue;
        if (++proofs <= kMostProofs && are_apart(loop, touches[a], touches[b]) &&
            (a == b || are_apart(loop, touches[b], touches[a])))
          continue;
        return Conflict{first, second, false};
      }
    return std::nullopt;
  }

  /// A store to the same elements of an argument in all of two or more iterations. Memory of the
  /// function's own may still become each iteration's.
  bool surely_meets(const For& loop, const Touch& touch) const {
    const auto uses = [&](const Expr& e) { return uses_var(e, loop.var); };
    return constant_int(loop.extent) && touch.access.kind == AccessKind::Store &&
           arguments_.contains(memory_of(touch.access.buffer)) && touch.is_known &&
           touch.guards.empty() && std::ranges::none_of(touch.access.indices, uses) &&
           std::ranges::all_of(touch.inner, [&](const InnerVar& inner) {
             const auto count = inner.range ? constant_int(inner.range->extent) : std::nullopt;
             return count && *count >= 1 && !uses(inner.range->min);
           });
  }

  /// Two iterations, the variable's value in each. `ahead` says by how far the digit that differs
  /// is ahead in the later one; it is put in when divisions have been resolved, for which that
  /// digit must not be larger than it can be.
  struct Iterations {
    Expr earlier, later;
    VarMap ahead;
  };

  /// The digits in the order in which they are looked at for the first one that differs. Any will
  /// do: if the iterations differ, some digit does.
  enum class Order : std::uint8_t { HighestFirst, LowestFirst };

  std::vector<Iterations> cases_of(const For& loop, const Touch& a, const Touch& b, Order order) {
    Digits digits(loop.var);
    for (const Touch* touch : {&a, &b}) {
      for (const Expr& index : touch->access.indices) digits.add(index);
      for (const Expr& guard : touch->guards) digits.add(guard);
    }
    const auto count = constant_int(loop.extent);
    std::vector<std::int64_t> positions = digits.positions();
    // Digits are those of a loop that counts from 0.
    if (!is_zero(loop.min)) positions = {1};
    if (count) std::erase_if(positions, [&](std::int64_t at) { return at > 1 && at >= *count; });
    std::vector<Iterations> cases;
    for (std::size_t at = 0; at < positions.size(); ++at)
      cases.push_back(differing_at(loop, positions, at, order));
    return cases;
  }

  Iterations differing_at(const For& loop, const std::vector<std::int64_t>& positions,
                          std::size_t at, Order order) {
    const DataType type = loop.var.dtype();
    Iterations values{loop.min, loop.min, {}};
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const Expr position = make_int(type, positions[k]);
      const bool is_last = k + 1 == positions.size();
      const Expr size = is_last ? (k == 0 ? loop.extent : ceildiv(loop.extent, position))
                                : make_int(type, positions[k + 1] / positions[k]);
      const auto fresh = [&](const char* name, const Expr& min, const Expr& extent) {
        const Var var(name, type);
        facts_.bind(var, Range::from_min_extent(min, extent));
        return var;
      };
      const Expr zero = make_int(type, 0);
      const Var digit = fresh("digit", zero, size);
      values.earlier = values.earlier + digit * position;
      if (order == Order::HighestFirst ? k > at : k < at) {
        values.later = values.later + digit * position;
      } else if (k == at) {
        const Var other = fresh("digit", zero, size);
        const Var distance = fresh("distance", make_int(type, 1), size - 1);
        values.later = values.later + other * position;
        set(values.ahead, other, digit + distance);
      } else {
        values.later = values.later + fresh("digit", zero, size) * position;
      }
    }
    return values;
  }

  /// Puts the iteration's value for the loop's variable, and new variables for those inside.
  VarMap instance_of(const For& loop, const Touch& touch, const Expr& value) {
    VarMap map;
    set(map, loop.var, value);
    for (const InnerVar& inner : touch.inner) {
      const Var fresh = inner.var.fresh();
      if (inner.range) facts_.bind(fresh, substitute(*inner.range, map));
      set(map, inner.var, fresh);
    }
    return map;
  }

  bool are_apart(const For& loop, const Touch& first, const Touch& second) {
    if (!first.is_known || !second.is_known ||
        !same_layout(first.access.buffer, second.access.buffer) ||
        first.access.indices.size() != second.access.indices.size())
      return false;
    return are_apart(loop, first, second, Order::HighestFirst) ||
           are_apart(loop, first, second, Order::LowestFirst);
  }

  bool are_apart(const For& loop, const Touch& first, const Touch& second, Order order) {
    const std::vector<Iterations> cases = cases_of(loop, first, second, order);
    return std::ranges::all_of(cases, [&](const Iterations& values) {
      const VarMap in_first = instance_of(loop, first, values.earlier),
                   in_second = instance_of(loop, second, values.later);
      const auto resolved = [&](const Expr& e, const VarMap& map) {
        return substitute(arith::simplify(substitute(e, map), facts_), values.ahead);
      };
      Scopes scopes;
      for (const Expr& guard : first.guards)
        scopes.push_back(facts_.assume(resolved(guard, in_first)));
      for (const Expr& guard : second.guards)
        scopes.push_back(facts_.assume(resolved(guard, in_second)));
      return differ(
          first.access, [&](const Expr& e) { return resolved(e, in_first); }, second.access,
          [&](const Expr& e) { return resolved(e, in_second); });
    });
  }

  bool is_apart(const Expr& a, const Expr& b) {
    const Expr distance = arith::simplify(b - a, facts_);
    if (can_prove(distance >= 1, facts_) || can_prove(distance <= -1, facts_)) return true;
    // Or it is no multiple of the steps of a loop that it is else made of.
    std::vector<Expr> steps;
    walk(distance, [&](const Binary& n) {
      const auto step = n.op == BinaryOp::Mul ? constant_int(n.b) : std::nullopt;
      if (step && *step > 1 && steps.size() < kMostSteps) steps.push_back(n.b);
    });
    return std::ranges::any_of(steps, [&](const Expr& step) {
      return can_prove(arith::simplify(floormod(distance, step), facts_) >= 1, facts_);
    });
  }

  bool differ(const AccessProof& first, FunctionRef<Expr(const Expr&)> in_first,
              const AccessProof& second, FunctionRef<Expr(const Expr&)> in_second) {
    const Buffer& buffer = first.buffer;
    const std::size_t rank = first.indices.size();
    for (std::size_t dim = 0; dim < rank; ++dim)
      if (is_apart(in_first(first.indices[dim]), in_second(second.indices[dim]))) return true;
    if (rank < 2 || buffer->shape.size() != rank || !buffer->strides.empty()) return false;
    const std::vector<Expr> strides = compact_strides(buffer->shape);
    Expr first_at = 0, second_at = 0;
    for (std::size_t dim = 0; dim < rank; ++dim) {
      first_at = first_at + first.indices[dim] * strides[dim];
      second_at = second_at + second.indices[dim] * strides[dim];
    }
    return is_apart(in_first(first_at), in_second(second_at));
  }

  WrittenMemory memory_;
  const bool only_certain_;
  std::unordered_map<const ExprNode*, const ExprNode*> source_of_;
  std::unordered_set<const ExprNode*> arguments_;
  arith::Facts facts_;
  std::vector<LoopProof> proofs_;
};

}  // namespace

std::vector<LoopProof> prove_loops(const PrimFunc& func) { return LoopProver(func, false).take(); }

std::vector<LoopProof> find_certain_conflicts(const PrimFunc& func) {
  std::vector<LoopProof> proofs = LoopProver(func, true).take();
  std::erase_if(proofs, [](const LoopProof& proof) { return !proof.conflict; });
  return proofs;
}

}  // namespace tenon::lowering
