#include "lower/shared_uses.h"

#include <algorithm>

#include "tenon/arith/index_terms.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

// ---- sets ---------------------------------------------------------------------------------------

void UseSet::insert(int use) {
  const auto word = static_cast<std::size_t>(use) / 64;
  if (words_.size() <= word) words_.resize(word + 1);
  words_[word] |= std::uint64_t{1} << (static_cast<unsigned>(use) % 64);
}

void UseSet::merge(const UseSet& other) {
  if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
  for (std::size_t n = 0; n < other.words_.size(); ++n) words_[n] |= other.words_[n];
}

bool UseSet::is_empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

bool UseSet::contains(const UseSet& other) const {
  for (std::size_t n = 0; n < other.words_.size(); ++n)
    if ((other.words_[n] & ~(n < words_.size() ? words_[n] : 0)) != 0) return false;
  return true;
}

// ---- definitions --------------------------------------------------------------------------------

namespace {

/// Proofs by the simplifier, beyond those that sums decide: so many at least, and so many for each
/// use. Where they are spent, threads are taken to meet.
constexpr int kProofs = 64, kProofsForEachUse = 2;

bool is_shared(const Buffer& buffer) {
  return buffer->scope() == StorageScope::Shared || buffer->scope() == StorageScope::SharedDyn;
}

bool is_global(const Buffer& buffer) { return buffer->scope() == StorageScope::Global; }

}  // namespace

SharedUses::SharedUses(const Stmt& kernel, int loops_around) {
  read_definitions(kernel, loops_around);
}

void SharedUses::read_definitions(const Stmt& s, int depth) {
  int inside = depth;
  if (const Let* n = s.as<Let>()) set(values_, n->var, substitute(n->value, values_));
  if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::ThreadExtent) {
    const IterVar& axis = std::get<IterVar>(n->subject);
    if (axis.thread()->is_thread()) add_thread(axis, n->value);
  }
  if (const Allocate* n = s.as<Allocate>()) own_memories_.insert(&n->data.node());
  if (const For* n = s.as<For>()) {
    Variable loop{n->var, Variable::Kind::Loop, {}, 0, depth + 1, false};
    const std::optional<std::int64_t> min = constant_int(n->min), extent = constant_int(n->extent);
    if (min && extent && *extent > 0) {
      loop.range = {min, *min + *extent - 1};
      facts_.bind(n->var, Range::from_min_extent(n->min, n->extent));
    }
    variable_of_var_.emplace(&n->var.node(), static_cast<int>(variables_.size()));
    variables_.push_back(std::move(loop));
    ++inside;
  }
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { read_definitions(child, inside); });
}

void SharedUses::add_thread(const IterVar& axis, const Expr& extent) {
  const std::optional<std::int64_t> count = constant_int(extent);
  for (const Thread& known : threads_) {
    if (!(known.tag == *axis.thread())) continue;
    Variable& variable = variables_[static_cast<std::size_t>(known.variable)];
    if (!variable.value.same_as(axis.var())) set(same_thread_, axis.var(), variable.value);
    // The larger one of two extents is launched.
    std::optional<std::int64_t>& last = variable.range.max;
    last = last && count ? std::optional(std::max(*last, *count - 1)) : std::nullopt;
    return;
  }
  const int number = static_cast<int>(variables_.size());
  Variable thread{
      axis.var(), Variable::Kind::Thread, {0, std::nullopt}, static_cast<int>(threads_.size()), 0,
      true};
  if (count) thread.range.max = *count - 1;
  if (count) facts_.bind(axis.var(), Range::from_min_extent(make_int(extent.dtype(), 0), extent));
  variable_of_var_.emplace(&axis.var().node(), number);
  variables_.push_back(std::move(thread));
  threads_.push_back({*axis.thread(), number});
}

/// Without lets, and with one variable for each thread axis.
Expr SharedUses::resolved(const Expr& e) const {
  return substitute(substitute(e, values_), same_thread_);
}

