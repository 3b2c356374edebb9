#include "lower/loops/lanes.h"

#include <algorithm>

#include "lower/loops/accumulation.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

bool is_lane_wise(Intrin intrin) {
  return intrin <= Intrin::q_multiply_shift || intrin == Intrin::likely ||
         intrin == Intrin::reinterpret;
}

namespace {

constexpr std::string_view kSerial = ".s";

/// Expands each element of one allocation to `lanes` adjacent ones: index * lanes + lane.
Stmt spread_allocation(const Stmt& body, const Var& data, const Expr& lane, int lanes) {
  const arith::Facts nothing;
  std::unordered_map<const BufferNode*, Buffer> spread;
  auto buffer_of = [&](const Buffer& buffer) {
    auto found = spread.find(buffer.get());
    if (found != spread.end()) return found->second;
    BufferNode node = *buffer.get();
    node.shape.back() = arith::simplify(node.shape.back() * lanes, nothing);
    node.strides.clear();
    return spread.emplace(buffer.get(), make_buffer(std::move(node))).first->second;
  };
  auto index_of = [&](std::vector<Expr> indices) {
    indices.back() = arith::simplify(indices.back() * lanes + lane, nothing);
    return indices;
  };
  return rewrite(
      body,
      [&](const Load& load, const Expr&) -> std::optional<Expr> {
        if (!load.buffer->data.same_as(data)) return std::nullopt;
        return make_load(buffer_of(load.buffer), index_of(load.indices));
      },
      [&](const Store& store, const Stmt&) -> std::optional<Stmt> {
        if (!store.buffer->data.same_as(data)) return std::nullopt;
        return make_store(buffer_of(store.buffer), store.value, index_of(store.indices));
      });
}

}  // namespace

bool is_serial_lanes(const For& loop) {
  return loop.kind == ForKind::Serial && loop.var.name().ends_with(kSerial);
}

Lanes::Lanes(Var var, Expr min, int lanes, LaneChoice choice)
    : var_(std::move(var)),
      min_(std::move(min)),
      lanes_(lanes),
      choice_(choice),
      ramp_(make_ramp(min_, make_int(var_.dtype(), 1), lanes)) {}

Expr Lanes::refuse(const Expr& e) {
  is_refused_ = true;
  return e;
}

Stmt Lanes::refuse(const Stmt& s) {
  is_refused_ = true;
  return s;
}

Expr Lanes::broadcast_to(const Expr& e, int lanes) {
  const int own = e.dtype().lanes;
  if (own == lanes) return e;
  if (const Broadcast* inner = e.as<Broadcast>(); inner && lanes % own == 0)
    return make_broadcast(inner->value, lanes);
  if (own != 1) return refuse(e);
  return make_broadcast(e, lanes);
}

// ---- expressions --------------------------------------------------------------------------------

std::vector<Expr> Lanes::exprs(const std::vector<Expr>& list) {
  return mapped(list, [&](const Expr& e) { return expr(e); });
}

Expr Lanes::expr(const Expr& e) {
  return match(
      e.node().value, [&](const IntImm&) { return e; }, [&](const FloatImm&) { return e; },
      [&](const StringImm&) { return e; },
      [&](const VarNode&) {
        if (e.same_as(var_)) return ramp_;
        auto found = lets_.find(&e.node());
        return found == lets_.end() ? e : found->second;
      },
      [&](const Cast& n) {
        const Expr value = expr(n.value);
        const Ramp* ramp = value.as<Ramp>();
        // Indices do not overflow, so a widened ramp is still a ramp.
        if (ramp && e.dtype().is_int() && value.dtype().is_int() &&
            e.dtype().bits > value.dtype().bits)
          return make_ramp(cast(e.dtype(), ramp->base), cast(e.dtype(), ramp->stride), ramp->lanes);
        return value.same_as(n.value) ? e
                                      : make_cast(e.dtype().with_lanes(value.dtype().lanes), value);
      },
      [&](const Binary& n) { return binary(n, e); },
      [&](const Not& n) {
        const Expr a = expr(n.a);
        return a.same_as(n.a) ? e : make_not(a);
      },
      [&](const Select& n) { return select(n, e); },
      [&](const Ramp& n) {
        const bool varies = !expr(n.base).same_as(n.base) || !expr(n.stride).same_as(n.stride);
        return varies ? refuse(e) : e;
      },
      [&](const Broadcast& n) { return expr(n.value).same_as(n.value) ? e : refuse(e); },
      [&](const Shuffle& n) {
        auto varies = [&](const Expr& part) { return !expr(part).same_as(part); };
        const bool is_same =
            std::ranges::none_of(n.vectors, varies) && std::ranges::none_of(n.indices, varies);
        return is_same ? e : refuse(e);
      },
      [&](const LetExpr& n) { return let(n, e); }, [&](const Call& n) { return call(n, e); },
      [&](const Load& n) { return load(n, e); }, [&](const ProducerLoad&) { return refuse(e); },
      [&](const Reduce&) { return refuse(e); });
}

