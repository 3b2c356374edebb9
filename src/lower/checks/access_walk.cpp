#include "lower/checks/access_walk.h"

#include <algorithm>
#include <ranges>

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;
using arith::can_prove;

AccessWalk::AccessWalk(const PrimFunc& func, Found found, Effort effort)
    : func_(func),
      found_(std::move(found)),
      effort_(effort),
      memory_(func.body),
      current_(func.body) {
  for (const BufferParam& param : func.buffers) {
    Expr size = make_int(Int(32), 1);
    std::vector<Range>& room = rooms_[param.declared.get()];
    for (const Expr& extent : param.declared->shape) {
      room.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
      size = size * extent;
      // The function's entry checks that extents of arrays are nonnegative.
      if (extent.as<VarNode>()) facts_.bind_bound(Var::of(extent), {0, std::nullopt});
    }
    if (param.declared->strides.empty()) sizes_.emplace(&param.declared->data.node(), size);
  }
}

Stmt AccessWalk::run() { return stmt(func_.body); }

Stmt AccessWalk::stmt(const Stmt& s) {
  std::vector<Stmt> outer_checks = std::exchange(checks_, {});
  const Stmt outer = current_;
  current_ = s;
  stage_buffer_.reset();
  Stmt result = node(s);
  current_ = outer;
  stage_buffer_.reset();
  if (!checks_.empty()) {
    checks_.push_back(std::move(result));
    result = make_seq(std::move(checks_));
  }
  checks_ = std::move(outer_checks);
  return result;
}

/// Visits a statement after its own expressions. `checks_` holds the statements to insert before
/// it.
Stmt AccessWalk::node(const Stmt& s) {
  if (const Store* n = s.as<Store>()) {
    store(*n);
    return s;
  }
  if (const If* n = s.as<If>()) {
    expr(n->condition);
    return branches(*n, s);
  }
  for_each_child(
      s, [&](const Expr& e) { expr(e); }, [](const Stmt&) {});
  if (const For* n = s.as<For>()) return loop(*n, s);
  const std::size_t guards = guards_.size(), guarded = guarded_.size(), loops = loops_.size();
  Scopes scopes;
  if (const Assert* n = s.as<Assert>()) assume(n->condition, scopes);
  if (const Let* n = s.as<Let>()) enter_let(n->var, n->value);
  if (const Realize* n = s.as<Realize>()) rooms_.insert_or_assign(n->buffer.get(), n->bounds);
  if (const BufferView* n = s.as<BufferView>()) {
    std::vector<Range> room;
    for (const Expr& extent : n->view->shape)
      room.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
    rooms_.insert_or_assign(n->view.get(), std::move(room));
  }
  if (const Allocate* n = s.as<Allocate>()) {
    Expr size = make_int(Int(32), 1);
    for (const Expr& extent : n->extents) size = size * extent;
    sizes_.insert_or_assign(&n->data.node(), size);
  }
  if (const Attr* n = s.as<Attr>();
      n && (n->kind == AttrKind::ThreadExtent || n->kind == AttrKind::VirtualThread)) {
    const Var thread = std::get<IterVar>(n->subject).var();
    enter(thread, Range::from_min_extent(make_int(thread.dtype(), 0), n->value));
  }
  const Stmt result = map_statements(s, [&](const Stmt& child) { return stmt(child); });
  loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(loops), loops_.end());
  end_guards(guards, guarded);
  return result;
}

Stmt AccessWalk::loop(const For& n, const Stmt& s) {
  // A loop without iterations performs no accesses.
  if (constant_int(n.extent).value_or(1) <= 0) return s;
  Scopes scopes;
  const bool is_known = memory_.is_stable(n.min) && memory_.is_stable(n.extent);
  if (is_known) {
    enter(n.var, Range::from_min_extent(symbolic(n.min), symbolic(n.extent)));
    // A reached iteration implies a positive extent.
    if (effort_ == Effort::Proof && !constant_int(n.extent))
      scopes.push_back(facts_.assume(loops_.back().second.extent >= 1));
  }
  const Stmt result = map_statements(s, [&](const Stmt& child) { return stmt(child); });
  if (is_known) loops_.pop_back();
  return result;
}

/// Enters a loop or a thread axis.
void AccessWalk::enter(const Var& var, const Range& range) {
  loops_.emplace_back(var, range);
  if (effort_ == Effort::Proof) return facts_.bind(var, range, /*replace=*/true);
  first_.enter(var, range.min);
}