bool SharedUses::is_uniform(const Expr& e) const {
  const Expr flat = resolved(e);
  if (effect_of(flat) != Effect::Pure) return false;
  return !uses_var(flat, [&](const Expr& var) {
    const auto found = variable_of_var_.find(&var.node());
    return found != variable_of_var_.end() &&
           variables_[static_cast<std::size_t>(found->second)].kind == Variable::Kind::Thread;
  });
}

// ---- uses ---------------------------------------------------------------------------------------

UseSet SharedUses::of(const Expr& e) {
  UseSet uses;
  walk(
      e,
      [&](const Load& n) {
        if (is_shared(n.buffer) || is_global(n.buffer))
          uses.insert(add(n.buffer, n.indices, false));
      },
      [&](const Call& n) {
        // Whoever is given an address may read and write around it.
        if (!n.is(Intrin::address_of)) return;
        const Buffer& buffer = n.args[0].as<Load>()->buffer;
        if (is_shared(buffer)) uses.insert(add_anywhere(buffer));
      });
  uses_var(e, [&](const Expr& var) {
    const auto& pointer = var.as<VarNode>()->pointer;
    if (!pointer) return false;
    const Buffer buffer = decl_buffer({1}, UInt(8), {.data = Var::of(var)});
    if (is_shared(buffer)) uses.insert(add_anywhere(buffer));
    return false;
  });
  return uses;
}

UseSet SharedUses::of(const Store& store) {
  UseSet uses;
  if (is_shared(store.buffer) || is_global(store.buffer))
    uses.insert(add(store.buffer, store.indices, true));
  return uses;
}

int SharedUses::add(const Buffer& buffer, const std::vector<Expr>& indices, bool is_store) {
  Use use{{buffer, make_int(Int(32), 0), 1, is_store}, false, 0, 0, {}, 0, false};
  if (indices.size() == 1) {
    const Expr index = resolved(indices[0]);
    const Ramp* ramp = index.as<Ramp>();
    const std::optional<std::int64_t> stride = ramp ? constant_int(ramp->stride) : std::nullopt;
    if (stride && *stride > 0) {
      use.access.first = ramp->base;
      use.access.count = *stride * (ramp->lanes - 1) + 1;
      use.is_known = true;
    } else if (index.dtype().is_scalar()) {
      use.access.first = index;
      use.is_known = true;
    }
    // What memory says is another value in each thread, and may change.
    if (use.is_known && effect_of(use.access.first) != Effect::Pure) use.is_known = false;
  }
  if (use.is_known)
    use.is_known =
        arith::for_each_term(use.access.first, 1, use.constant,
                             [&](const Expr& e, std::int64_t c) { return add_term(e, c, use); });
  return number_of(std::move(use));
}

int SharedUses::add_anywhere(const Buffer& buffer) {
  return number_of({{buffer, make_int(Int(32), 0), 1, true}, false, 0, 0, {}, 0, false});
}

int SharedUses::number_of(Use use) {
  const auto memory = memories_.emplace(&use.access.buffer->data.node(), all_.size()).first->second;
  use.memory = static_cast<int>(memory);
  if (all_.size() == static_cast<std::size_t>(memory)) all_.emplace_back(), stores_.emplace_back();
  const std::size_t hash = use.access.first.node().hash;
  const auto [begin, end] = uses_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Use& other = uses_[static_cast<std::size_t>(it->second)];
    if (other.memory == use.memory && other.is_known == use.is_known &&
        other.access.is_store == use.access.is_store && other.access.count == use.access.count &&
        other.access.buffer->dtype.element() == use.access.buffer->dtype.element() &&
        structural_equal(other.access.first, use.access.first))
      return it->second;
  }
  const int number = static_cast<int>(uses_.size());
  uses_by_hash_.emplace(hash, number);
  all_[static_cast<std::size_t>(use.memory)].insert(number);
  if (use.access.is_store) stores_[static_cast<std::size_t>(use.memory)].insert(number);
  std::sort(use.terms.begin(), use.terms.end(),
            [](const Term& a, const Term& b) { return a.variable < b.variable; });
  uses_.push_back(std::move(use));
  return number;
}