Expr Lanes::sum(const Binary& op, const Expr& a, const Expr& b) {
  const int lanes = std::max(a.dtype().lanes, b.dtype().lanes);
  const Ramp* a_ramp = a.as<Ramp>();
  const Ramp* b_ramp = b.as<Ramp>();
  if (a.dtype().is_scalar() && b_ramp)
    return make_ramp(fold(op.op, a, b_ramp->base),
                     fold(op.op, make_int(a.dtype(), 0), b_ramp->stride), lanes);
  if (b.dtype().is_scalar() && a_ramp)
    return make_ramp(fold(op.op, a_ramp->base, b), a_ramp->stride, lanes);
  const Expr wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
  return is_refused_ ? a : fold(op.op, wide_a, wide_b);
}

Expr Lanes::product(const Expr& a, const Expr& b) {
  const Ramp* a_ramp = a.as<Ramp>();
  const Ramp* b_ramp = b.as<Ramp>();
  auto is_positive = [&](const Expr& factor) {
    return factor.dtype().is_scalar() && arith::can_prove_at_least(factor, 1, facts_);
  };
  if (a_ramp && is_positive(b))
    return make_ramp(fold(BinaryOp::Mul, a_ramp->base, b), fold(BinaryOp::Mul, a_ramp->stride, b),
                     a_ramp->lanes);
  if (b_ramp && is_positive(a))
    return make_ramp(fold(BinaryOp::Mul, b_ramp->base, a), fold(BinaryOp::Mul, b_ramp->stride, a),
                     b_ramp->lanes);
  const int lanes = std::max(a.dtype().lanes, b.dtype().lanes);
  const Expr wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
  return is_refused_ ? a : make_binary(BinaryOp::Mul, wide_a, wide_b);
}

Expr Lanes::binary(const Binary& op, const Expr& self) {
  const Expr a = expr(op.a), b = expr(op.b);
  if (is_refused_ || (a.same_as(op.a) && b.same_as(op.b))) return self;
  if (op.op == BinaryOp::Add || op.op == BinaryOp::Sub) return sum(op, a, b);
  if (op.op == BinaryOp::Mul) return product(a, b);
  const int lanes = std::max(a.dtype().lanes, b.dtype().lanes);
  const Expr wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
  return is_refused_ ? self : make_binary(op.op, wide_a, wide_b);
}

Expr Lanes::select(const Select& select, const Expr& self) {
  const Expr condition = expr(select.condition), a = expr(select.if_true),
             b = expr(select.if_false);
  if (is_refused_ || (condition.same_as(select.condition) && a.same_as(select.if_true) &&
                      b.same_as(select.if_false)))
    return self;
  const int lanes =
      std::max({int{condition.dtype().lanes}, int{a.dtype().lanes}, int{b.dtype().lanes}});
  const Expr wide_condition = broadcast_to(condition, lanes), wide_a = broadcast_to(a, lanes),
             wide_b = broadcast_to(b, lanes);
  return is_refused_ ? self : make_select(wide_condition, wide_a, wide_b);
}

