// Passes that choose the width of indices.
#include "lower/passes.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

// ---- narrow_index_types -------------------------------------------------------------------------

// Narrows 64-bit loops and indices to 32 bits if all their values provably fit.
//
//   for (i: int64, 0i64, 8i64) { A[(i*4i64)] = ... }  =>  for (i: int32, 0, 8) { A[(i*4)] = ... }
//
// The pass does not widen: flatten_storage computes indices past int32 in int64 from the start.
//
// A 64-bit loop or thread variable is narrowed if its range is constant and every expression that
// contains it has constant bounds within int32. In indices, constants and casts are narrowed as
// well; elsewhere, a narrowed variable is cast back.

using namespace tir;

namespace {

bool fits_in_int32(const arith::ConstBound& bound) {
  return bound.is_at_least(std::numeric_limits<std::int32_t>::min()) &&
         bound.is_at_most(std::numeric_limits<std::int32_t>::max());
}

bool is_wide_integer(const Expr& e) { return e.dtype().is_int() && e.dtype().bits > 32; }

bool fits_in_int32(const Expr& e, const arith::Facts& facts) {
  return !is_wide_integer(e) || fits_in_int32(arith::const_bound(e, facts));
}

/// Returns the buffer with `f` applied to its extents, strides and offset; the same buffer if none
/// of them changes.
template <class F>
Buffer with_sizes(const Buffer& buffer, F f) {
  BufferNode node = *buffer.get();
  bool is_same = true;
  const auto renew = [&](Expr& e) {
    const Expr renewed = f(e);
    is_same = is_same && renewed.same_as(e);
    e = renewed;
  };
  std::ranges::for_each(node.shape, renew);
  std::ranges::for_each(node.strides, renew);
  renew(node.elem_offset);
  return is_same ? buffer : make_buffer(std::move(node));
}

class Narrower {
 public:
  Stmt run(const Stmt& body) {
    survey(body);
    return candidates_.empty() ? body : stmt(body);
  }

 private:
  // ---- the first step: finds the 64-bit variables that do not occur in any expression that needs
  // 64 bits

  void survey(const Stmt& s) {
    if (const For* loop = s.as<For>())
      define(loop->var, Range::from_min_extent(loop->min, loop->extent));
    if (const Attr* attr = s.as<Attr>())
      if (const IterVar* thread = bound_axis(*attr)) define(thread->var(), Range(0, attr->value));
    for_each_child(
        s, [&](const Expr& e) { survey(e, true); }, [&](const Stmt& c) { survey(c); });
  }

  void survey(const Expr& e, bool fits) {
    fits = fits && fits_in_int32(e, facts_);
    if (e.as<VarNode>() && !fits) wide_.insert(&e.node());
    for_each_child(e, [&](const Expr& c) { survey(c, fits); });
  }

  void define(const Var& var, const Range& range) {
    facts_.bind(var, range, true);
    // The loop counter reaches the end of the range even if the loop variable is unused, so the end
    // must fit as well.
    const bool fits =
        fits_in_int32(range.extent, facts_) && fits_in_int32(range.min + range.extent, facts_);
    if (is_wide_integer(var) && fits) candidates_.insert(&var.node());
  }

  bool is_narrow(const Expr& var) const {
    return candidates_.contains(&var.node()) && !wide_.contains(&var.node());
  }

  // ---- the second step: rewrites the function

  Stmt stmt(const Stmt& s) {
    if (const Store* store = s.as<Store>())
      return make_stmt(Store{buffer(store->buffer), cast(store->value.dtype(), expr(store->value)),
                             indices(store->indices)});
    if (const For* loop = s.as<For>()) {
      const Var var = renamed(loop->var);
      const Expr min = cast(var.dtype(), expr(loop->min)),
                 extent = cast(var.dtype(), expr(loop->extent));
      return make_stmt(For{var, min, extent, loop->kind, stmt(loop->body)});
    }
    if (const Attr* attr = s.as<Attr>()) return this->attr(*attr);
    if (const Let* let = s.as<Let>())
      return make_stmt(Let{let->var, cast(let->var.dtype(), expr(let->value)), stmt(let->body)});
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
  }