void AccessWalk::enter_let(const Var& var, const Expr& value) {
  if (!value.dtype().is_index() || !memory_.is_stable(value)) return;
  facts_.bind(var, value, /*replace=*/true);
  if (effort_ == Effort::WrongOnly) first_.enter(var, value);
}

Stmt AccessWalk::branches(const If& n, const Stmt& s) {
  // Guards of loops are conditions as well: if they never hold, the guarded accesses never happen.
  ++conditions_;
  const auto under = [&](const Expr& condition, const Stmt& branch) {
    const std::size_t guards = guards_.size(), guarded = guarded_.size();
    Scopes scopes;
    assume(condition, scopes);
    const Stmt result = stmt(branch);
    end_guards(guards, guarded);
    return result;
  };
  const Stmt then_case = under(n.condition, n.then_case);
  std::optional<Stmt> else_case = n.else_case;
  if (else_case) else_case = under(make_not(n.condition), *n.else_case);
  --conditions_;
  const bool is_same =
      then_case.same_as(n.then_case) && (!else_case || else_case->same_as(*n.else_case));
  return is_same ? s : make_stmt(If{n.condition, then_case, else_case});
}

void AccessWalk::assume(const Expr& condition, Scopes& scopes) {
  // Conditional accesses cannot be definitely wrong.
  if (effort_ == Effort::WrongOnly) return;
  for_each_conjunct(condition, [&](const Expr& part) {
    if (part.dtype().is_scalar() && memory_.is_stable(part)) add_fact(symbolic(part), scopes);
  });
}

void AccessWalk::add_fact(const Expr& condition, Scopes& scopes) {
  scopes.push_back(facts_.assume(condition));
  const Binary* n = condition.as<Binary>();
  if (!n || !n->a.dtype().is_index() || !n->b.dtype().is_index()) return;
  const bool is_below = n->op == BinaryOp::Lt || n->op == BinaryOp::Le;
  const bool is_above = n->op == BinaryOp::Gt || n->op == BinaryOp::Ge;
  if (!is_below && !is_above) return;
  const bool is_strict = n->op == BinaryOp::Lt || n->op == BinaryOp::Gt;
  const Expr room = is_below ? n->b - n->a : n->a - n->b;
  guards_.push_back(arith::simplify(is_strict ? room - 1 : room, facts_));
  const Expr sum = arith::simplify(n->a, facts_);
  if (!sum.as<Binary>()) return;
  const auto known = std::ranges::find_if(
      guarded_, [&](const auto& each) { return structural_equal(each.first, sum); });
  const bool is_new = known == guarded_.end();
  const Var var = is_new ? Var("guarded", sum.dtype()) : known->second;
  if (is_new) {
    guarded_.emplace_back(sum, var);
    if (arith::wraps(sum, facts_)) arith::bind_data(var, facts_);
    facts_.bind_bound(var, arith::const_bound(sum, facts_));
  }
  scopes.push_back(facts_.assume(make_binary(n->op, var, n->b)));
}

/// Substitutes a variable for each distinct element that is loaded from read-only memory.
Expr AccessWalk::symbolic(const Expr& e) {
  if (effect_of(e) == Effect::Pure) return e;
  return rewrite(e, [&](const Load& n, const Expr& self) -> std::optional<Expr> {
    if (!n.buffer->dtype.is_index() || !self.dtype().is_scalar() || !memory_.is_stable(self))
      return std::nullopt;
    for (const auto& [element, var] : elements_)
      if (structural_equal(element, self)) return var;
    elements_.emplace_back(self, Var(n.buffer->name, self.dtype()));
    arith::bind_data(elements_.back().second, facts_);
    return elements_.back().second;
  });
}

// ---- expressions --------------------------------------------------------------------------------

void AccessWalk::store(const Store& n) {
  expr(n.value);
  for (const Expr& index : n.indices) expr(index);
  add(AccessKind::Write, n.buffer, n.indices);
}