Expr Lanes::let(const LetExpr& let, const Expr& self) {
  const Expr value = expr(let.value);
  if (is_refused_) return self;
  if (value.dtype() == let.value.dtype()) return make_let(let.var, value, expr(let.body));
  const Var wide(let.var.name(), value.dtype());
  set(lets_, let.var, wide);
  const Expr body = expr(let.body);
  lets_.erase(&let.var.node());
  return is_refused_ ? self : make_let(wide, value, body);
}

Expr Lanes::if_then_else(const Call& call, const Expr& self) {
  const Expr condition = expr(call.args[0]);
  if (is_refused_) return self;
  const Expr a = expr(call.args[1]), b = expr(call.args[2]);
  if (condition.dtype().is_vector()) {
    if (choice_ == LaneChoice::Serial) return refuse(self);
    const int lanes = condition.dtype().lanes;
    const Expr wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
    return is_refused_ ? self : make_select(condition, wide_a, wide_b);
  }
  if (condition.same_as(call.args[0]) && a.same_as(call.args[1]) && b.same_as(call.args[2]))
    return self;
  const int lanes = std::max(a.dtype().lanes, b.dtype().lanes);
  const Expr wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
  return is_refused_ ? self
                     : make_call(self.dtype().with_lanes(lanes), Intrin::if_then_else,
                                 {condition, wide_a, wide_b});
}

Expr Lanes::call(const Call& call, const Expr& self) {
  if (call.is(Intrin::if_then_else)) return if_then_else(call, self);
  std::vector<Expr> args = exprs(call.args);
  bool is_same = true;
  int lanes = 1;
  for (std::size_t n = 0; n < args.size(); ++n) {
    is_same = is_same && args[n].same_as(call.args[n]);
    lanes = std::max(lanes, int{args[n].dtype().lanes});
  }
  if (is_refused_ || is_same) return self;
  const Intrin* intrin = std::get_if<Intrin>(&call.callee);
  const bool is_serial_in_text =
      choice_ == LaneChoice::Serial &&
      (call.is(Intrin::isnan) || call.is(Intrin::isinf) || call.is(Intrin::isfinite));
  if (!intrin || !is_lane_wise(*intrin) || is_serial_in_text) {
    // An argument that remains scalar may contain a ramp, for example in an index. Such calls are
    // legal.
    for (std::size_t n = 0; n < args.size(); ++n)
      if (args[n].dtype().lanes != call.args[n].dtype().lanes) return refuse(self);
    return make_call(self.dtype(), call.callee, std::move(args));
  }
  for (Expr& arg : args) arg = broadcast_to(arg, lanes);
  return is_refused_ ? self
                     : make_call(self.dtype().with_lanes(lanes), call.callee, std::move(args));
}

Expr Lanes::load(const Load& load, const Expr& self) {
  const std::vector<Expr> indices = exprs(load.indices);
  bool is_same = true;
  for (std::size_t n = 0; n < indices.size(); ++n) {
    is_same = is_same && indices[n].same_as(load.indices[n]);
    if (n + 1 < indices.size() && indices[n].dtype().is_vector()) return refuse(self);
  }
  return is_refused_ || is_same ? self : make_load(load.buffer, indices);
}

// ---- statements ---------------------------------------------------------------------------------

Stmt Lanes::stmt(const Stmt& s) {
  const Stmt result = by_lanes(s);
  if (!is_refused_) return result;
  is_refused_ = false;
  return serial(s);
}

Stmt Lanes::by_lanes(const Stmt& s) {
  if (const Store* n = s.as<Store>()) return store(*n, s);
  if (const For* n = s.as<For>()) return loop(*n, s);
  if (const If* n = s.as<If>()) return branch(*n, s);
  if (const Let* n = s.as<Let>()) return let(*n, s);
  if (const Allocate* n = s.as<Allocate>()) return allocate(*n, s);
  if (const Evaluate* n = s.as<Evaluate>()) {
    const Expr value = expr(n->value);
    // An effect happens once per lane; a prefetch is only a hint.
    const bool is_effect =
        effect_of(value) == Effect::UpdateState && !as_call(value, Intrin::prefetch);
    return is_refused_ || is_effect ? refuse(s) : make_evaluate(value);
  }
  if (s.as<While>() || s.as<Assert>()) return refuse(s);
  return map_children(
      s,
      [&](const Expr& e) {
        const Expr wide = expr(e);
        return wide.dtype() == e.dtype() ? wide : refuse(e);
      },
      [&](const Stmt& c) { return is_refused_ ? c : stmt(c); });
}