  Var renamed(const Var& var) {
    if (!is_narrow(var)) return var;
    const Var narrow(var.name(), Int(32));
    set(narrowed_, var, narrow);
    return narrow;
  }

  Stmt attr(const Attr& attr) {
    Attr result = attr;
    if (const IterVar* thread = bound_axis(attr); thread && is_narrow(thread->var())) {
      // An axis may occur around several parts of a function, which must share one variable.
      auto known = narrowed_.find(&thread->var().node());
      const Var var = known == narrowed_.end() ? renamed(thread->var()) : Var::of(known->second);
      result.subject = IterVar(thread->dom(), var, thread->kind(), thread->thread());
      result.value = cast(Int(32), expr(attr.value));
    } else {
      result.value = expr(attr.value);
    }
    if (Expr* subject = std::get_if<Expr>(&result.subject)) *subject = expr(*subject);
    result.body = stmt(attr.body);
    return make_stmt(std::move(result));
  }

  /// Rewrites the extents, strides and offset of a buffer, which can depend on loop variables.
  Buffer buffer(const Buffer& b) {
    const auto [known, is_new] = buffers_.try_emplace(b.get(), b);
    if (!is_new) return known->second;
    const bool outer = std::exchange(in_index_, false);
    const Buffer narrow = with_sizes(b, [&](const Expr& e) { return expr(e); });
    in_index_ = outer;
    return buffers_.insert_or_assign(b.get(), narrow).first->second;
  }

  std::vector<Expr> indices(const std::vector<Expr>& list) {
    const bool outer = std::exchange(in_index_, true);
    std::vector<Expr> result = mapped(list, [&](const Expr& e) { return expr(e); });
    in_index_ = outer;
    return result;
  }

  Expr expr(const Expr& e) {
    const bool outer = fits_;
    fits_ = fits_ && fits_in_int32(e, facts_);
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
      const bool outer = std::exchange(fits_, true);
      const Expr result = make_load(buffer(load->buffer), indices(load->indices));
      fits_ = outer;
      return result;
    }
    if (const Cast* node = e.as<Cast>()) {
      const Expr value = expr(node->value);
      if (may_narrow) return cast(Int(32), value);
      return value.same_as(node->value) ? e : cast(e.dtype(), value);
    }
    if (const Binary* node = e.as<Binary>()) return binary(*node, e);
    if (const Select* node = e.as<Select>()) {
      const auto [a, b] = promote(expr(node->if_true), expr(node->if_false));
      return make_select(expr(node->condition), a, b);
    }
    if (const Call* call = as_call(e, Intrin::if_then_else)) {
      const auto [a, b] = promote(expr(call->args[1]), expr(call->args[2]));
      return make_call(a.dtype(), Intrin::if_then_else, {expr(call->args[0]), a, b});
    }
    // Other expressions and their operands keep their types.
    return map_children(e, [&](const Expr& c) { return cast(c.dtype(), expr(c)); });
  }

  Expr binary(const Binary& node, const Expr& self) {
    const Expr a = expr(node.a), b = expr(node.b);
    if (a.same_as(node.a) && b.same_as(node.b)) return self;
    const auto [x, y] = promote(a, b);
    return fold(node.op, x, y);
  }

  arith::Facts facts_;
  std::unordered_set<const ExprNode*> candidates_, wide_;
  VarMap narrowed_;
  /// The narrowed copy of each buffer. Never iterated, because the keys are addresses.
  std::unordered_map<const BufferNode*, Buffer> buffers_;
  bool in_index_ = false;
  bool fits_ = true;
};

}  // namespace

PrimFunc narrow_index_types(const PrimFunc& func, const PassOptions&) {
  return with_body(func, Narrower().run(func.body));
}

// ---- widen_index_types --------------------------------------------------------------------------