void AccessWalk::expr(const Expr& e) {
  if (const Load* n = e.as<Load>()) {
    for (const Expr& index : n->indices) expr(index);
    return add(AccessKind::Read, n->buffer, n->indices);
  }
  if (const Call* n = as_call(e, Intrin::if_then_else)) {
    expr(n->args[0]);
    under(n->args[0], n->args[1]);
    return under(make_not(n->args[0]), n->args[2]);
  }
  if (const Select* n = e.as<Select>(); n && n->condition.dtype().is_scalar()) {
    expr(n->condition);
    under(n->condition, n->if_true);
    return under(make_not(n->condition), n->if_false);
  }
  if (const Binary* n = e.as<Binary>();
      n && e.dtype().is_scalar() && (n->op == BinaryOp::And || n->op == BinaryOp::Or)) {
    expr(n->a);
    return under(n->op == BinaryOp::And ? n->a : make_not(n->a), n->b);
  }
  // Taking an address does not read the element.
  if (const Call* n = as_call(e, Intrin::address_of)) {
    if (const Load* load = n->args[0].as<Load>())
      for (const Expr& index : load->indices) expr(index);
    return;
  }
  if (const LetExpr* n = e.as<LetExpr>()) {
    expr(n->value);
    enter_let(n->var, n->value);
    around_.push_back({n->var, n->value});
    expr(n->body);
    around_.pop_back();
    return;
  }
  for_each_child(e, [&](const Expr& child) { expr(child); });
}

void AccessWalk::end_guards(std::size_t guards, std::size_t guarded) {
  guards_.erase(guards_.begin() + static_cast<std::ptrdiff_t>(guards), guards_.end());
  guarded_.erase(guarded_.begin() + static_cast<std::ptrdiff_t>(guarded), guarded_.end());
}

void AccessWalk::under(const Expr& condition, const Expr& e) {
  const std::size_t guards = guards_.size(), guarded = guarded_.size();
  Scopes scopes;
  assume(condition, scopes);
  around_.push_back({std::nullopt, condition});
  ++conditions_;
  expr(e);
  --conditions_;
  around_.pop_back();
  end_guards(guards, guarded);
}

// ---- one access ---------------------------------------------------------------------------------

namespace {

/// The smallest and the largest index of a vector access.
struct Ends {
  Expr first, last;
};

std::optional<Ends> ends_of(const Expr& index) {
  if (index.dtype().is_scalar()) return Ends{index, index};
  if (const Broadcast* n = index.as<Broadcast>()) return Ends{n->value, n->value};
  const Ramp* n = index.as<Ramp>();
  if (!n) return std::nullopt;
  const Expr end = n->base + n->stride * make_int(n->stride.dtype(), n->lanes - 1);
  const auto stride = constant_int(n->stride);
  if (!stride) return Ends{min(n->base, end), max(n->base, end)};
  return *stride < 0 ? Ends{end, n->base} : Ends{n->base, end};
}

}  // namespace

bool AccessWalk::is_nonnegative(const Expr& e) const {
  if (can_prove(e >= 0, facts_)) return true;
  // A guard states that some expression is nonnegative; `e` may exceed it by a nonnegative amount.
  return std::ranges::any_of(guards_, [&](const Expr& guard) {
    return can_prove(arith::simplify(e - guard, facts_) >= 0, facts_);
  });
}

/// Whether e >= bound provably holds, either directly or for the minimum of the difference over all
/// loops, whose ends may be symbolic.
bool AccessWalk::is_at_least(const Expr& e, const Expr& bound) const {
  Expr difference = arith::simplify(e - bound, facts_);
  if (is_nonnegative(difference) || can_prove(e >= bound, facts_)) return true;
  for (const auto& [var, values] : std::views::reverse(loops_)) {
    if (!uses_var(difference, var)) continue;
    arith::IntervalMap relaxed;
    relaxed.set(var, arith::Interval::from_range(values));
    const std::optional<Expr> least = arith::values_of(difference, relaxed, facts_).min();
    if (!least) return false;
    difference = arith::simplify(*least, facts_);
    if (is_nonnegative(difference)) return true;
  }
  return false;
}

/// Replaces the sums that guards bound by variables, so that quotients of them are bounded as well.
Expr AccessWalk::with_guarded(const Expr& e) const {
  if (guarded_.empty()) return e;
  // The replacement precedes simplification, which would expand sums under divisions.
  return rewrite(e, [&](const Binary&, const Expr& self) -> std::optional<Expr> {
    if (!self.dtype().is_index() || !self.dtype().is_scalar()) return std::nullopt;
    const Expr simple = arith::simplify(self, facts_);
    for (const auto& [sum, var] : guarded_)
      if (structural_equal(sum, simple)) return var;
    return std::nullopt;
  });
}

