#include "lower/gpu/shared_uses.h"

#include <algorithm>

#include "tenon/arith/index_terms.h"
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
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
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
    // The launch uses the larger of two extents.
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

namespace {

/// Rewrites floormod(x + 3, 2) as 1 - floormod(x, 2), so that one bit distinguishes the copies of a
/// double buffer.
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

/// Returns the expression with lets inlined and one variable per thread axis.
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

/// The memory that a call accesses through an address: `count` rows of `length` elements, `stride`
/// elements apart.
struct Rows {
  std::int64_t count, length, stride;
};

bool moves_matrix(const Call& call) {
  return call.is(Intrin::tvm_load_matrix_sync) || call.is(Intrin::tvm_store_matrix_sync);
}

/// Returns nullopt if the arguments of the call do not determine the rows.
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
  Rows rows{fragment->scope == StorageScope::WmmaMatrixB ? *k : *m,
            fragment->scope == StorageScope::WmmaMatrixA ? *k : *n, *stride};
  const StringImm* layout = call.args[7].as<StringImm>();
  if (layout && layout->value == "col_major") std::swap(rows.count, rows.length);
  // A single use covers all rows. This costs at most one more barrier, if others write between
  // them.
  if (call.is(Intrin::tvm_load_matrix_sync))
    return Rows{1, (rows.count - 1) * rows.stride + rows.length, 0};
  return rows;
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
  // A callee that receives an address may read and write around it.
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
        for (std::int64_t row = 0; row < rows->count; ++row)
          uses.insert(add_range(
              buffer, address->args[2] + make_int(address->args[2].dtype(), row * rows->stride),
              rows->length, is_store));
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
  std::sort(use.terms.begin(), use.terms.end(),
            [](const Term& a, const Term& b) { return a.variable < b.variable; });
  uses_.push_back(std::move(use));
  return number;
}

/// Adds one term of the index; returns false if its coefficient overflows int64.
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

}  // namespace tenon::lowering