// Computes indices, guards, loop ends and allocation sizes in 64 bits if they might exceed int32.
// Runs for host code and for kernels, after `lower`.
//
//   for (f: int32, 0, (n*m))                =>  for (f: int64, 0, (cast(int64, n)*cast(int64, m)))
//     T[((floordiv(f, m)*m) + i)] = ...     =>    T[...], computed in int64
//
// Expressions that provably fit int32, and arithmetic on values, keep their types.
//
// A stride of an argument that may be broadcast can exceed int32 even if all extents fit. Its
// variable gets 64 bits, unless it is also used as a value of 32 bits, such as an argument of a
// call. The entry of the function then checks that it fits.

namespace {

bool is_int32(const Expr& e) { return e.dtype().element() == Int(32); }
DataType widened(DataType type) { return Int(64, type.lanes); }

/// Whether some size, stride, offset or argument is symbolic, so that its value is known only at
/// the call.
bool has_symbols(const PrimFunc& func) {
  for (const Var& param : func.params)
    if (!func.buffer_of(param) && param.dtype().is_integral()) return true;
  for (const BufferParam& param : func.buffers) {
    if (!constant_int(param.declared->elem_offset)) return true;
    for (const auto* sizes : {&param.declared->shape, &param.declared->strides})
      for (const Expr& size : *sizes)
        if (!constant_int(size)) return true;
  }
  return false;
}

/// Returns the int32 variables that occur only as strides of parameters that may be broadcast.
std::vector<Var> broadcast_strides(const PrimFunc& func) {
  std::vector<Var> strides;
  std::unordered_set<const ExprNode*> others;
  const auto add_others = [&](const Expr& e) {
    for (const Var& var : free_vars(e)) others.insert(&var.node());
  };
  std::ranges::for_each(func.params, add_others);
  for (const BufferParam& param : func.buffers) {
    const BufferNode& declared = *param.declared.get();
    std::ranges::for_each(declared.shape, add_others);
    add_others(declared.elem_offset);
    for (const Expr& stride : declared.strides)
      if (declared.kind == BufferKind::AutoBroadcast && stride.as<VarNode>() && is_int32(stride))
        strides.push_back(Var::of(stride));
      else
        add_others(stride);
  }
  std::erase_if(strides, [&](const Var& var) { return others.contains(&var.node()); });
  return strides;
}

class IndexWidener {
 public:
  /// `strides` are the strides of parameters that become wide.
  IndexWidener(bool has_symbols, const std::vector<Var>& strides) : has_symbols_(has_symbols) {
    for (const Var& stride : strides) {
      strides_.insert(&stride.node());
      set(wide_, stride, Var(stride.name(), Int(64)));
    }
  }

  PrimFunc run(const PrimFunc& func) {
    PrimFunc result = with_body(func, stmt(func.body));
    for (BufferParam& param : result.buffers) {
      param.declared = buffer(param.declared);
      param.buffer = buffer(param.buffer);
    }
    return result;
  }

  /// Whether the stride, which became wide, is also used as a value of 32 bits.
  bool is_narrow_value(const Var& stride) const { return narrow_strides_.contains(&stride.node()); }

 private:
  Stmt stmt(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(*n);
    if (const Let* n = s.as<Let>()) return let(*n);
    if (const Allocate* n = s.as<Allocate>()) return allocate(*n);
    if (const Store* n = s.as<Store>())
      return make_stmt(Store{buffer(n->buffer), value(n->value), indices(n->buffer, n->indices)});
    if (const If* n = s.as<If>()) {
      const Expr test = value(n->condition);
      const Stmt then_case = [&] {
        const arith::Facts::Scope scope = facts_.assume(n->condition);
        return stmt(n->then_case);
      }();
      return make_stmt(
          If{test, then_case, n->else_case ? std::optional(stmt(*n->else_case)) : std::nullopt});
    }
    if (const Attr* n = s.as<Attr>(); n && bound_axis(*n))
      facts_.bind(bound_axis(*n)->var(), Range(0, n->value), true);
    return map_children(
        s, [&](const Expr& e) { return value(e); }, [&](const Stmt& c) { return stmt(c); });
  }

  // ---- statements

