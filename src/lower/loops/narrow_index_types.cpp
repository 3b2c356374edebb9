// Narrows 64-bit loops and indices to 32 bits if all their values provably fit.
//
//   for (i: int64, 0i64, 8i64) { A[(i*4i64)] = ... }  =>  for (i: int32, 0, 8) { A[(i*4)] = ... }
//
// The pass does not widen: flatten_storage computes indices past int32 in int64 from the start.
//
// A 64-bit loop or thread variable is narrowed if its range is constant and every expression that
// contains it has constant bounds within int32. In indices, constants and casts are narrowed as
// well; elsewhere, a narrowed variable is cast back.
#include "lower/passes.h"

#include <limits>
#include <unordered_map>
#include <utility>

#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool fits_in_int32(const Expr& e, const arith::Facts& facts) {
  if (!e.dtype().is_int() || e.dtype().bits <= 32) return true;
  const arith::ConstBound bound = arith::const_bound(e, facts);
  return bound.is_at_least(std::numeric_limits<std::int32_t>::min()) &&
         bound.is_at_most(std::numeric_limits<std::int32_t>::max());
}

bool is_wide_integer(const Expr& e) { return e.dtype().is_int() && e.dtype().bits > 32; }

const IterVar* thread_of(const Attr& attr) {
  const bool is_thread =
      attr.kind == AttrKind::ThreadExtent || attr.kind == AttrKind::VirtualThread;
  return is_thread ? &std::get<IterVar>(attr.subject) : nullptr;
}

/// The first step: finds the variables that occur in no expression that needs 64 bits.
class ExtentScan {
 public:
  arith::Facts facts;

  void stmt(const Stmt& s) {
    if (const For* loop = s.as<For>())
      define(loop->var, Range::from_min_extent(loop->min, loop->extent));
    if (const Attr* attr = s.as<Attr>())
      if (const IterVar* thread = thread_of(*attr)) define(thread->var(), Range(0, attr->value));
    for_each_child(
        s, [&](const Expr& e) { expr(e, true); }, [&](const Stmt& c) { stmt(c); });
  }

  bool is_narrow(const Expr& var) const {
    return candidates_.contains(&var.node()) && !wide_.contains(&var.node());
  }
  bool is_empty() const { return candidates_.empty(); }

 private:
  void define(const Var& var, const Range& range) {
    facts.bind(var, range, true);
    // A loop counts to the end of its range, even if its variable is unused.
    const bool fits =
        fits_in_int32(range.extent, facts) && fits_in_int32(range.min + range.extent, facts);
    if (is_wide_integer(var) && fits) candidates_.insert(&var.node());
  }

  void expr(const Expr& e, bool fits) {
    fits = fits && fits_in_int32(e, facts);
    if (e.as<VarNode>() && !fits) wide_.insert(&e.node());
    for_each_child(e, [&](const Expr& c) { expr(c, fits); });
  }

  std::unordered_set<const ExprNode*> candidates_, wide_;
};

/// The second step: rewrites the function.
class Narrower {
 public:
  explicit Narrower(const ExtentScan& survey) : survey_(survey) {}

  Stmt stmt(const Stmt& s) {
    if (const Store* store = s.as<Store>())
      return make_stmt(Store{buffer(store->buffer), as(store->value.dtype(), expr(store->value)),
                             indices(store->indices)});
    if (const For* loop = s.as<For>()) {
      const Var var = renamed(loop->var);
      const Expr min = as(var.dtype(), expr(loop->min)),
                 extent = as(var.dtype(), expr(loop->extent));
      return make_stmt(For{var, min, extent, loop->kind, stmt(loop->body)});
    }
    if (const Attr* attr = s.as<Attr>()) return this->attr(*attr);
    if (const Let* let = s.as<Let>())
      return make_stmt(Let{let->var, as(let->var.dtype(), expr(let->value)), stmt(let->body)});
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
  }

 private:
  static Expr as(DataType type, const Expr& e) { return e.dtype() == type ? e : cast(type, e); }

  Var renamed(const Var& var) {
    if (!survey_.is_narrow(var)) return var;
    const Var narrow(var.name(), Int(32));
    set(narrowed_, var, narrow);
    return narrow;
  }