/// Adds one summand of the index; false where its coefficient is beyond int64.
bool SharedUses::add_term(const Expr& e, std::int64_t factor, Use& use) {
  const int variable = variable_of(e);
  const Variable& known = variables_[static_cast<std::size_t>(variable)];
  use.loops = std::max(use.loops, known.loops);
  use.is_opaque |= known.kind == Variable::Kind::Other && !e.as<VarNode>();
  const auto term = std::find_if(use.terms.begin(), use.terms.end(),
                                 [&](const Term& t) { return t.variable == variable; });
  if (term == use.terms.end()) {
    use.terms.push_back({variable, factor});
    return true;
  }
  return !__builtin_add_overflow(term->coefficient, factor, &term->coefficient);
}

int SharedUses::variable_of(const Expr& e) {
  const auto found = variable_of_var_.find(&e.node());
  if (found != variable_of_var_.end()) return found->second;
  const auto [begin, end] = variables_by_hash_.equal_range(e.node().hash);
  for (auto it = begin; it != end; ++it)
    if (structural_equal(variables_[static_cast<std::size_t>(it->second)].value, e))
      return it->second;
  Variable other{e, Variable::Kind::Other, {}, 0, loops_of(e), !is_uniform(e)};
  const arith::ConstBound bound = arith::const_bound(e, facts_);
  other.range = {bound.min, bound.max};
  const int number = static_cast<int>(variables_.size());
  variables_by_hash_.emplace(e.node().hash, number);
  variables_.push_back(std::move(other));
  return number;
}

int SharedUses::loops_of(const Expr& e) const {
  int loops = 0;
  uses_var(e, [&](const Expr& var) {
    const auto found = variable_of_var_.find(&var.node());
    if (found != variable_of_var_.end())
      loops = std::max(loops, variables_[static_cast<std::size_t>(found->second)].loops);
    return false;
  });
  return loops;
}

// ---- meetings -----------------------------------------------------------------------------------

bool SharedUses::may_meet(const UseSet& earlier, const UseSet& later, Occasion when) {
  for (std::size_t memory = 0; memory < all_.size(); ++memory) {
    const bool found = earlier.any_in(all_[memory], [&](int a) {
      const bool is_store = uses_[static_cast<std::size_t>(a)].access.is_store;
      return later.any_in(is_store ? all_[memory] : stores_[memory],
                          [&](int b) { return may_meet(a, b, when); });
    });
    if (found) return true;
  }
  return false;
}

bool SharedUses::may_meet(int earlier, int later, Occasion when) {
  const Use& a = uses_[static_cast<std::size_t>(earlier)];
  const Use& b = uses_[static_cast<std::size_t>(later)];
  if (is_global(a.access.buffer) && !own_memories_.contains(&a.access.buffer->data.node()) &&
      are_of_one_thread(a, b))
    return false;
  // Loops of which neither depends need not be told apart.
  const int loops = std::max(a.loops, b.loops);
  if (when.equal_loops >= loops) when = {loops, false};
  const std::uint64_t key =
      ((static_cast<std::uint64_t>(earlier) << 24 | static_cast<std::uint64_t>(later)) << 12 |
       static_cast<std::uint64_t>(when.equal_loops)) *
          2 +
      when.is_carried;
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  bool meet = false;
  for (int axis = 0; !meet && axis < static_cast<int>(threads_.size()); ++axis) {
    const int number = threads_[static_cast<std::size_t>(axis)].variable;
    const Variable& thread = variables_[static_cast<std::size_t>(number)];
    if (thread.range.max && *thread.range.max < 1) continue;
    for (const int sign : {1, -1}) {
      const Threads two{axis, sign};
      const bool are_apart =
          a.is_known && b.is_known &&
          (are_apart_in_sum(a, b, when, two) ||
           ((a.is_opaque || b.is_opaque) && are_apart_by_proof(a, b, when, two)));
      meet |= !are_apart;
      if (meet) break;
    }
  }
  known_.emplace(key, meet);
  return meet;
}

/// An element of global memory from outside is computed by one thread, or by several in the same
/// way, and once: whoever reads it where it stores it reads what it has stored itself. A temporary
/// of the kernel is filled again in each iteration around it.
bool SharedUses::are_of_one_thread(const Use& a, const Use& b) {
  if (a.access.is_store && b.access.is_store) return true;
  return a.is_known && b.is_known && a.access.count == b.access.count &&
         structural_equal(a.access.first, b.access.first);
}