  Stmt loop(const For& n) {
    facts_.bind(n.var, Range::from_min_extent(n.min, n.extent), true);
    const Expr end = n.min + n.extent;
    if (!is_int32(n.var) || !may_wrap(bounded(end))) {
      const Expr min = index(n.min, n.var.dtype()), extent = index(n.extent, n.var.dtype());
      return make_stmt(For{n.var, min, extent, n.kind, stmt(n.body)});
    }
    const Expr min = wide(n.min), extent = wide(n.extent);
    if (fits_in_int32(arith::const_bound(min + extent, facts_)))
      return make_stmt(For{n.var, cast(Int(32), min), cast(Int(32), extent), n.kind, stmt(n.body)});
    const Var var(n.var.name(), Int(64));
    facts_.bind(var, Range::from_min_extent(min, extent), true);
    return make_stmt(For{var, min, extent, n.kind,
                         inside(n.var, var, n.body, [&](const Stmt& s) { return stmt(s); })});
  }

  Stmt let(const Let& n) {
    return let_of(
        n, [&](const Stmt& s) { return stmt(s); },
        [](const Var& var, const Expr& value, const Stmt& body) {
          return make_stmt(Let{var, value, body});
        });
  }
  template <class Rewrite>
  Expr let(const LetExpr& n, const Rewrite& rewrite) {
    return let_of(n, rewrite, make_let);
  }

  /// Widens the variable of a let (statement or expression) if its value is index arithmetic that
  /// needs 64 bits.
  template <class Node, class Rewrite, class Make>
  decltype(Node::body) let_of(const Node& n, const Rewrite& rewrite, const Make& make) {
    note_let(n.var, n.value);
    if (is_data(n.var) || !is_int32(n.var) || !n.var.dtype().is_scalar() || !needs_width(n.value))
      return make(n.var, value(n.value), rewrite(n.body));
    const Var var(n.var.name(), Int(64));
    const Expr wide_value = wide(n.value);
    note_let(var, wide_value);
    return make(var, wide_value, inside(n.var, var, n.body, rewrite));
  }

  /// Records the constant bounds of a let variable, or that it is data.
  void note_let(const Var& var, const Expr& value) {
    if (is_data(value))
      arith::bind_data(var, facts_);
    else if (value.dtype().is_index())
      facts_.bind_bound(var, arith::const_bound(value, facts_));
  }

  /// Rewrites `body` with `var` substituted for `narrow`. The substitution applies to this body
  /// only, because another loop may use the same variable and stay narrow.
  template <class Body, class Rewrite>
  Body inside(const Var& narrow, const Var& var, const Body& body, const Rewrite& rewrite) {
    set(wide_, narrow, var);
    const Body result = rewrite(body);
    wide_.erase(&narrow.node());
    std::erase_if(buffers_, [&](const auto& entry) {
      return std::ranges::any_of(sizes_of(entry.second),
                                 [&](const Expr& size) { return uses_var(size, var); });
    });
    return result;
  }

  static std::vector<Expr> sizes_of(const Buffer& buffer) {
    std::vector<Expr> sizes = buffer->shape;
    sizes.insert(sizes.end(), buffer->strides.begin(), buffer->strides.end());
    sizes.push_back(buffer->elem_offset);
    return sizes;
  }

  /// Widens the extents, strides and offset of a buffer, which can depend on loop variables.
  Buffer buffer(const Buffer& b) {
    if (wide_.empty()) return b;
    if (const auto known = buffers_.find(b.get()); known != buffers_.end()) return known->second;
    const Buffer result = with_sizes(b, [&](const Expr& e) { return uses_wide(e) ? wide(e) : e; });
    if (!result.same_as(b)) buffers_.emplace(b.get(), result);
    return result;
  }

  /// Widens the extents of an allocation. If an extent is a product, its factors become separate
  /// extents, so that overflow of the product is checked.
  Stmt allocate(const Allocate& n) {
    Allocate result = n;
    result.extents.clear();
    for (const Expr& extent : n.extents)
      if (is_int32(extent) && needs_width(extent))
        add_factors(extent, result.extents);
      else
        result.extents.push_back(value(extent));
    result.condition = value(n.condition);
    result.body = stmt(n.body);
    return make_stmt(std::move(result));
  }