  Stmt attr(const Attr& attr) {
    Attr result = attr;
    if (const IterVar* thread = thread_of(attr); thread && survey_.is_narrow(thread->var())) {
      // An axis may occur around several parts of a function, which must share one variable.
      auto known = narrowed_.find(&thread->var().node());
      const Var var = known == narrowed_.end() ? renamed(thread->var()) : Var::of(known->second);
      result.subject = IterVar(thread->dom(), var, thread->kind(), thread->thread());
      result.value = as(Int(32), expr(attr.value));
    } else {
      result.value = expr(attr.value);
    }
    if (Expr* subject = std::get_if<Expr>(&result.subject)) *subject = expr(*subject);
    result.body = stmt(attr.body);
    return make_stmt(std::move(result));
  }

  /// Rewrites the sizes of a buffer, which can depend on loop variables.
  Buffer buffer(const Buffer& b) {
    const auto [known, is_new] = buffers_.try_emplace(b.get(), b);
    if (!is_new) return known->second;
    const bool outer = std::exchange(in_index_, false);
    BufferNode node = *b.get();
    bool is_same = true;
    const auto renew = [&](Expr& e) {
      const Expr narrow = expr(e);
      is_same = is_same && narrow.same_as(e);
      e = narrow;
    };
    for (Expr& extent : node.shape) renew(extent);
    for (Expr& stride : node.strides) renew(stride);
    renew(node.elem_offset);
    in_index_ = outer;
    return is_same ? b
                   : buffers_.insert_or_assign(b.get(), make_buffer(std::move(node))).first->second;
  }

  std::vector<Expr> indices(const std::vector<Expr>& list) {
    const bool outer = in_index_;
    in_index_ = true;
    std::vector<Expr> result;
    for (const Expr& e : list) result.push_back(expr(e));
    in_index_ = outer;
    return result;
  }

  Expr expr(const Expr& e) {
    const bool outer = fits_;
    fits_ = fits_ && fits_in_int32(e, survey_.facts);
    const Expr result = narrowed(e);
    fits_ = outer;
    return result;
  }

  Expr narrowed(const Expr& e) {
    if (auto found = narrowed_.find(&e.node()); found != narrowed_.end()) return found->second;
    const bool may_narrow = in_index_ && fits_ && is_wide_integer(e) && e.dtype().is_scalar();
    if (const IntImm* constant = e.as<IntImm>())
      return may_narrow ? make_int(Int(32), constant->value) : e;
    if (const Load* load = e.as<Load>()) {
      const bool outer = fits_;
      fits_ = true;
      const Expr result = make_load(buffer(load->buffer), indices(load->indices));
      fits_ = outer;
      return result;
    }
    if (const Cast* node = e.as<Cast>()) {
      const Expr value = expr(node->value);
      if (may_narrow) return as(Int(32), value);
      return value.same_as(node->value) ? e : as(e.dtype(), value);
    }
    if (const Binary* node = e.as<Binary>()) return binary(*node, e);
    if (const Select* node = e.as<Select>()) {
      const Promoted arms = promote(expr(node->if_true), expr(node->if_false));
      return make_select(expr(node->condition), arms.a, arms.b);
    }
    if (const Call* call = as_call(e, Intrin::if_then_else)) {
      const Promoted arms = promote(expr(call->args[1]), expr(call->args[2]));
      return make_call(arms.a.dtype(), Intrin::if_then_else, {expr(call->args[0]), arms.a, arms.b});
    }
    // Other expressions and their operands keep their types.
    return map_children(e, [&](const Expr& c) { return as(c.dtype(), expr(c)); });
  }

  Expr binary(const Binary& node, const Expr& self) {
    const Expr a = expr(node.a), b = expr(node.b);
    if (a.same_as(node.a) && b.same_as(node.b)) return self;
    const Promoted both = promote(a, b);
    return fold(node.op, both.a, both.b);
  }

  const ExtentScan& survey_;
  VarMap narrowed_;
  /// Used for look-up only, never iterated.
  std::unordered_map<const BufferNode*, Buffer> buffers_;
  bool in_index_ = false;
  bool fits_ = true;
};

}  // namespace

PrimFunc narrow_index_types(const PrimFunc& func, const PassOptions&) {
  ExtentScan survey;
  survey.stmt(func.body);
  if (survey.is_empty()) return func;
  return with_body(func, Narrower(survey).stmt(func.body));
}

}  // namespace tenon::lowering