/// Whether constant bounds prove the access in bounds.
bool AccessWalk::is_plainly_inside(const Expr& first, const Expr& last, const Range& room) const {
  const auto min = constant_int(room.min), extent = constant_int(room.extent);
  if (!min || !extent) return false;
  return arith::const_bound(first, facts_).is_at_least(*min) &&
         arith::const_bound(last, facts_).is_below(*min + *extent);
}

/// Binds the loops for a full proof of an access that is not in bounds in the first iteration.
AccessWalk::Scopes AccessWalk::bind_loops() {
  Scopes scopes;
  for (const auto& [var, range] : loops_) {
    facts_.bind(var, range, /*replace=*/true);
    if (!constant_int(range.extent)) scopes.push_back(facts_.assume(range.extent >= 1));
  }
  return scopes;
}

/// Whether the access is definitely in bounds at least once, if the loops run at all.
bool AccessWalk::is_inside_first(const Buffer& buffer, const std::vector<Expr>& indices) const {
  const std::vector<Range>* room = own_room(buffer, indices.size());
  if (!room) return false;
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const std::optional<std::int64_t> index = first_.value(indices[n]);
    const auto min = first_.value((*room)[n].min), extent = first_.value((*room)[n].extent);
    if (!index || !min || !extent || *index < *min || *index - *min >= *extent) return false;
  }
  return true;
}

Inside AccessWalk::inside_of(const Expr& index, const Range& room) {
  const std::optional<Ends> ends = ends_of(index);
  if (!ends) return Inside::NotProved;
  const Expr first = symbolic(ends->first), last = symbolic(ends->last);
  if (is_plainly_inside(first, last, room)) return Inside::Proved;
  const Expr min = symbolic(room.min), end = min + symbolic(room.extent);
  const auto is_inside = [&](const Expr& least, const Expr& most) {
    return is_at_least(least, min) && (can_prove(most < end, facts_) || is_at_least(end, most + 1));
  };
  if (effort_ == Effort::Proof &&
      (is_inside(first, last) || is_inside(with_guarded(first), with_guarded(last))))
    return Inside::Proved;
  if (can_prove(first >= end, facts_) || can_prove(last < min, facts_)) return Inside::Outside;
  return Inside::NotProved;
}

std::vector<Range> AccessWalk::room_of(const Buffer& buffer, std::size_t rank) const {
  if (const std::vector<Range>* own = own_room(buffer, rank)) return *own;
  const auto size = sizes_.find(&buffer->data.node());
  if (rank != 1 || size == sizes_.end() || !is_zero(buffer->elem_offset)) return {};
  const Expr count = size->second;
  return {Range::from_min_extent(make_int(count.dtype(), 0), count)};
}

namespace {

/// Returns the stage whose buffer the first store inside writes.
std::optional<std::string> stored_in(const Stmt& s) {
  if (const Store* n = s.as<Store>()) return n->buffer->stage_name();
  std::optional<std::string> name;
  for_each_child(
      s, [](const Expr&) {},
      [&](const Stmt& child) {
        if (!name) name = stored_in(child);
      });
  return name;
}

}  // namespace

std::string AccessWalk::stage_buffer() {
  if (!stage_buffer_) stage_buffer_ = stored_in(current_).value_or("");
  return *stage_buffer_;
}

void AccessWalk::add(AccessKind kind, const Buffer& buffer, const std::vector<Expr>& indices) {
  Scopes scopes;
  if (effort_ == Effort::WrongOnly) {
    if (conditions_ > 0 || is_inside_first(buffer, indices)) return;
    scopes = bind_loops();
  }
  AccessProof proof{kind, buffer,          indices,       room_of(buffer, indices.size()),
                    {},   conditions_ > 0, stage_buffer()};
  if (proof.stage_buffer.empty()) proof.stage_buffer = buffer->stage_name();
  for (std::size_t n = 0; n < proof.room.size(); ++n)
    proof.inside.push_back(inside_of(indices[n], proof.room[n]));
  if (proof.room.empty() && !indices.empty()) proof.inside.push_back(Inside::NotProved);
  if (std::optional<Stmt> check = found_(proof, around_)) checks_.push_back(*check);
}

}  // namespace tenon::lowering