  void add_factors(const Expr& e, std::vector<Expr>& factors) {
    if (const Binary* product = as_binary(e, BinaryOp::Mul)) {
      add_factors(product->a, factors);
      add_factors(product->b, factors);
    } else {
      factors.push_back(wide(e));
    }
  }

  // ---- expressions

  /// Whether the expression involves data from memory. Arithmetic on data wraps in its own type.
  bool is_data(const Expr& e) const { return e.dtype().is_integral() && arith::wraps(e, facts_); }

  bool uses_wide(const Expr& e) const {
    return !wide_.empty() &&
           uses_var(e, [&](const Expr& var) { return wide_.contains(&var.node()); });
  }

  static bool is_ring_operation(BinaryOp op) {
    return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul;
  }

  /// Whether the expression is a value whose arithmetic wraps, such as a quotient of data. In
  /// functions with symbolic sizes, sums and products of data are index arithmetic instead, such as
  /// a number of rows times their length. An index of a buffer of constant size needs no such
  /// exception, because its positions fit in int32 or have been computed in int64 from the start.
  bool is_value(const Expr& e) const {
    const Binary* n = e.as<Binary>();
    return is_data(e) &&
           !(has_symbols_ && !is_in_constant_buffer_ && n && is_ring_operation(n->op));
  }

  /// Returns the bounds of an operation, assuming that it does not wrap.
  arith::ConstBound bound_of(const Binary& n, const Expr& e) const {
    const DataType type = widened(e.dtype());
    return arith::const_bound(make_binary(n.op, cast(type, n.a), cast(type, n.b)), facts_);
  }

  /// Whether a stride or an intermediate result may exceed int32. Loads and calls for data are not
  /// examined, because they return int32 regardless of their operands.
  bool may_wrap(const Expr& e) const {
    if (strides_.contains(&e.node())) return true;
    if (e.as<Cast>() || !is_int32(e) || is_value(e)) return false;
    if (const Binary* n = e.as<Binary>(); n && !fits_in_int32(bound_of(*n, e))) return true;
    return any_child(e, [&](const Expr& child) { return may_wrap(child); });
  }

  /// Returns any lane of an index, with selects for other choices and without lets, since constant
  /// bounds of these are those of their type.
  Expr bounded(const Expr& e) {
    if (e.dtype().is_scalar() && !contains<Call>(e) && !contains<LetExpr>(e)) return e;
    const Var lane("lane");
    facts_.bind(lane, Range(0, e.dtype().lanes));
    walk(e, [&](const LetExpr& n) { note_let(n.var, n.value); });
    return rewrite(
        lane_value(e, lane).value_or(e),
        [](const Call& n, const Expr&) {
          return n.is(Intrin::if_then_else)
                     ? std::optional(make_select(n.args[0], n.args[1], n.args[2]))
                     : std::nullopt;
        },
        [](const LetExpr& n, const Expr&) { return std::optional(n.body); });
  }

  bool needs_width(const Expr& e) { return uses_wide(e) || may_wrap(bounded(e)); }

  /// Rewrites an index, which may have any type.
  Expr index(const Expr& e) { return is_int32(e) && needs_width(e) ? wide(e) : value(e); }

  std::vector<Expr> indices(const Buffer& accessed, const std::vector<Expr>& list) {
    const bool outer = std::exchange(is_in_constant_buffer_, has_constant_shape(accessed));
    std::vector<Expr> result = mapped(list, [&](const Expr& e) { return index(e); });
    is_in_constant_buffer_ = outer;
    return result;
  }

  /// Returns the index in the given type, which provably holds all values of the index.
  Expr index(const Expr& e, DataType type) {
    return is_int32(e) && needs_width(e) ? narrowed(e, type, wide(e)) : value(e);
  }

  /// Returns the wide form of an expression in another type, and notes the strides in it.
  Expr narrowed(const Expr& e, DataType type, const Expr& wide) {
    if (type.bits < 64)
      for (const Var& var : free_vars(e))
        if (strides_.contains(&var.node())) narrow_strides_.insert(&var.node());
    return cast(type, wide);
  }

