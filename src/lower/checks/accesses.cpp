// The access checker: proves that accesses are in bounds, and checks the others at run time.
#include <algorithm>
#include <functional>
#include <ranges>
#include <unordered_map>

#include "lower/loops/thread_reductions.h"
#include "lower/passes.h"
#include "lower/rewriting.h"
#include "tenon/arith/compute.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/iteration_box.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/lower/checks.h"
#include "tenon/support/index_outside.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;
using arith::AccessKind;
using arith::can_prove;

namespace {

/// The value that first_value assumes for symbolic sizes.
constexpr std::int64_t kAnySize = 4099;

/// The values of variables in the first iteration of all enclosing loops; nullopt if unknown. Never
/// iterated, because the keys are addresses.
using FirstValues = std::unordered_map<const ExprNode*, std::optional<std::int64_t>>;

/// Evaluates an index in the first iteration of all enclosing loops: an access that is in bounds
/// there cannot be always out of bounds.
///
///   for i in [3, 8): A[i - 2]           // the value of i - 2 is 1
///   for i < n:       A[i + n]           // the value of i + n is kAnySize
///
/// Returns the value of an integer expression of constants, variables and arithmetic; nullopt for
/// other expressions.
std::optional<std::int64_t> first_value(const Expr& e, const FirstValues& values) {
  if (!e.dtype().is_scalar() || !e.dtype().is_integral()) return std::nullopt;
  if (const IntImm* n = e.as<IntImm>()) return n->value;
  if (const Cast* n = e.as<Cast>()) return first_value(n->value, values);
  if (const Binary* n = e.as<Binary>()) {
    const std::optional<std::int64_t> a = first_value(n->a, values),
                                      b = a ? first_value(n->b, values) : std::nullopt;
    return b ? arith::compute(n->op, *a, *b) : std::nullopt;
  }
  if (!e.as<VarNode>()) return std::nullopt;
  const auto known = values.find(&e.node());
  return known == values.end() ? kAnySize : known->second;
}

/// Returns the smallest and the largest lane of an index; nullopt for a vector other than a ramp or
/// a broadcast.
std::optional<std::pair<Expr, Expr>> ends_of(const Expr& index) {
  if (index.dtype().is_scalar()) return std::pair(index, index);
  if (const Broadcast* n = index.as<Broadcast>()) return std::pair(n->value, n->value);
  const Ramp* n = index.as<Ramp>();
  if (!n) return std::nullopt;
  const Expr end = n->base + n->stride * make_int(n->stride.dtype(), n->lanes - 1);
  const auto stride = constant_int(n->stride);
  if (!stride) return std::pair(min(n->base, end), max(n->base, end));
  return *stride < 0 ? std::pair(end, n->base) : std::pair(n->base, end);
}

Expr product_of(const std::vector<Expr>& extents, Expr product = 1) {
  for (const Expr& extent : extents) product = product * extent;
  return product;
}

/// Returns the name of the stage whose buffer is written by the first store inside.
std::optional<std::string> stored_in(const Stmt& s) {
  if (const Store* n = s.as<Store>()) return n->buffer->stage_name();
  std::optional<std::string> name;
  for_each_statement(s, [&](const Stmt& child) {
    if (!name) name = stored_in(child);
  });
  return name;
}

/// A walk over the accesses of a function, with the facts that hold at each of them.
class AccessWalk {
 public:
  /// Called for each access. `around` holds the enclosing let expressions and conditions of the
  /// access within its statement. They are represented as Let and If statements with empty bodies,
  /// outermost first. The returned statement is inserted before the statement of the access.
  using Found =
      std::function<std::optional<Stmt>(const AccessProof&, const std::vector<Stmt>& around)>;

  /// How much work to spend on each access. Proof tries every proof. WrongOnly only looks for
  /// accesses that are definitely out of bounds, and tries cheap proofs only. SizesOnly collects
  /// conditions on sizes instead of calling `found`.
  enum class Effort : std::uint8_t { Proof, WrongOnly, SizesOnly };

  AccessWalk(const PrimFunc& func, std::vector<arith::SizeCondition>& conditions)
      : AccessWalk(func, {}, Effort::SizesOnly) {
    size_conditions_ = &conditions;
  }
  AccessWalk(const PrimFunc& func, Found found, Effort effort = Effort::Proof)
      : func_(func),
        found_(std::move(found)),
        effort_(effort),
        memory_(func.body),
        facts_(arith::facts_of_arguments(func)),
        current_(func.body) {
    for (const BufferParam& param : func.buffers) {
      const Buffer& declared = param.declared;
      allowed_.emplace(declared.get(), whole_region(declared->shape));
      if (declared->strides.empty())
        sizes_.emplace(&declared->data.node(), product_of(declared->shape));
    }
  }
  Stmt run() { return stmt(func_.body); }