bool SharedUses::are_apart_in_sum(const Use& earlier, const Use& later, Occasion when,
                                  Threads threads) const {
  if (earlier.access.buffer->dtype.element() != later.access.buffer->dtype.element()) return false;
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(later.constant, earlier.constant, &difference)) return false;
  arith::Reach reach(difference);
  bool fits = true;
  const auto add = [&](int number, std::int64_t first, std::int64_t second) {
    const Variable& v = variables_[static_cast<std::size_t>(number)];
    const auto& [min, max] = v.range;
    const bool is_thread = v.kind == Variable::Kind::Thread;
    const bool is_stepped = is_thread ? v.axis == threads.axis
                                      : v.kind == Variable::Kind::Loop && when.is_carried &&
                                            v.loops == when.equal_loops + 1;
    const bool is_equal =
        is_thread ? v.axis < threads.axis : v.loops <= when.equal_loops && !v.varies_by_thread;
    if (is_equal || is_stepped) {
      std::int64_t both = 0;
      fits &= !__builtin_sub_overflow(second, first, &both);
      reach.add(both, min, max);
      std::optional<std::int64_t> steps;
      if (min && max) steps = *max - *min;
      // Whoever is ahead is so many steps ahead of the other.
      if (is_stepped) reach.add(is_thread && threads.sign < 0 ? -first : second, 1, steps);
      return;
    }
    reach.add(second, min, max);
    reach.add(-first, min, max);
  };
  auto a = earlier.terms.begin();
  auto b = later.terms.begin();
  while (a != earlier.terms.end() || b != later.terms.end()) {
    const int in_a = a == earlier.terms.end() ? static_cast<int>(variables_.size()) : a->variable;
    const int in_b = b == later.terms.end() ? static_cast<int>(variables_.size()) : b->variable;
    add(std::min(in_a, in_b), in_a <= in_b ? a->coefficient : 0, in_b <= in_a ? b->coefficient : 0);
    if (in_a <= in_b) ++a;
    if (in_b <= in_a) ++b;
  }
  return fits && reach.misses(1 - later.access.count, earlier.access.count - 1);
}

bool SharedUses::are_apart_by_proof(const Use& earlier, const Use& later, Occasion when,
                                    Threads threads) {
  if (++proofs_ > kProofs + kProofsForEachUse * static_cast<int>(uses_.size())) return false;
  VarMap in_earlier, in_later;
  others_.resize(variables_.size());
  for (std::size_t n = 0; n < variables_.size(); ++n) {
    const Variable& v = variables_[n];
    if (v.kind == Variable::Kind::Other) continue;
    const Var var = Var::of(v.value);
    if (!others_[n]) {
      const auto& [min, max] = v.range;
      others_[n].emplace(var.fresh(), var.fresh());
      const auto bind = [&](const Var& fresh, std::int64_t first, std::int64_t last) {
        facts_.bind_bound(fresh, {first, last});
      };
      if (min && max) {
        bind(others_[n]->first, *min, *max);
        bind(others_[n]->second, 1, std::max<std::int64_t>(*max - *min, 1));
      } else {
        facts_.bind_bound(others_[n]->first, {min, max});
        facts_.bind_bound(others_[n]->second, {1, std::nullopt});
      }
    }
    const auto& [other, distance] = *others_[n];
    const bool is_thread = v.kind == Variable::Kind::Thread;
    if (is_thread ? v.axis < threads.axis : v.loops <= when.equal_loops) continue;
    if (is_thread && v.axis == threads.axis) {
      set(threads.sign > 0 ? in_later : in_earlier, var, var + distance);
    } else if (!is_thread && when.is_carried && v.loops == when.equal_loops + 1) {
      set(in_later, var, var + distance);
    } else {
      set(in_later, var, other);
    }
  }
  const auto moved = [](Access access, const VarMap& map) {
    access.first = substitute(access.first, map);
    return access;
  };
  return are_apart(moved(earlier.access, in_earlier), moved(later.access, in_later), facts_);
}

}  // namespace tenon::lowering