  /// Returns the value of an int32 expression in int64, computed without wrapping.
  Expr wide(const Expr& e) {
    const DataType type = widened(e.dtype());
    if (!is_int32(e)) return cast(type, value(e));
    if (const auto found = wide_.find(&e.node()); found != wide_.end()) return found->second;
    if (const IntImm* constant = e.as<IntImm>()) return make_int(Int(64), constant->value);
    if (is_value(e)) return cast(type, value(e));
    if (const Binary* n = e.as<Binary>()) return fold(n->op, wide(n->a), wide(n->b));
    if (const Ramp* n = e.as<Ramp>()) return make_ramp(wide(n->base), wide(n->stride), n->lanes);
    if (const Broadcast* n = e.as<Broadcast>()) return make_broadcast(wide(n->value), n->lanes);
    if (const Select* n = e.as<Select>())
      return make_select(value(n->condition), wide(n->if_true), wide(n->if_false));
    if (const LetExpr* n = e.as<LetExpr>())
      return let(*n, [&](const Expr& body) { return wide(body); });
    if (const Call* n = e.as<Call>())
      return make_call(type, n->callee, mapped(n->args, [&](const Expr& arg) {
                         return is_int32(arg) ? wide(arg) : value(arg);
                       }));
    return cast(type, value(e));
  }

  /// Rewrites a value. Its sums and products keep their type, and widened loop variables in them
  /// are cast back. All other operations on indices (comparisons, quotients, casts to int64) take
  /// exact operands, because simplification and schedules assume that indices do not overflow.
  Expr value(const Expr& e) {
    if (const Load* n = e.as<Load>())
      return make_load(buffer(n->buffer), indices(n->buffer, n->indices));
    if (const LetExpr* n = e.as<LetExpr>())
      return let(*n, [&](const Expr& body) { return value(body); });
    if (const auto found = wide_.find(&e.node()); found != wide_.end())
      return narrowed(e, e.dtype(), found->second);
    if (const Call* n = as_call(e, Intrin::likely)) return likely(value(n->args[0]));
    if (const Cast* n = e.as<Cast>(); n && e.dtype().element() == Int(64) && is_int32(n->value) &&
                                      !is_data(n->value) && needs_width(n->value))
      return wide(n->value);
    if (const Binary* n = e.as<Binary>(); n && is_int32(n->a) && !is_data(e)) {
      const bool is_exact = !is_ring_operation(n->op) && (needs_width(n->a) || needs_width(n->b));
      if (is_exact || uses_wide(e)) {
        const Expr result = fold(n->op, wide(n->a), wide(n->b));
        return is_comparison(n->op) ? result : narrowed(e, e.dtype(), result);
      }
    }
    if (const Call* n = as_call(e, Intrin::tvm_access_ptr)) {
      constexpr std::size_t kOffset = 2, kExtent = 3;
      std::vector<Expr> args = n->args;
      for (const std::size_t at : {kOffset, kExtent}) args[at] = index(args[at]);
      return make_call(e.dtype(), Intrin::tvm_access_ptr, std::move(args));
    }
    return map_children(e, [&](const Expr& child) { return value(child); });
  }

  const bool has_symbols_;
  /// The strides that become wide, and those of them that are also used as values of 32 bits.
  std::unordered_set<const ExprNode*> strides_, narrow_strides_;
  /// Whether the expression is an index of a buffer of constant size.
  bool is_in_constant_buffer_ = false;
  arith::Facts facts_;
  /// The wide replacements of int32 variables.
  VarMap wide_;
  /// The new versions of buffers whose sizes use wide variables of enclosing loops. Never iterated,
  /// because the keys are addresses.
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

}  // namespace

PrimFunc widen_index_types(const PrimFunc& func, const PassOptions&) {
  const bool has_symbols = lowering::has_symbols(func);
  std::vector<Var> strides = broadcast_strides(func);
  while (true) {
    IndexWidener widener(has_symbols, strides);
    PrimFunc result = widener.run(func);
    if (std::erase_if(strides, [&](const Var& s) { return widener.is_narrow_value(s); }) == 0)
      return result;
  }
}

}  // namespace tenon::lowering