 private:
  using Scopes = std::vector<arith::Facts::Scope>;

  Stmt stmt(const Stmt& s) {
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
  Stmt node(const Stmt& s) {
    if (const Store* n = s.as<Store>()) {
      store(*n);
      return s;
    }
    if (const If* n = s.as<If>()) {
      expr(n->condition);
      return branches(*n, s);
    }
    for_each_expression(s, [&](const Expr& e) { expr(e); });
    if (const For* n = s.as<For>()) return loop(*n, s);
    const std::size_t guards = guards_.size(), guarded = guarded_.size(), loops = loops_.size();
    const int conditions = conditions_;
    Scopes scopes;
    if (const Assert* n = s.as<Assert>()) assume(n->condition, scopes);
    if (s.as<Assert>() || s.as<While>()) enter_condition();
    if (const Let* n = s.as<Let>()) enter_let(n->var, n->value);
    if (const Realize* n = s.as<Realize>()) allowed_.insert_or_assign(n->buffer.get(), n->bounds);
    if (const BufferView* n = s.as<BufferView>()) {
      region_of(*n);
      allowed_.insert_or_assign(n->view.get(), whole_region(n->view->shape));
    }
    if (const Allocate* n = s.as<Allocate>())
      sizes_.insert_or_assign(&n->data.node(), product_of(n->extents));
    if (const Attr* n = s.as<Attr>(); n && bound_axis(*n)) {
      const Var thread = bound_axis(*n)->var();
      if (depends_on_loops(n->value)) enter_condition();
      enter(thread, Range::from_min_extent(make_int(thread.dtype(), 0), n->value));
    }
    const Stmt result = map_statements(s, [&](const Stmt& child) { return stmt(child); });
    truncate(loops_, loops);
    end_guards(guards, guarded);
    conditions_ = conditions;
    return result;
  }

  Stmt loop(const For& n, const Stmt& s) {
    // A loop without iterations performs no accesses.
    if (constant_int(n.extent).value_or(1) <= 0) return s;
    Scopes scopes;
    const bool is_known = memory_.is_stable(n.min) && memory_.is_stable(n.extent);
    const int conditions = conditions_;
    if (!is_known || depends_on_loops(n.min) || depends_on_loops(n.extent)) enter_condition();
    if (is_known) {
      enter(n.var, Range::from_min_extent(symbolic(n.min), symbolic(n.extent)));
      // Inside the body, the extent of the loop is positive.
      if (effort_ == Effort::Proof && !constant_int(n.extent))
        scopes.push_back(facts_.assume(loops_.back().second.extent >= 1));
    }
    const Stmt result = map_statements(s, [&](const Stmt& child) { return stmt(child); });
    if (is_known) loops_.pop_back();
    conditions_ = conditions;
    return result;
  }

  /// Visits the elements of the region that a view shows, as if a loop nest read them.
  void region_of(const BufferView& n) {
    std::vector<Expr> indices;
    std::vector<std::pair<Var, Range>> loops;
    for (const auto& [min, extent] : n.region) {
      indices.push_back(min);
      if (is_one(extent)) continue;
      const Var var(n.view->name + "_i" + std::to_string(loops.size()), extent.dtype());
      loops.emplace_back(var, Range::from_extent(extent));
      indices.back() = min + var;
    }
    Stmt reads = make_evaluate(make_load(n.source, std::move(indices)));
    for (const auto& [var, range] : loops | std::views::reverse)
      reads = make_stmt(For{var, range.min, range.extent, ForKind::Serial, std::move(reads)});
    const Stmt checked = stmt(reads);
    if (!checked.same_as(reads)) checks_.push_back(checked);
  }

  bool depends_on_loops(const Expr& e) const {
    return effort_ == Effort::SizesOnly && uses_var(e, [&](const Expr& var) {
             return std::ranges::any_of(loops_,
                                        [&](const auto& loop) { return loop.first.same_as(var); });
           });
  }

  /// Enters a statement that may skip its accesses in some iterations of the enclosing loops.
  void enter_condition() {
    if (effort_ == Effort::SizesOnly) ++conditions_;
  }

  /// Enters a loop or a thread axis.
  void enter(const Var& var, const Range& range) {
    loops_.emplace_back(var, range);
    if (effort_ == Effort::Proof) return facts_.bind(var, range, /*replace=*/true);
    first_.insert_or_assign(&var.node(), first_value(range.min, first_));
  }

  void enter_let(const Var& var, const Expr& value) {
    facts_.forget(var);
    lets_.erase(&var.node());
    if (effort_ == Effort::SizesOnly && effect_of(value) == Effect::Pure)
      if (std::optional<Expr> expanded = expand_let(value, lets_))
        set(lets_, var, *std::move(expanded));
    if (!value.dtype().is_index() || !memory_.is_stable(value)) return;
    facts_.bind(var, value);
    if (effort_ == Effort::WrongOnly)
      first_.insert_or_assign(&var.node(), first_value(value, first_));
  }

  Stmt branches(const If& n, const Stmt& s) {
    // Guards of loops are conditions as well: if they never hold, the guarded accesses never
    // happen.
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

  void assume(const Expr& condition, Scopes& scopes) {
    // Conditional accesses cannot be definitely wrong.
    if (effort_ == Effort::WrongOnly) return;
    for_each_conjunct(condition, [&](const Expr& part) {
      if (part.dtype().is_scalar() && memory_.is_stable(part)) add_fact(symbolic(part), scopes);
    });
  }

  void add_fact(const Expr& condition, Scopes& scopes) {
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

  /// Replaces each distinct element that is loaded from read-only memory by a variable.
  Expr symbolic(const Expr& e) {
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

  // ---- expressions

  void store(const Store& n) {
    expr(n.value);
    for (const Expr& index : n.indices) expr(index);
    add(AccessKind::Write, n.buffer, n.indices);
  }

  void expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) {
      for (const Expr& index : n->indices) expr(index);
      return add(AccessKind::Read, n->buffer, n->indices);
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
      around_.push_back(make_stmt(Let{n->var, n->value, make_nop()}));
      expr(n->body);
      around_.pop_back();
      return;
    }
    for_each_operand(
        e, [&](const Expr& operand) { expr(operand); },
        [&](const Expr& condition, const Expr& operand) { under(condition, operand); });
  }

  void end_guards(std::size_t guards, std::size_t guarded) {
    truncate(guards_, guards);
    truncate(guarded_, guarded);
  }

  void under(const Expr& condition, const Expr& e) {
    if (condition.dtype().is_vector()) {
      const int conditions = conditions_;
      enter_condition();
      expr(e);
      conditions_ = conditions;
      return;
    }
    const std::size_t guards = guards_.size(), guarded = guarded_.size();
    Scopes scopes;
    assume(condition, scopes);
    around_.push_back(make_stmt(If{condition, make_nop(), std::nullopt}));
    ++conditions_;
    expr(e);
    --conditions_;
    around_.pop_back();
    end_guards(guards, guarded);
  }

  // ---- one access

  bool is_nonnegative(const Expr& e) const {
    if (can_prove(e >= 0, facts_)) return true;
    // The expressions in guards_ are nonnegative. If `e` is provably at least one of them, it is
    // nonnegative too.
    return std::ranges::any_of(guards_, [&](const Expr& guard) {
      return can_prove(arith::simplify(e - guard, facts_) >= 0, facts_);
    });
  }

  /// Whether e >= bound provably holds. If there is no direct proof, tries to prove it for the
  /// minimum of e - bound over all loops, whose ends may be symbolic.
  bool is_at_least(const Expr& e, const Expr& bound) const {
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

  /// Replaces each sum that a guard bounds by a variable with these bounds, so that quotients of
  /// the sum are bounded as well.
  Expr with_guarded(const Expr& e) const {
    if (guarded_.empty()) return e;
    // The replacement must precede simplification, which would expand sums under divisions.
    return rewrite(e, [&](const Binary&, const Expr& self) -> std::optional<Expr> {
      if (!self.dtype().is_index() || !self.dtype().is_scalar()) return std::nullopt;
      const Expr simple = arith::simplify(self, facts_);
      for (const auto& [sum, var] : guarded_)
        if (structural_equal(sum, simple)) return var;
      return std::nullopt;
    });
  }

  /// Whether constant bounds prove the access in bounds.
  bool is_plainly_inside(const Expr& first, const Expr& last, const Range& allowed) const {
    const auto min = constant_int(allowed.min), extent = constant_int(allowed.extent);
    if (!min || !extent) return false;
    return arith::const_bound(first, facts_).is_at_least(*min) &&
           arith::const_bound(last, facts_).is_below(*min + *extent);
  }

  /// Binds the loop variables to their ranges and assumes that the loops run. Used for accesses
  /// that are not provably in bounds in the first iteration.
  Scopes bind_loops() {
    Scopes scopes;
    for (const auto& [var, range] : loops_) {
      facts_.bind(var, range, /*replace=*/true);
      if (!constant_int(range.extent)) scopes.push_back(facts_.assume(range.extent >= 1));
    }
    return scopes;
  }

  /// Whether the access is in bounds in the first iteration, and therefore at least once if the
  /// loops run.
  bool is_inside_first(const Buffer& buffer, const std::vector<Expr>& indices) const {
    const std::vector<Range>* ranges = declared_ranges(buffer, indices.size());
    if (!ranges) return false;
    for (std::size_t n = 0; n < indices.size(); ++n) {
      const auto index = first_value(indices[n], first_),
                 min = first_value((*ranges)[n].min, first_),
                 extent = first_value((*ranges)[n].extent, first_);
      if (!index || !min || !extent || *index < *min || *index - *min >= *extent) return false;
    }
    return true;
  }

  Inside inside_of(const Expr& index, const Range& allowed) {
    const auto ends = ends_of(index);
    if (!ends) return Inside::NotProved;
    const Expr first = symbolic(ends->first), last = symbolic(ends->second);
    if (is_plainly_inside(first, last, allowed)) return Inside::Proved;
    const Expr min = symbolic(allowed.min), end = min + symbolic(allowed.extent);
    const auto is_inside = [&](const Expr& least, const Expr& most) {
      return is_at_least(least, min) &&
             (can_prove(most < end, facts_) || is_at_least(end, most + 1));
    };
    if (effort_ == Effort::Proof &&
        (is_inside(first, last) || is_inside(with_guarded(first), with_guarded(last))))
      return Inside::Proved;
    if (can_prove(first >= end, facts_) || can_prove(last < min, facts_)) return Inside::Outside;
    return Inside::NotProved;
  }

  std::vector<Range> allowed_of(const Buffer& buffer, std::size_t rank) const {
    if (const std::vector<Range>* own = declared_ranges(buffer, rank)) return *own;
    const auto size = sizes_.find(&buffer->data.node());
    if (rank != 1 || size == sizes_.end() || !is_zero(buffer->elem_offset)) return {};
    const Expr count = size->second;
    return {Range::from_extent(count)};
  }

  std::string stage_buffer() {
    if (!stage_buffer_) stage_buffer_ = stored_in(current_).value_or("");
    return *stage_buffer_;
  }

  /// Requires that an unconditional access is in bounds in all iterations.
  void require_inside(AccessKind kind, const Buffer& buffer, const std::vector<Expr>& indices) {
    const std::vector<Range>* ranges = declared_ranges(buffer, indices.size());
    if (!ranges || conditions_ > 0) return;
    const arith::IterationBox box(loops_);
    for (std::size_t dim = 0; dim < indices.size(); ++dim) {
      const auto& [begin, extent] = (*ranges)[dim];
      if (depends_on_loops(extent)) continue;
      std::optional<arith::Interval> ends;
      if (const auto lanes = ends_of(indices[dim])) {
        const auto first = box.ends_of(substitute(lanes->first - begin, lets_)),
                   last = box.ends_of(substitute(lanes->second - begin, lets_));
        if (first && last) ends = arith::Interval::of(*first->min(), *last->max());
      }
      const Expr inside = box.inside(ends, extent);
      if (is_true(inside)) continue;
      const std::string message =
          stage_text(func_, stage_buffer().empty() ? buffer->stage_name() : stage_buffer()) + " " +
          arith::access_text(arith::access_of(kind, buffer, indices)) + " " +
          arith::outside_text(dim, ends, extent);
      if (is_zero(inside))
        throw BoundError(message + "; access it under if_then_else, or change the shape");
      std::optional<Var> size;
      if (buffer->kind == BufferKind::AutoBroadcast && extent.as<VarNode>()) size = Var::of(extent);
      arith::add_condition(*size_conditions_, {inside, size, message});
    }
  }

  void add(AccessKind kind, const Buffer& buffer, const std::vector<Expr>& indices) {
    if (effort_ == Effort::SizesOnly) return require_inside(kind, buffer, indices);
    Scopes scopes;
    if (effort_ == Effort::WrongOnly) {
      if (conditions_ > 0 || is_inside_first(buffer, indices)) return;
      scopes = bind_loops();
    }
    AccessProof proof{{.kind = kind, .buffer = buffer, .indices = indices, .stage = stage_buffer()},
                      allowed_of(buffer, indices.size()),
                      {},
                      conditions_ > 0};
    if (proof.access.stage.empty()) proof.access.stage = buffer->stage_name();
    for (std::size_t n = 0; n < proof.allowed.size(); ++n)
      proof.inside.push_back(inside_of(indices[n], proof.allowed[n]));
    if (proof.allowed.empty() && !indices.empty()) proof.inside.push_back(Inside::NotProved);
    if (std::optional<Stmt> check = found_(proof, around_)) checks_.push_back(*check);
  }

  const std::vector<Range>* declared_ranges(const Buffer& buffer, std::size_t rank) const {
    const auto own = allowed_.find(buffer.get());
    return own != allowed_.end() && own->second.size() == rank ? &own->second : nullptr;
  }

  const PrimFunc& func_;
  Found found_;
  const Effort effort_;
  arith::WrittenMemory memory_;
  arith::Facts facts_;
  /// The values of let variables, if they load nothing and are not too large.
  VarMap lets_;
  /// The enclosing loops and threads, outermost first.
  std::vector<std::pair<Var, Range>> loops_;
  FirstValues first_;
  /// The expressions that are nonnegative under the enclosing conditions. Also the sums that these
  /// conditions compare, each with the variable that represents it.
  std::vector<Expr> guards_;
  std::vector<std::pair<Expr, Var>> guarded_;
  /// The elements of read-only memory, each with the variable that represents it in facts.
  std::vector<std::pair<Expr, Var>> elements_;
  /// The valid index ranges of each buffer, and the number of elements of each data pointer.
  std::unordered_map<const BufferNode*, std::vector<Range>> allowed_;
  std::unordered_map<const ExprNode*, Expr> sizes_;
  /// The state of the current statement.
  std::vector<Stmt> around_;
  std::vector<Stmt> checks_;
  std::vector<arith::SizeCondition>* size_conditions_ = nullptr;
  Stmt current_;
  std::optional<std::string> stage_buffer_;
  int conditions_ = 0;
};

}  // namespace

bool AccessProof::is_proved() const {
  return std::ranges::all_of(inside, [](Inside i) { return i == Inside::Proved; });
}

bool AccessProof::is_wrong() const {
  return !is_conditional &&
         std::ranges::any_of(inside, [](Inside i) { return i == Inside::Outside; });
}

std::vector<AccessProof> prove_accesses(const PrimFunc& func) {
  std::vector<AccessProof> proofs;
  AccessWalk(func, [&](const AccessProof& proof, const std::vector<Stmt>&) {
    proofs.push_back(proof);
    return std::optional<Stmt>();
  }).run();
  return proofs;
}

std::string stage_text(const PrimFunc& func, const std::string& stage_buffer) {
  const std::vector<StageLine> lines = stage_lines(func.attrs);
  const auto found = std::ranges::find(lines, stage_buffer, &StageLine::buffer);
  return found == lines.end() ? stage_buffer : found->str();
}

std::string unproved_text(const AccessProof& proof) {
  if (proof.allowed.empty()) return proof.is_proved() ? "" : "of a size that is not known";
  std::string text;
  for (std::size_t n = 0; n < proof.allowed.size(); ++n) {
    if (proof.inside[n] == Inside::Proved) continue;
    const Range& allowed = proof.allowed[n];
    text += (text.empty() ? "" : ", ") + print_expr(proof.access.indices[n]) + " in [" +
            print_expr(allowed.min) + ", " +
            print_expr(fold(BinaryOp::Add, allowed.min, allowed.extent)) + ")";
  }
  return text;
}

namespace {

void refuse_if_wrong(const PrimFunc& func, const AccessProof& proof) {
  if (!proof.is_wrong()) return;
  throw BoundError(stage_text(func, proof.access.stage) + " " + arith::access_text(proof.access) +
                   ", which is outside of `" + proof.access.buffer->name +
                   "`: " + unproved_text(proof) +
                   " never holds; read it under if_then_else, or change the shape");
}

}  // namespace

void refuse_wrong_accesses(const PrimFunc& func) {
  AccessWalk(
      func,
      [&](const AccessProof& proof, const std::vector<Stmt>&) {
        refuse_if_wrong(func, proof);
        return std::optional<Stmt>();
      },
      AccessWalk::Effort::WrongOnly)
      .run();
}

// ---- conditions on sizes ------------------------------------------------------------------------

namespace {

/// Adds the conditions under which the inits of blocks run. Every loop of a reduction must have an
/// iteration, unless some other enclosing loop has none. Blocks under a condition are skipped,
/// because they may never run.
void require_inits(const Stmt& s, arith::IterationBox::Loops& around,
                   std::vector<arith::SizeCondition>& conditions) {
  if (s.as<If>() || s.as<While>() || s.as<Assert>()) return;
  if (const For* n = s.as<For>())
    around.emplace_back(n->var, Range::from_min_extent(n->min, n->extent));
  if (const BlockRealize* n = s.as<BlockRealize>(); n && n->block->init) {
    arith::IterationBox::Loops others;
    std::ranges::copy_if(around, std::back_inserter(others),
                         [&](const auto& loop) { return !is_reduced(*n, loop.first); });
    const arith::IterationBox box(std::move(others));
    for (const auto& loop : around)
      if (is_reduced(*n, loop.first) && !constant_int(loop.second.extent))
        arith::add_condition(
            conditions,
            {box.or_empty(arith::wide_position(loop.second.extent) >= 1), std::nullopt,
             "block `" + n->block->name + "` reduces over " + print_expr(loop.second.extent) +
                 " iterations of `" + loop.first.name() +
                 "`, but its init runs in the first of at least one"});
  }
  if (const BlockRealize* n = s.as<BlockRealize>(); n && !is_true(n->predicate)) return;
  for_each_statement(s, [&](const Stmt& child) { require_inits(child, around, conditions); });
  if (s.as<For>()) around.pop_back();
}

}  // namespace

std::vector<arith::SizeCondition> size_conditions(const PrimFunc& func) {
  std::vector<arith::SizeCondition> conditions;
  if (func.form == Form::Blocks) {
    arith::IterationBox::Loops around;
    require_inits(func.body, around, conditions);
    return conditions;
  }
  AccessWalk(func, conditions).run();
  return conditions;
}

namespace {

/// Removes the assertions that a function begins with, also those inside its allocations, and
/// returns them. They check the values of which other sizes consist, such as split factors.
std::vector<Assert> take_assertions(Stmt& body) {
  std::vector<Assert> assertions;
  if (const Assert* n = body.as<Assert>(); n && effect_of(n->condition) == Effect::Pure) {
    assertions.push_back(*n);
    Stmt rest = n->body;
    const std::vector<Assert> others = take_assertions(rest);
    assertions.insert(assertions.end(), others.begin(), others.end());
    body = std::move(rest);
  } else if (const Allocate* n = body.as<Allocate>()) {
    Allocate allocation = *n;
    assertions = take_assertions(allocation.body);
    if (!assertions.empty()) body = make_stmt(std::move(allocation));
  }
  return assertions;
}

}  // namespace

PrimFunc with_size_checks(PrimFunc func, const std::vector<arith::SizeCondition>& conditions) {
  std::vector<Expr> sizes(func.params.begin(), func.params.end());
  for (const BufferParam& param : func.buffers)
    for (const Expr& extent : param.declared->shape) {
      // A size of a narrow type is bound by an extent that is a cast of it.
      const Cast* cast = extent.as<Cast>();
      sizes.push_back(cast ? cast->value : extent);
    }
  const auto broadcasts = [&](const Var& size) {
    return std::ranges::all_of(func.buffers, [&](const BufferParam& param) {
      return param.declared->kind == BufferKind::AutoBroadcast ||
             std::ranges::none_of(param.declared->shape,
                                  [&](const Expr& extent) { return size.same_as(extent); });
    });
  };
  const std::vector<Assert> assertions = take_assertions(func.body);
  for (const auto& [condition, size, message] : conditions | std::views::reverse) {
    const bool is_known = std::ranges::all_of(free_vars(condition), [&](const Var& var) {
      return std::ranges::any_of(sizes, [&](const Expr& known) { return var.same_as(known); });
    });
    // Conditions that read memory are not asserted here, because the memory may change before the
    // access is reached.
    if (!is_known || effect_of(condition) != Effect::Pure) continue;
    const Expr holds = size && broadcasts(*size) ? condition || *size == 1 : condition;
    func.body = make_stmt(Assert{holds, message, func.body});
  }
  for (const Assert& first : assertions | std::views::reverse)
    func.body = make_stmt(Assert{first.condition, first.message, func.body});
  return func;
}

// ---- checks at run time -------------------------------------------------------------------------

// Adds a run-time check before the statement of each access that is not provably in bounds. At this
// point, accesses still have the user's indices:
//
//   B[i] = A[I[i]]
//
// becomes
//
//   if !(I[i] >= 0 && I[i] < 20)
//     call_packed("tenon_index_outside", "B, gather.cpp:9: reads `A`", 0, I[i], 0, 20)
//   B[i] = A[I[i]]
//
// Throws BoundError for an access that is out of bounds whenever it happens.

namespace {

/// Returns an index or size of the buffer in 64 bits, with the value that accesses compute. In a
/// buffer of symbolic size, sums and products of data do not wrap either (widen_index_types).
Expr wide(const Expr& e, const Buffer& buffer) {
  return has_constant_shape(buffer) ? cast(Int(64), e) : arith::wide_position(e);
}

Stmt report(const std::string& what, std::size_t dim, const Expr& index, const Expr& min,
            const Expr& extent) {
  return make_evaluate(
      make_call(Int(32), Intrin::tvm_call_packed,
                {make_string(std::string(kIndexOutside)), make_string(what),
                 make_int(Int(64), static_cast<std::int64_t>(dim)), index, min, extent}));
}

/// Wraps `s` in the context of an access. The let variables are fresh, because the original
/// expression defines its own.
Stmt within(const std::vector<Stmt>& around, Stmt s) {
  for (const Stmt& outer : std::views::reverse(around)) {
    if (const Let* n = outer.as<Let>()) {
      const Var fresh = n->var.fresh();
      s = make_stmt(Let{fresh, n->value, substitute(s, {{&n->var.node(), fresh}})});
    } else {
      s = map_statements(outer, [&](const Stmt&) { return s; });
    }
  }
  return s;
}

Stmt check_of(const AccessProof& proof, const std::string& what) {
  std::vector<Stmt> checks;
  for (std::size_t dim = 0; dim < proof.allowed.size(); ++dim) {
    const auto ends = ends_of(proof.access.indices[dim]);
    if (proof.inside[dim] == Inside::Proved || !ends) continue;
    const auto in_64_bits = [&](const Expr& e) { return wide(e, proof.access.buffer); };
    const Expr min = in_64_bits(proof.allowed[dim].min),
               extent = in_64_bits(proof.allowed[dim].extent);
    const auto check = [&](const Expr& end) {
      const Expr index = in_64_bits(end);
      const Expr inside = index >= min && index < min + extent;
      checks.push_back(
          make_stmt(If{make_not(inside), report(what, dim, index, min, extent), std::nullopt}));
    };
    check(ends->first);
    if (!ends->second.same_as(ends->first)) check(ends->second);
  }
  return make_seq(std::move(checks));
}

}  // namespace

PrimFunc check_accesses(const PrimFunc& func, const PassOptions&) {
  return with_body(
      func,
      AccessWalk(
          func,
          [&](const AccessProof& proof, const std::vector<Stmt>& around) -> std::optional<Stmt> {
            if (proof.is_proved() || proof.allowed.empty()) return std::nullopt;
            refuse_if_wrong(func, proof);
            const arith::Access& access = proof.access;
            return within(around,
                          check_of(proof, stage_text(func, access.stage) +
                                              (access.is_write() ? ": writes `" : ": reads `") +
                                              access.buffer->name + "`"));
          })
          .run());
}

// ---- checks of flat memory ----------------------------------------------------------------------

// Guards every store by bounds checks of all elements that it reads and writes:
//
//   Y[i] = X[i + 1]   =>   if (0 <= i < size(Y) && 0 <= i + 1 < size(X)) { Y[i] = X[i + 1] }
//                          else assert(..., "OUT OF THE BOUNDS")
//
// The size of a parameter comes from its `buffer_bound` attribute (flatten_storage), which also has
// the first element if it may precede the data pointer. The size of a temporary is that of its
// allocation, or of the accessed buffer if there is no attribute. A load in one arm of an
// if_then_else is checked only if that arm is taken.

namespace {

constexpr const char* kMessage = "OUT OF THE BOUNDS";

class Instrumenter {
 public:
  explicit Instrumenter(const PrimFunc& func) {
    for (const BufferParam& param : func.buffers)
      sizes_.emplace(&param.buffer->data.node(), std::vector<Expr>());
  }

  Stmt stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return guarded(s, *n);
    if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::BufferBound) note_size(*n);
    if (const Allocate* n = s.as<Allocate>()) allocated_.insert_or_assign(&n->data.node(), *n);
    return map_statements(s, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  void note_size(const Attr& attr) {
    const Call* size = attr.value.as<Call>();
    const Expr* data = std::get_if<Expr>(&attr.subject);
    if (size && data) sizes_.insert_or_assign(&data->node(), size->args);
  }

  Stmt guarded(const Stmt& s, const Store& n) {
    std::vector<Expr> conditions;
    collect(n.value, conditions);
    for (const Expr& index : n.indices) collect(index, conditions);
    if (auto own = in_bounds(n.buffer, n.indices)) conditions.push_back(std::move(*own));
    if (conditions.empty()) return s;
    const Expr all = conjunction(conditions);
    return make_stmt(If{all, s, make_stmt(Assert{all, kMessage, make_evaluate(1)})});
  }

  /// Appends the bounds conditions of all loads in the expression, left to right.
  void collect(const Expr& e, std::vector<Expr>& conditions) {
    if (const Load* n = e.as<Load>()) {
      if (auto own = in_bounds(n->buffer, n->indices)) conditions.push_back(std::move(*own));
    } else if (const LetExpr* n = e.as<LetExpr>()) {
      // A condition from the body is evaluated outside the let, so it needs a let of its own.
      std::vector<Expr> inner;
      collect(n->value, conditions);
      collect(n->body, inner);
      for (const Expr& condition : inner) {
        const Var fresh = n->var.fresh();
        const Expr renamed = substitute(condition, {{&n->var.node(), fresh}});
        conditions.push_back(renamed.same_as(condition) ? condition
                                                        : make_let(fresh, n->value, renamed));
      }
      return;
    }
    for_each_operand(
        e, [&](const Expr& operand) { collect(operand, conditions); },
        [&](const Expr& condition, const Expr& operand) {
          collect_under(condition, operand, conditions);
        });
  }

  /// Appends the bounds conditions of the loads in one arm of a choice. Choices by vector
  /// conditions are skipped, because check_accesses has checked each lane before vectorization.
  void collect_under(const Expr& condition, const Expr& branch, std::vector<Expr>& conditions) {
    if (condition.dtype().is_vector()) return;
    std::vector<Expr> inner;
    collect(branch, inner);
    for (const Expr& each : inner) {
      // The bound is evaluated only if the arm is taken, because the bound may contain loads that
      // the condition protects.
      conditions.push_back(make_call(Bool(), Intrin::if_then_else, {condition, each, make_true()}));
    }
  }

  /// Returns the distance from the data pointer to the end of the memory, in scalars, and then the
  /// distance to its beginning unless that is the data pointer; empty if the size is unknown.
  std::vector<Expr> size_of(const Buffer& buffer) const {
    const auto noted = sizes_.find(&buffer->data.node());
    const bool is_noted = noted != sizes_.end() && !noted->second.empty();
    const auto own = allocated_.find(&buffer->data.node());
    if (own == allocated_.end()) return is_noted ? noted->second : std::vector<Expr>();
    // The recorded size of a temporary does not count the copies made by double buffering and
    // virtual threads, so the allocation is used.
    return {is_noted ? size_of(own->second, buffer->dtype.element())
                     : buffer->shape.front() * buffer->dtype.lanes};
  }

  /// Returns the number of elements of type `element` that fit in the memory.
  static Expr size_of(const Allocate& memory, DataType element) {
    const Expr size = product_of(memory.extents, memory.dtype.lanes);
    const int own = memory.dtype.element().bytes(), other = element.bytes();
    return own == other ? size : floordiv(size * own, other);
  }

  std::optional<Expr> in_bounds(const Buffer& buffer, const std::vector<Expr>& indices) const {
    if (indices.size() != 1) return std::nullopt;
    const std::vector<Expr> size = size_of(buffer);
    const auto ends = ends_of(indices.front());
    if (size.empty() || !ends) return std::nullopt;
    const int lanes = buffer->dtype.lanes;
    const auto in_64_bits = [&](const Expr& e) {
      const Expr simple = arith::simplify(e);
      const bool is_kept = constant_int(simple) && simple.dtype() != Int(64);
      return is_kept ? make_cast(Int(64), simple) : wide(simple, buffer);
    };
    const Expr first = in_64_bits(ends->first), last = in_64_bits(ends->second) * lanes;
    const Expr is_after = size.size() == 1
                              ? make_binary(BinaryOp::Ge, first, make_int(Int(64), 0))
                              : make_binary(BinaryOp::Ge, first * lanes, in_64_bits(size.back()));
    return make_binary(BinaryOp::And, is_after,
                       make_binary(BinaryOp::Lt, last, in_64_bits(size.front())));
  }

  /// The arguments of the `buffer_bound` of parameters and temporaries. Never iterated, because the
  /// keys are addresses.
  std::unordered_map<const ExprNode*, std::vector<Expr>> sizes_;
  std::unordered_map<const ExprNode*, Allocate> allocated_;
};

}  // namespace

PrimFunc instrument_bounds(const PrimFunc& func, const PassOptions&) {
  return with_body(func, Instrumenter(func).stmt(func.body));
}

}  // namespace tenon::lowering
