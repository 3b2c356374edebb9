#include "lower/gpu/shared_uses.h"

#include <algorithm>
#include <tuple>

#include "lower/rewriting.h"
#include "tenon/arith/index_terms.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/memory_scope.h"

namespace tenon::lowering {

using namespace tir;

arith::ConstBound intersect(const arith::ConstBound& a, const arith::ConstBound& b) {
  arith::ConstBound result = a;
  if (b.min && !a.is_at_least(*b.min)) result.min = b.min;
  if (b.max && !a.is_at_most(*b.max)) result.max = b.max;
  return result;
}

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
  return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
}

bool UseSet::contains(const UseSet& other) const {
  for (std::size_t n = 0; n < other.words_.size(); ++n)
    if ((other.words_[n] & ~(n < words_.size() ? words_[n] : 0)) != 0) return false;
  return true;
}

// ---- definitions --------------------------------------------------------------------------------

namespace {

bool is_shared(const Buffer& buffer) { return is_shared_memory(buffer->scope()); }

}  // namespace

SharedUses::SharedUses(const Stmt& kernel, int loops_around) {
  read_definitions(kernel, loops_around);
}

void SharedUses::read_definitions(const Stmt& s, int depth) {
  int inside = depth;
  if (const Let* n = s.as<Let>()) set(values_, n->var, substitute(n->value, values_));
  if (const Attr* n = thread_attr(s)) {
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
  for_each_statement(s, [&](const Stmt& child) { read_definitions(child, inside); });
}

void SharedUses::add_thread(const IterVar& axis, const Expr& extent) {
  const std::optional<std::int64_t> count = constant_int(extent);
  for (const Thread& known : threads_) {
    if (!(known.tag == *axis.thread())) continue;
    Variable& variable = variables_[static_cast<std::size_t>(known.variable)];
    if (!variable.value.same_as(axis.var())) set(same_thread_, axis.var(), variable.value);
    // The launch uses the largest extent of several occurrences of an axis.
    std::optional<std::int64_t>& last = variable.range.max;
    last = last && count ? std::optional(std::max(*last, *count - 1)) : std::nullopt;
    return;
  }
  const int number = static_cast<int>(variables_.size());
  Variable thread{
      axis.var(), Variable::Kind::Thread, {0, std::nullopt}, static_cast<int>(threads_.size()), 0,
      true};
  if (count) thread.range.max = *count - 1;
  if (count) facts_.bind(axis.var(), Range::from_extent(extent));
  variable_of_var_.emplace(&axis.var().node(), number);
  variables_.push_back(std::move(thread));
  threads_.push_back({*axis.thread(), number});
}

namespace {

/// Rewrites floormod(x + 3, 2) as 1 - floormod(x, 2). One bit then distinguishes the two copies of
/// a double buffer.
Expr with_plain_parities(const Expr& e) {
  return rewrite(e, [](const Binary& n, const Expr&) -> std::optional<Expr> {
    if (n.op != BinaryOp::FloorMod || constant_int(n.b) != 2) return std::nullopt;
    const Binary* sum = n.a.as<Binary>();
    if (!sum || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return std::nullopt;
    const auto shift = constant_int(sum->b);
    if (!shift) return std::nullopt;
    const Expr parity = floormod(sum->a, n.b);
    return *shift % 2 == 0 ? parity : make_int(parity.dtype(), 1) - parity;
  });
}

}  // namespace

/// Returns the expression with lets inlined and with one variable for each thread axis.
Expr SharedUses::resolved(const Expr& e) const {
  return with_plain_parities(substitute(substitute(e, values_), same_thread_));
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

SharedUses::Guard::Guard(SharedUses& uses, const Expr* condition)
    : uses_(uses), before_(uses.limits_) {
  if (condition) uses.limit_threads(uses.resolved(*condition));
}

void SharedUses::limit_threads(const Expr& condition) {
  arith::Facts facts;
  const arith::Facts::Scope scope = facts.assume(condition);
  limits_.resize(threads_.size());
  for (std::size_t axis = 0; axis < threads_.size(); ++axis) {
    const Variable& thread = variables_[static_cast<std::size_t>(threads_[axis].variable)];
    limits_[axis] = intersect(limits_[axis], arith::const_bound(thread.value, facts));
  }
}

// ---- uses ---------------------------------------------------------------------------------------

UseSet SharedUses::of(const Expr& e) {
  UseSet uses;
  collect(e, uses);
  return uses;
}

namespace {

/// The memory that a call accesses through an address: a number of rows, the number of elements of
/// each row, and the distance between the beginnings of consecutive rows.
using Rows = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

bool moves_matrix(const Call& call) {
  return call.is(Intrin::tvm_load_matrix_sync) || call.is(Intrin::tvm_store_matrix_sync);
}

/// Returns the rows that the call accesses at `address`; nullopt if the arguments do not determine
/// them.
std::optional<Rows> rows_of(const Call& call, const Call& address) {
  const auto constant = [&](std::size_t n) { return constant_int(call.args[n]); };
  if (call.is(Intrin::ptx_cp_async)) {
    const auto bytes = constant(2);
    const int each = address.args[0].dtype().bytes();
    return bytes ? std::optional(Rows{1, (*bytes + each - 1) / each, 0}) : std::nullopt;
  }
  if (!moves_matrix(call)) return std::nullopt;
  const auto m = constant(1), n = constant(2), k = constant(3), stride = constant(6);
  const auto& fragment = call.args[0].as<VarNode>()->pointer;
  if (!m || !n || !k || !stride || *stride < 1 || !fragment) return std::nullopt;
  std::int64_t count = fragment->scope == StorageScope::WmmaMatrixB ? *k : *m,
               length = fragment->scope == StorageScope::WmmaMatrixA ? *k : *n;
  const StringImm* layout = call.args[7].as<StringImm>();
  if (layout && layout->value == "col_major") std::swap(count, length);
  // A load is a single use that covers all rows and the elements between them. If other threads
  // write the elements between the rows, this causes at most one unnecessary barrier.
  if (call.is(Intrin::tvm_load_matrix_sync)) return Rows{1, (count - 1) * *stride + length, 0};
  return Rows{count, length, *stride};
}

}  // namespace

void SharedUses::collect(const Expr& e, UseSet& uses) {
  const auto memory_of = [](const Expr& var) {
    return decl_buffer({1}, var.as<VarNode>()->pointer->element.element(), {.data = Var::of(var)});
  };
  if (const Load* n = e.as<Load>())
    if (is_shared(n->buffer) || is_global(n->buffer))
      uses.insert(add(n->buffer, n->indices, false));
  if (e.as<VarNode>() && e.as<VarNode>()->pointer && is_shared(memory_of(e)))
    uses.insert(add_anywhere(memory_of(e), true));
  // A callee that receives an address may read and write any element of the buffer.
  if (const Call* n = as_call(e, Intrin::address_of))
    if (const Buffer& buffer = n->args[0].as<Load>()->buffer; is_shared(buffer))
      uses.insert(add_anywhere(buffer, true));
  const Call* call = e.as<Call>();
  for_each_child(e, [&](const Expr& child) {
    const Call* address = as_call(child, Intrin::tvm_access_ptr);
    if (!call || !address || !address->args[1].as<VarNode>()) return collect(child, uses);
    const Buffer buffer = memory_of(address->args[1]);
    if (is_shared(buffer) || (is_global(buffer) && moves_matrix(*call))) {
      const bool is_store = (constant_int(address->args[4]).value_or(2) & 2) != 0;
      const auto rows = rows_of(*call, *address);
      if (!rows || !address->args[0].dtype().is_scalar()) {
        uses.insert(add_anywhere(buffer, is_store));
      } else {
        const auto& [count, length, stride] = *rows;
        const Expr& first = address->args[2];
        for (std::int64_t row = 0; row < count; ++row)
          uses.insert(
              add_range(buffer, first + make_int(first.dtype(), row * stride), length, is_store));
      }
    }
    collect(address->args[2], uses);
    collect(address->args[3], uses);
  });
}

UseSet SharedUses::of(const Store& store) {
  UseSet uses;
  if (is_shared(store.buffer) || is_global(store.buffer))
    uses.insert(add(store.buffer, store.indices, true));
  return uses;
}

int SharedUses::add(const Buffer& buffer, const std::vector<Expr>& indices, bool is_store) {
  if (indices.size() == 1) {
    const Expr index = resolved(indices[0]);
    const Ramp* ramp = index.as<Ramp>();
    const std::optional<std::int64_t> stride = ramp ? constant_int(ramp->stride) : std::nullopt;
    if (stride && *stride > 0)
      return add_range(buffer, ramp->base, *stride * (ramp->lanes - 1) + 1, is_store, *stride);
    if (index.dtype().is_scalar()) return add_range(buffer, index, 1, is_store);
  }
  return add_anywhere(buffer, is_store);
}

int SharedUses::add_range(const Buffer& buffer, const Expr& first, std::int64_t count,
                          bool is_store, std::int64_t stride) {
  Use use{{buffer, resolved(first), count, is_store, stride}, true, 0, 0, {}, 0, false};
  // A value loaded from memory may differ between threads and may change.
  use.is_known = effect_of(use.access.first) == Effect::Pure;
  if (use.is_known)
    use.is_known =
        arith::for_each_term(use.access.first, 1, use.constant,
                             [&](const Expr& e, std::int64_t c) { return add_term(e, c, use); });
  return number_of(std::move(use));
}

int SharedUses::add_anywhere(const Buffer& buffer, bool is_store) {
  return number_of({{buffer, make_int(Int(32), 0), 1, is_store}, false, 0, 0, {}, 0, false});
}

int SharedUses::number_of(Use use) {
  use.limits = limits_;
  use.limits.resize(threads_.size());
  const auto memory = memories_.emplace(&use.access.buffer->data.node(), all_.size()).first->second;
  use.memory = static_cast<int>(memory);
  if (all_.size() == static_cast<std::size_t>(memory)) all_.emplace_back(), stores_.emplace_back();
  std::vector<int>& same_first = uses_by_first_[use.access.first];
  for (const int known : same_first) {
    const Use& other = uses_[static_cast<std::size_t>(known)];
    if (other.memory == use.memory && other.is_known == use.is_known &&
        other.access.is_store == use.access.is_store && other.access.count == use.access.count &&
        other.access.stride == use.access.stride &&
        other.access.buffer->dtype.element() == use.access.buffer->dtype.element() &&
        other.limits == use.limits)
      return known;
  }
  const int number = static_cast<int>(uses_.size());
  same_first.push_back(number);
  all_[static_cast<std::size_t>(use.memory)].insert(number);
  if (use.access.is_store) stores_[static_cast<std::size_t>(use.memory)].insert(number);
  std::ranges::sort(use.terms,
                    [](const Term& a, const Term& b) { return a.variable < b.variable; });
  uses_.push_back(std::move(use));
  return number;
}

/// Adds one term of the index. Returns false if the coefficient of its variable overflows int64.
bool SharedUses::add_term(const Expr& e, std::int64_t factor, Use& use) {
  const int variable = variable_of(e);
  const Variable& known = variables_[static_cast<std::size_t>(variable)];
  use.loops = std::max(use.loops, known.loops);
  use.is_opaque |= known.kind == Variable::Kind::Other && !e.as<VarNode>();
  const auto term =
      std::ranges::find_if(use.terms, [&](const Term& t) { return t.variable == variable; });
  if (term == use.terms.end()) {
    use.terms.push_back({variable, factor});
    return true;
  }
  return !__builtin_add_overflow(term->coefficient, factor, &term->coefficient);
}

int SharedUses::variable_of(const Expr& e) {
  const auto found = variable_of_var_.find(&e.node());
  if (found != variable_of_var_.end()) return found->second;
  const int number = static_cast<int>(variables_.size());
  const auto [known, is_new] = other_variables_.emplace(e, number);
  if (!is_new) return known->second;
  Variable other{e, Variable::Kind::Other, {}, 0, loops_of(e), !is_uniform(e)};
  const arith::ConstBound bound = arith::const_bound(e, facts_);
  other.range = {bound.min, bound.max};
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

// ---- conflicts ----------------------------------------------------------------------------------

namespace {

/// The maximum number of simplifier proofs, which are tried after linear arithmetic has failed: a
/// constant plus a number per use. Beyond this maximum, threads are assumed to conflict. Proofs by
/// enumeration are limited by the constant alone.
constexpr int kProofs = 64, kProofsForEachUse = 2;

arith::Access access_of(const Elements& elements) {
  const auto& [buffer, first, count, is_store, stride] = elements;
  const Var element("element", first.dtype());
  const Expr steps = make_int(first.dtype(), (count - 1) / stride + 1);
  return {.kind = is_store ? arith::AccessKind::Write : arith::AccessKind::Read,
          .buffer = buffer,
          .indices = {first + element * make_int(first.dtype(), stride)},
          .inner = {{element, Range::from_min_extent(make_int(first.dtype(), 0), steps)}}};
}

}  // namespace

bool SharedUses::may_conflict(const UseSet& earlier, const UseSet& later, Occasion when) {
  for (std::size_t memory = 0; memory < all_.size(); ++memory) {
    const bool meets = earlier.any_in(all_[memory], [&](int a) {
      const bool is_store = uses_[static_cast<std::size_t>(a)].access.is_store;
      return later.any_in(is_store ? all_[memory] : stores_[memory], [&](int b) {
        const bool found = may_conflict(a, b, when);
        if (found) last_conflict_ = {a, b};
        return found;
      });
    });
    if (meets) return true;
  }
  return false;
}

std::string SharedUses::last_conflict() const {
  const auto text = [&](int number) {
    const Use& use = uses_[static_cast<std::size_t>(number)];
    arith::Access access = access_of(use.access);
    access.is_known = use.is_known;
    access.indices.clear();
    if (use.is_known) access.indices.push_back(use.access.first);
    return arith::access_text(access);
  };
  return "one " + text(last_conflict_.first) + " and another one " + text(last_conflict_.second);
}

bool SharedUses::may_conflict(int earlier, int later, Occasion when) {
  const Use& a = uses_[static_cast<std::size_t>(earlier)];
  const Use& b = uses_[static_cast<std::size_t>(later)];
  if (is_global(a.access.buffer) && !own_memories_.contains(&a.access.buffer->data.node()) &&
      are_of_one_thread(a, b))
    return false;
  // The iterations of loops on which neither use depends are irrelevant.
  const int loops = std::max(a.loops, b.loops);
  if (when.equal_loops >= loops) when = {loops, false};
  // Uses that are disjoint in arbitrary iterations are disjoint in these iterations as well. This
  // query serves all enclosing loops, so it comes first.
  const bool is_any = when.equal_loops == 0 && !when.is_carried;
  if (!is_any && !a.is_opaque && !b.is_opaque && !may_conflict(earlier, later, Occasion{0, false}))
    return false;
  const std::uint64_t key =
      ((static_cast<std::uint64_t>(earlier) << 24 | static_cast<std::uint64_t>(later)) << 12 |
       static_cast<std::uint64_t>(when.equal_loops)) *
          2 +
      when.is_carried;
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  bool meet = false;
  for (int axis = 0; !meet && axis < static_cast<int>(threads_.size()); ++axis) {
    for (const int sign : {1, -1}) {
      const Threads two{axis, sign};
      if (!can_be(two, a, b)) continue;
      const bool are_disjoint_uses =
          a.is_known && b.is_known &&
          (are_apart_in_sum(a, b, when, two) ||
           ((a.is_opaque || b.is_opaque) && are_apart_by_proof(a, b, when, two)));
      meet |= !are_disjoint_uses;
      if (meet) break;
    }
  }
  known_.emplace(key, meet);
  return meet;
}

arith::ConstBound SharedUses::indices_at(const Use& use, int axis) const {
  const auto number = static_cast<std::size_t>(axis);
  const Variable& thread = variables_[static_cast<std::size_t>(threads_[number].variable)];
  return intersect(thread.range, use.limits[number]);
}

bool SharedUses::can_be(Threads threads, const Use& earlier, const Use& later) const {
  for (int axis = 0; axis < threads.axis; ++axis) {
    const arith::ConstBound equal = intersect(indices_at(earlier, axis), indices_at(later, axis));
    if (equal.min && equal.is_below(*equal.min)) return false;
  }
  const Use& ahead = threads.sign > 0 ? later : earlier;
  const arith::ConstBound front = indices_at(ahead, threads.axis),
                          back = indices_at(&ahead == &later ? earlier : later, threads.axis);
  return !back.min || !front.is_at_most(*back.min);
}

/// Whether accesses of an argument in global memory need no barrier. Each element is stored by one
/// thread, or by several threads with the same value. A thread that reads the element that it
/// stores therefore reads its own value. Temporaries of the kernel are excluded because they are
/// refilled in each enclosing iteration.
bool SharedUses::are_of_one_thread(const Use& a, const Use& b) {
  if (a.access.is_store && b.access.is_store) return true;
  return a.is_known && b.is_known && a.access.count == b.access.count &&
         a.access.stride == b.access.stride && structural_equal(a.access.first, b.access.first);
}

/// Whether the accesses are provably disjoint. The proof uses the distance between the two threads
/// or iterations, or their separate ranges.
bool SharedUses::are_apart_in_sum(const Use& earlier, const Use& later, Occasion when,
                                  Threads threads) const {
  return are_apart_in_sum(earlier, later, when, threads, true) ||
         are_apart_in_sum(earlier, later, when, threads, false);
}

bool SharedUses::are_apart_in_sum(const Use& earlier, const Use& later, Occasion when,
                                  Threads threads, bool by_steps) const {
  if (earlier.access.buffer->dtype.element() != later.access.buffer->dtype.element()) return false;
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(later.constant, earlier.constant, &difference)) return false;
  arith::Reach reach(difference);
  // If both uses share a term that is 0 or 1, each of the two values is tried separately.
  std::optional<arith::Reach> other_reach;
  bool fits = true;
  const auto add_range = [&](std::int64_t factor, std::optional<std::int64_t> min,
                             std::optional<std::int64_t> max) {
    reach.add(factor, min, max);
    if (other_reach) other_reach->add(factor, min, max);
  };
  const auto add = [&](int number, std::int64_t first, std::int64_t second) {
    const Variable& v = variables_[static_cast<std::size_t>(number)];
    const bool is_thread = v.kind == Variable::Kind::Thread;
    const bool is_stepped = is_thread ? v.axis == threads.axis
                                      : v.kind == Variable::Kind::Loop && when.is_carried &&
                                            v.loops == when.equal_loops + 1;
    const bool is_equal =
        is_thread ? v.axis < threads.axis : v.loops <= when.equal_loops && !v.varies_by_thread;
    const arith::ConstBound in_first = is_thread ? indices_at(earlier, v.axis) : v.range,
                            in_second = is_thread ? indices_at(later, v.axis) : v.range;
    if (is_equal || (is_stepped && by_steps)) {
      const bool is_second_ahead = !is_thread || threads.sign > 0;
      const arith::ConstBound front = is_second_ahead ? in_second : in_first,
                              back = is_second_ahead ? in_first : in_second;
      const auto [min, max] = is_equal ? intersect(front, back) : back;
      std::int64_t both = 0;
      fits &= !__builtin_sub_overflow(second, first, &both);
      if (!is_stepped && !other_reach && both != 0 && min == 0 && max == 1) {
        other_reach = reach;
        other_reach->add_constant(both);
        return;
      }
      add_range(both, min, max);
      std::optional<std::int64_t> steps;
      if (back.min && front.max) steps = *front.max - *back.min;
      // The two threads or iterations are 1 to `steps` steps apart.
      if (is_stepped) add_range(is_second_ahead ? second : -first, 1, steps);
      return;
    }
    add_range(second, in_second.min, in_second.max);
    add_range(-first, in_first.min, in_first.max);
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
  const std::int64_t low = 1 - later.access.count, high = earlier.access.count - 1;
  return fits && reach.misses(low, high) && (!other_reach || other_reach->misses(low, high));
}

bool SharedUses::are_apart_by_proof(const Use& earlier, const Use& later, Occasion when,
                                    Threads threads) {
  if (++proofs_ > kProofs + kProofsForEachUse * static_cast<int>(uses_.size())) return false;
  arith::Relation relation;
  std::vector<arith::FreeVar> vars;
  for (const Variable& v : variables_) {
    const bool is_thread = v.kind == Variable::Kind::Thread;
    const bool is_equal = is_thread ? v.axis < threads.axis : v.loops <= when.equal_loops;
    if (v.kind == Variable::Kind::Other) continue;
    // Loops that enclose neither use are irrelevant.
    const Var var = Var::of(v.value);
    if (!uses_var(earlier.access.first, var) && !uses_var(later.access.first, var)) continue;
    const bool is_stepped =
        is_thread ? v.axis == threads.axis : when.is_carried && v.loops == when.equal_loops + 1;
    using Step = arith::Relation::Step;
    const Step ahead = is_thread && threads.sign < 0 ? Step::Earlier : Step::Later;
    const auto& [min, max] = v.range;
    const DataType type = v.value.dtype();
    std::optional<Range> range;
    if (min && max)
      range = Range::from_min_extent(make_int(type, *min), make_int(type, *max - *min + 1));
    vars.push_back({var, range});
    if (!is_equal) relation = std::move(relation).with(var, range, is_stepped ? ahead : Step::Any);
  }
  const arith::Access first = access_of(earlier.access), second = access_of(later.access);
  return arith::are_disjoint(first, second, relation, facts_) ||
         (proofs_ <= kProofs && arith::are_disjoint_by_trial(first, second, vars, relation));
}

}  // namespace tenon::lowering