Stmt Lanes::store(const Store& store, const Stmt& self) {
  std::vector<Expr> indices = exprs(store.indices);
  const Expr value = expr(store.value);
  if (is_refused_) return self;
  bool is_same = value.same_as(store.value);
  for (std::size_t n = 0; n < indices.size(); ++n) {
    is_same = is_same && indices[n].same_as(store.indices[n]);
    if (n + 1 < indices.size() && indices[n].dtype().is_vector()) return refuse(self);
  }
  // All lanes store to the same element. The order matters if they store different values, or read
  // the value of the previous lane.
  const bool is_fixed = indices.back().same_as(store.indices.back());
  if (is_fixed && (!is_same || reads(store.value, store.buffer->data))) return refuse(self);
  if (is_same) return self;
  const int element_lanes = store.buffer->dtype.lanes;
  const int lanes =
      std::max(int{value.dtype().lanes}, element_lanes * indices.back().dtype().lanes);
  indices.back() = broadcast_to(indices.back(), lanes / element_lanes);
  const Expr wide = broadcast_to(value, lanes);
  return is_refused_ ? self : make_store(store.buffer, wide, indices);
}

Stmt Lanes::loop(const For& loop, const Stmt& self) {
  const Expr min = expr(loop.min), extent = expr(loop.extent);
  if (is_refused_ || min.dtype().is_vector() || extent.dtype().is_vector()) return refuse(self);
  return make_stmt(For{loop.var, min, extent, loop.kind, stmt(loop.body)});
}

Stmt Lanes::branch(const If& branch, const Stmt& self) {
  const Expr condition = expr(branch.condition);
  if (is_refused_ || condition.dtype().is_vector()) return refuse(self);
  const Stmt then_case = stmt(branch.then_case);
  if (is_refused_ || !branch.else_case) return make_stmt(If{condition, then_case, std::nullopt});
  return make_stmt(If{condition, then_case, stmt(*branch.else_case)});
}

Stmt Lanes::let(const Let& let, const Stmt& self) {
  const Expr value = expr(let.value);
  if (is_refused_) return self;
  if (value.dtype() == let.value.dtype()) return make_stmt(Let{let.var, value, stmt(let.body)});
  const Var wide(let.var.name(), value.dtype());
  set(lets_, let.var, wide);
  const Stmt body = stmt(let.body);
  lets_.erase(&let.var.node());
  return make_stmt(Let{wide, value, body});
}

Stmt Lanes::allocate(const Allocate& allocate, const Stmt& self) {
  Allocate result = allocate;
  result.condition = expr(allocate.condition);
  result.extents = exprs(allocate.extents);
  for (const Expr& extent : result.extents)
    if (extent.dtype().is_vector()) return refuse(self);
  if (is_refused_ || result.condition.dtype().is_vector()) return refuse(self);
  // Each lane has its own memory.
  result.extents.back() = result.extents.back() * lanes_;
  result.body = stmt(spread_allocation(allocate.body, allocate.data, var_ - min_, lanes_));
  return make_stmt(std::move(result));
}

Stmt Lanes::serial(const Stmt& s) {
  // An enclosing let holds a vector here, so that let must become serial as a whole.
  if (!lets_.empty() && uses_var(s, [&](const Expr& var) { return lets_.contains(&var.node()); }))
    return refuse(s);
  const Var index(var_.name() + std::string(kSerial), var_.dtype());
  VarMap replaced;
  set(replaced, var_, index);
  return make_stmt(
      For{index, min_, make_int(var_.dtype(), lanes_), ForKind::Serial, replace_vars(s, replaced)});
}

}  // namespace tenon::lowering
