#include "lower/loops/lanes.h"

#include <algorithm>

#include "lower/loops/accumulation.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::string_view kSerial = ".s";

/// Whether an intrinsic works lane by lane on vector arguments.
bool is_lane_wise(Intrin intrin) {
  return intrin <= Intrin::q_multiply_shift || intrin == Intrin::likely ||
         intrin == Intrin::reinterpret;
}

// ---- memory of lanes ----------------------------------------------------------------------------

/// Returns the common width of all vector accesses of the memory, each of which must be at a
/// multiple of the width. Returns 1 if scalars access the memory. Returns nullopt for other
/// accesses, or if an address is used.
std::optional<int> access_width(const Stmt& body, const Var& data) {
  if (uses_var(body, data)) return std::nullopt;
  StableLets lets(body);
  std::optional<int> width;
  bool is_regular = true;
  const auto note = [&](const Buffer& buffer, const Expr& index) {
    if (!buffer->data.same_as(data)) return;
    const Ramp* ramp = index.as<Ramp>();
    const int own = index.dtype().lanes;
    is_regular = is_regular && width.value_or(own) == own && (own == 1 || ramp);
    width = own;
    if (!ramp || !is_regular) return;
    const Expr base = lets.flat(ramp->base);
    is_regular = is_one(ramp->stride) &&
                 is_zero(arith::simplify(floormod(base, make_int(base.dtype(), own))));
  };
  walk(
      body, [&](const Let& let) { lets.define(let); },
      [&](const Load& load) { note(load.buffer, load.indices.back()); },
      [&](const Store& store) { note(store.buffer, store.indices.back()); },
      [&](const Call& call) {
        is_regular = is_regular && !(call.is(Intrin::address_of) && reads(call.args[0], data));
      });
  return is_regular ? std::optional(width.value_or(1)) : std::nullopt;
}

/// Gives every lane its own copy of the memory. Accesses are `width` elements wide, and the copies
/// are interleaved: `width` elements of one lane are followed by those of the next lane.
Stmt spread_allocation(const Stmt& body, const Var& data, const Expr& lane, int lanes, int width) {
  std::unordered_map<const BufferNode*, Buffer> spread;
  return with_accesses(body, data, [&](const Buffer& buffer, std::vector<Expr> indices) {
    const Ramp* ramp = indices.back().as<Ramp>();
    const Expr one = ramp ? ramp->base : indices.back();
    const Expr first = arith::simplify(one * lanes + cast(one.dtype(), lane) * width);
    indices.back() = ramp ? make_ramp(first, ramp->stride, width) : first;
    const Buffer& own = copy_once(spread, buffer, [&](BufferNode& node) {
      node.shape.back() = arith::simplify(node.shape.back() * lanes);
      node.strides.clear();
    });
    return std::pair(own, std::move(indices));
  });
}

// ---- from iterations to lanes -------------------------------------------------------------------

class Lanes {
 public:
  Lanes(const LaneRange& range, const LaneOptions& options, const Stmt& body = make_nop())
      : var_(range.var),
        min_(range.min),
        lanes_(range.count),
        options_(options),
        inlined_(body),
        lane_("lane", var_.dtype()),
        ramp_(make_ramp(min_, make_int(var_.dtype(), 1), lanes_)) {
    set(first_, var_, min_);
  }

  bool is_refused() const { return is_refused_; }

  Expr expr(const Expr& e) {
    return match(
        e.node().value, each_of<IntImm, FloatImm, StringImm>([&] { return e; }),
        [&](const VarNode&) {
          if (e.same_as(var_)) return ramp_;
          if (e.same_as(lane_))
            return make_ramp(make_int(e.dtype(), 0), make_int(e.dtype(), 1), lanes_);
          auto found = lets_.find(&e.node());
          return found == lets_.end() ? e : found->second;
        },
        [&](const Cast& n) {
          const Expr value = expr(n.value);
          const Ramp* ramp = value.as<Ramp>();
          // Index arithmetic does not overflow, so a ramp is still a ramp in the wider type.
          if (ramp && e.dtype().is_int() && value.dtype().is_int() &&
              e.dtype().bits > value.dtype().bits && (is_in_index_ || options_.may_serialize))
            return make_ramp(cast(e.dtype().element(), ramp->base),
                             cast(e.dtype().element(), ramp->stride), ramp->lanes);
          return value.same_as(n.value)
                     ? e
                     : make_cast(e.dtype().with_lanes(value.dtype().lanes), value);
        },
        [&](const Binary& n) { return binary(n, e); },
        [&](const Not& n) {
          const Expr a = expr(n.a);
          return a.same_as(n.a) ? e : make_not(a);
        },
        [&](const Select& n) { return select(n, e); }, [&](const Ramp& n) { return ramp(n, e); },
        [&](const Broadcast& n) { return expr(n.value).same_as(n.value) ? e : refuse(e); },
        [&](const Shuffle& n) {
          auto varies = [&](const Expr& part) { return !expr(part).same_as(part); };
          const bool is_same =
              std::ranges::none_of(n.vectors, varies) && std::ranges::none_of(n.indices, varies);
          return is_same ? e : refuse(e);
        },
        [&](const LetExpr& n) { return let(n, e); }, [&](const Call& n) { return call(n, e); },
        [&](const Load& n) { return load(n, e); },
        each_of<ProducerLoad, Reduce>([&] { return refuse(e); }));
  }

  Stmt stmt(const Stmt& s) {
    const Stmt result = by_lanes(s);
    if (!is_refused_ || !options_.may_serialize) return result;
    is_refused_ = false;
    return serial(s);
  }

 private:
  std::vector<Expr> exprs(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return expr(e); });
  }
  /// Widens an index. Sums and products in an index do not overflow.
  Expr index(const Expr& e) {
    const bool was_in_index = std::exchange(is_in_index_, true);
    const Expr result = linear(e);
    is_in_index_ = was_in_index;
    return result;
  }

  /// Widens an integer expression. The result is a ramp if the expression is linear in the
  /// iteration.
  Expr linear(const Expr& e) {
    const Expr flat = options_.simplifies_indices ? inlined_.flat(e) : e;
    const Expr result = expr(flat);
    if (is_refused_ || options_.may_serialize || e.dtype().is_vector()) return result;
    if (result.same_as(flat)) return e;
    if (const Ramp* ramp = result.as<Ramp>())
      return options_.simplifies_indices ? make_ramp(arith::simplify(ramp->base),
                                                     arith::simplify(ramp->stride), ramp->lanes)
                                         : result;
    const Expr inlined = inlined_.flat(e);
    if (uses_vectors(inlined) || uses_var(inlined, lane_)) return result;
    const std::optional<Expr> step = step_of(inlined, var_);
    if (!step) return result;
    const Expr base = arith::simplify(substitute(inlined, first_));
    return is_zero(*step) ? base : make_ramp(base, cast(e.dtype(), *step), lanes_);
  }

  Expr binary(const Binary& op, const Expr& self) {
    const Expr a = expr(op.a), b = expr(op.b);
    if (is_refused_ || (a.same_as(op.a) && b.same_as(op.b))) return self;
    if (op.op == BinaryOp::Add || op.op == BinaryOp::Sub) return sum(op, a, b);
    if (op.op == BinaryOp::Mul) return product(a, b);
    const int lanes = std::max(a.dtype().lanes, b.dtype().lanes);
    const Expr wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
    return is_refused_ ? self : make_binary(op.op, wide_a, wide_b);
  }

  Expr sum(const Binary& op, const Expr& a, const Expr& b) {
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

  Expr product(const Expr& a, const Expr& b) {
    const Ramp* a_ramp = a.as<Ramp>();
    const Ramp* b_ramp = b.as<Ramp>();
    auto keeps_ramps = [&](const Expr& factor) {
      if (!factor.dtype().is_scalar()) return false;
      return arith::can_prove_at_least(factor, 1, facts_) ||
             (!options_.may_serialize && constant_int(factor).value_or(0) != 0);
    };
    if (a_ramp && keeps_ramps(b))
      return make_ramp(fold(BinaryOp::Mul, a_ramp->base, b), fold(BinaryOp::Mul, a_ramp->stride, b),
                       a_ramp->lanes);
    if (b_ramp && keeps_ramps(a))
      return make_ramp(fold(BinaryOp::Mul, b_ramp->base, a), fold(BinaryOp::Mul, b_ramp->stride, a),
                       b_ramp->lanes);
    const int lanes = std::max(a.dtype().lanes, b.dtype().lanes);
    const Expr wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
    return is_refused_ ? a : make_binary(BinaryOp::Mul, wide_a, wide_b);
  }

  Expr select(const Select& select, const Expr& self) {
    const Expr condition = expr(select.condition), a = expr(select.if_true),
               b = expr(select.if_false);
    if (is_refused_ || (condition.same_as(select.condition) && a.same_as(select.if_true) &&
                        b.same_as(select.if_false)))
      return self;
    // A scalar condition that differs between iterations applies to all original lanes of an
    // iteration. It cannot be repeated for each lane.
    const bool differs = condition.dtype().lanes != select.condition.dtype().lanes;
    if (differs && select.condition.dtype().lanes != self.dtype().lanes) return refuse(self);
    const int lanes =
        std::max({int{condition.dtype().lanes}, int{a.dtype().lanes}, int{b.dtype().lanes}});
    const Expr wide_condition = broadcast_to(condition, lanes), wide_a = broadcast_to(a, lanes),
               wide_b = broadcast_to(b, lanes);
    return is_refused_ ? self : make_select(wide_condition, wide_a, wide_b);
  }

  /// Merges the ramps of all iterations into one if each continues the previous one.
  Expr ramp(const Ramp& ramp, const Expr& self) {
    const Expr base = linear(ramp.base), stride = expr(ramp.stride);
    if (base.same_as(ramp.base) && stride.same_as(ramp.stride)) return self;
    const Ramp* bases = base.as<Ramp>();
    const std::optional<std::int64_t> step = bases ? constant_int(bases->stride) : std::nullopt;
    const std::optional<std::int64_t> own = constant_int(stride);
    if (is_refused_ || !step || !own || *step != *own * ramp.lanes) return refuse(self);
    return make_ramp(bases->base, stride, ramp.lanes * lanes_);
  }

  Expr call(const Call& call, const Expr& self) {
    if (call.is(Intrin::if_then_else)) return if_then_else(call, self);
    std::vector<Expr> args = exprs(call.args);
    int lanes = 1;
    for (const Expr& arg : args) lanes = std::max(lanes, int{arg.dtype().lanes});
    if (is_refused_ || are_same(args, call.args)) return self;
    const Intrin* intrin = std::get_if<Intrin>(&call.callee);
    const bool is_serial_in_text = is_text() && (call.is(Intrin::isnan) || call.is(Intrin::isinf) ||
                                                 call.is(Intrin::isfinite));
    if (!intrin || !is_lane_wise(*intrin) || is_serial_in_text) {
      // An argument that stays scalar may contain a ramp, such as in an index. The call is then
      // unchanged and legal.
      for (std::size_t n = 0; n < args.size(); ++n)
        if (args[n].dtype().lanes != call.args[n].dtype().lanes) return refuse(self);
      return make_call(self.dtype(), call.callee, std::move(args));
    }
    for (Expr& arg : args) arg = broadcast_to(arg, lanes);
    return is_refused_ ? self
                       : make_call(self.dtype().with_lanes(lanes), call.callee, std::move(args));
  }

  Expr if_then_else(const Call& call, const Expr& self) {
    const Expr condition = expr(call.args[0]);
    if (is_refused_) return self;
    const Expr a = expr(call.args[1]), b = expr(call.args[2]);
    if (is_refused_ ||
        (condition.same_as(call.args[0]) && a.same_as(call.args[1]) && b.same_as(call.args[2])))
      return self;
    const int own = condition.dtype().lanes;
    if (own > 1 && is_text()) return refuse(self);
    if (own > 1 && call.args[0].dtype().lanes != self.dtype().lanes) return refuse(self);
    const int lanes = std::max({own, int{a.dtype().lanes}, int{b.dtype().lanes}});
    const Expr choice = own > 1 ? broadcast_to(condition, lanes) : condition,
               wide_a = broadcast_to(a, lanes), wide_b = broadcast_to(b, lanes);
    if (is_refused_) return self;
    if (own > 1 && options_.choice == LaneOptions::Choice::Select)
      return make_select(choice, wide_a, wide_b);
    return make_call(self.dtype().with_lanes(lanes), Intrin::if_then_else,
                     {choice, wide_a, wide_b});
  }

  Expr load(const Load& load, const Expr& self) {
    const std::vector<Expr> indices = mapped(load.indices, [&](const Expr& e) { return index(e); });
    if (has_outer_vectors(indices)) return refuse(self);
    if (is_refused_ || are_same(indices, load.indices)) return self;
    return has_lanes(load.buffer) ? make_load(load.buffer, indices) : refuse(self);
  }

  Expr let(const LetExpr& let, const Expr& self) {
    const Expr value = expr(let.value);
    if (is_refused_) return self;
    if (value.dtype() == let.value.dtype()) return make_let(let.var, value, expr(let.body));
    const Var wide = Var::let(let.var.name(), value);
    set(lets_, let.var, wide);
    const Expr body = expr(let.body);
    lets_.erase(&let.var.node());
    return is_refused_ ? self : make_let(wide, value, body);
  }

  Stmt by_lanes(const Stmt& s) {
    /// The expressions of these statements must be the same for all lanes, because they are
    /// evaluated once.
    const auto once = [&] {
      return map_children(
          s,
          [&](const Expr& e) {
            const Expr wide = expr(e);
            return wide.dtype() == e.dtype() ? wide : refuse(e);
          },
          [&](const Stmt& c) { return is_refused_ ? c : stmt(c); });
    };
    return match(
        s.node().value, [&](const Store& n) { return store(n, s); },
        [&](const For& n) { return loop(n, s); }, [&](const If& n) { return branch(n, s); },
        [&](const Let& n) { return let(n, s); }, [&](const Allocate& n) { return allocate(n, s); },
        [&](const Evaluate& n) { return evaluate(n, s); },
        each_of<While, Assert>([&] { return refuse(s); }),
        each_of<Seq, Attr, Realize, BufferView, Prefetch, BlockRealize>(once));
  }

  Stmt store(const Store& store, const Stmt& self) {
    std::vector<Expr> indices = mapped(store.indices, [&](const Expr& e) { return index(e); });
    const Expr value = expr(store.value);
    if (is_refused_) return self;
    if (has_outer_vectors(indices)) return refuse(self);
    const bool is_same = value.same_as(store.value) && are_same(indices, store.indices);
    // All lanes store to the same element. Their order matters if they store different values, or
    // if they read the value that the previous lane stored.
    const bool is_fixed = indices.back().same_as(store.indices.back());
    if (is_fixed && (!is_same || is_in_mask_ || reads(store.value, store.buffer->data)))
      return refuse(self);
    if (is_same) return self;
    if (!has_lanes(store.buffer)) return refuse(self);
    const int element_lanes = store.buffer->dtype.lanes;
    const int lanes =
        std::max(int{value.dtype().lanes}, element_lanes * indices.back().dtype().lanes);
    indices.back() = broadcast_to(indices.back(), lanes / element_lanes);
    const Expr wide = broadcast_to(value, lanes);
    return is_refused_ ? self : make_store(store.buffer, wide, indices);
  }

  Stmt loop(const For& loop, const Stmt& self) {
    const Expr min = expr(loop.min), extent = expr(loop.extent);
    if (is_refused_ || min.dtype().is_vector() || extent.dtype().is_vector()) return refuse(self);
    return make_stmt(For{loop.var, min, extent, loop.kind, stmt(loop.body)});
  }

  Stmt branch(const If& branch, const Stmt& self) {
    const Expr condition = expr(branch.condition);
    const bool differs = condition.dtype().lanes != branch.condition.dtype().lanes;
    if (is_refused_ || (differs && !options_.masks_branches)) return refuse(self);
    const bool was_in_mask = std::exchange(is_in_mask_, is_in_mask_ || differs);
    const Stmt then_case = stmt(branch.then_case);
    const std::optional<Stmt> else_case =
        !is_refused_ && branch.else_case ? std::optional(stmt(*branch.else_case)) : std::nullopt;
    is_in_mask_ = was_in_mask;
    return make_stmt(If{condition, then_case, else_case});
  }

  Stmt let(const Let& let, const Stmt& self) {
    Expr value = let.var.dtype().is_int() ? linear(let.value) : expr(let.value);
    if (is_refused_) return self;
    if (!options_.may_serialize) inlined_.define(let);
    Var wide = Var::let(let.var.name(), value);
    if (value.dtype() == let.value.dtype()) {
      const std::optional<Expr> lane = common_lane(value);
      if (!lane) return make_stmt(Let{let.var, value, stmt(let.body)});
      // The variable holds a scalar, which can be broadcast to any number of lanes.
      wide = Var::let(let.var.name(), *lane);
      set(lets_, let.var, make_broadcast(wide, value.dtype().lanes));
      return make_stmt(Let{wide, *lane, stmt(let.body)});
    }
    set(lets_, let.var, wide);
    const Ramp* ramp = value.as<Ramp>();
    if (ramp && !options_.may_serialize) {
      // The variable holds the first lane of a ramp, so that its uses remain ramps.
      if (options_.simplifies_indices && inlined_.is_stable(let.value)) {
        set(lets_, let.var, value);
        return stmt(let.body);
      }
      wide = let.var.fresh();
      set(lets_, let.var, make_ramp(wide, ramp->stride, ramp->lanes));
      value = Expr(ramp->base);
    }
    const Stmt body = stmt(let.body);
    lets_.erase(&let.var.node());
    return make_stmt(Let{wide, value, body});
  }

  Stmt allocate(const Allocate& allocate, const Stmt& self) {
    Allocate result = allocate;
    result.condition = expr(allocate.condition);
    result.extents = exprs(allocate.extents);
    for (const Expr& extent : result.extents)
      if (extent.dtype().is_vector()) return refuse(self);
    if (is_refused_ || result.condition.dtype().is_vector()) return refuse(self);
    const std::optional<int> width = access_width(allocate.body, allocate.data);
    if (!width) return refuse(self);
    // Each lane has its own memory.
    result.extents.back() = result.extents.back() * lanes_;
    const Expr lane = options_.may_serialize ? var_ - min_ : Expr(lane_);
    result.body = stmt(spread_allocation(allocate.body, allocate.data, lane, lanes_, *width));
    return make_stmt(std::move(result));
  }

  Stmt evaluate(const Evaluate& evaluate, const Stmt& self) {
    const Expr value = expr(evaluate.value);
    // An effect must happen once per lane. A prefetch is only a hint.
    const bool is_effect =
        effect_of(value) == Effect::UpdateState && !as_call(value, Intrin::prefetch);
    return is_refused_ || is_effect ? refuse(self) : make_evaluate(value);
  }

  Stmt serial(const Stmt& s) {
    // If an enclosing let holds a vector, `s` cannot become serial by itself: the whole let must
    // become serial.
    if (!lets_.empty() && uses_vectors(s)) return refuse(s);
    const Var index(var_.name() + std::string(kSerial), var_.dtype());
    return make_stmt(For{index, min_, make_int(var_.dtype(), lanes_), ForKind::Serial,
                         replace_vars(s, {{&var_.node(), index}})});
  }

  /// Whether an index other than the last one is a vector.
  static bool has_outer_vectors(const std::vector<Expr>& indices) {
    for (std::size_t n = 0; n + 1 < indices.size(); ++n)
      if (indices[n].dtype().is_vector()) return true;
    return false;
  }

  /// Whether the tree uses an outer let whose value has become a vector.
  template <class Tree>
  bool uses_vectors(const Tree& tree) const {
    return uses_var(tree, [&](const Expr& var) { return lets_.contains(&var.node()); });
  }

  /// Whether the result must have the form of TVM 0.9 text.
  bool is_text() const { return options_.choice == LaneOptions::Choice::Serial; }

  /// Whether code generators can access several elements of the buffer at once.
  bool has_lanes(const Buffer& buffer) const {
    return options_.may_serialize || buffer->dtype.is_scalar();
  }

  /// Marks the current statement as not vectorizable. Returns `it` only as a placeholder, because
  /// callers discard the result.
  template <class T>
  T refuse(const T& it) {
    is_refused_ = true;
    return it;
  }

  Expr broadcast_to(const Expr& e, int lanes) {
    const int own = e.dtype().lanes;
    if (own == lanes) return e;
    if (const Broadcast* inner = e.as<Broadcast>(); inner && lanes % own == 0)
      return make_broadcast(inner->value, lanes);
    if (own == 1) return make_broadcast(e, lanes);
    const std::optional<Expr> lane = common_lane(e);
    return lane ? make_broadcast(*lane, lanes) : refuse(e);
  }

  /// Returns the common value of all lanes of the vector; nullopt if the lanes may differ.
  std::optional<Expr> common_lane(const Expr& e) const {
    if (options_.may_serialize || e.dtype().is_scalar()) return std::nullopt;
    const Var lane("lane");
    const std::optional<Expr> value = lane_value(e, lane);
    return value && !uses_var(*value, lane) ? value : std::nullopt;
  }

  Var var_;
  Expr min_;
  int lanes_;
  LaneOptions options_;
  StableLets inlined_;
  /// The number of the lane.
  Var lane_;
  Expr ramp_;
  arith::Facts facts_;
  /// Maps the variable to the first iteration.
  VarMap first_;
  /// The enclosing lets whose values differ between lanes, each with the vector of its values.
  VarMap lets_;
  bool is_refused_ = false, is_in_index_ = false, is_in_mask_ = false;
};

// ---- statements ---------------------------------------------------------------------------------

// ---- from lanes to one lane ---------------------------------------------------------------------

class OneLane {
 public:
  OneLane(int lanes, const Expr& lane) : lanes_(lanes), lane_(lane) {}

  std::optional<Expr> expr(const Expr& e) {
    using Result = std::optional<Expr>;
    if (e.dtype().lanes != lanes_) return std::nullopt;
    return match(
        e.node().value,
        [&](const VarNode&) -> Result {
          const auto found = lets_.find(&e.node());
          return found == lets_.end() ? std::nullopt : Result(found->second);
        },
        each_of<Cast, Binary, Not, Select>([&] { return lane_wise(e); }),
        [&](const Call& n) -> Result {
          const Intrin* intrin = std::get_if<Intrin>(&n.callee);
          return intrin && effect_of(*intrin) == Effect::Pure ? lane_wise(e) : std::nullopt;
        },
        [&](const Ramp& n) -> Result { return n.base + cast(n.base.dtype(), lane_) * n.stride; },
        [&](const Broadcast& n) -> Result {
          return n.value.dtype().is_scalar() ? Result(n.value) : std::nullopt;
        },
        [&](const Load& n) -> Result {
          if (n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return std::nullopt;
          const Result index = expr(n.indices[0]);
          return index ? Result(make_load(n.buffer, {*index})) : std::nullopt;
        },
        [&](const LetExpr& n) { return let(n); },
        each_of<Shuffle, IntImm, FloatImm, StringImm, ProducerLoad, Reduce>(
            []() -> Result { return std::nullopt; }));
  }

 private:
  /// Returns one lane of an operation, computed from this lane of its operands. A scalar condition
  /// of a choice applies to all lanes.
  std::optional<Expr> lane_wise(const Expr& e) {
    const Select* select = e.as<Select>();
    const Call* choice = as_call(e, Intrin::if_then_else);
    std::vector<Expr> own;
    bool is_known = true;
    for_each_child(e, [&](const Expr& child) {
      const bool is_uniform = own.empty() && (select || choice) && child.dtype().is_scalar();
      const std::optional<Expr> one = is_uniform ? child : is_known ? expr(child) : std::nullopt;
      is_known = is_known && one;
      if (one) own.push_back(*one);
    });
    if (!is_known) return std::nullopt;
    if (const Binary* n = e.as<Binary>()) return make_binary(n->op, own[0], own[1]);
    if (const Call* n = e.as<Call>()) return make_call(e.dtype().element(), n->callee, own);
    if (select) return make_select(own[0], own[1], own[2]);
    return e.as<Not>() ? make_not(own[0]) : make_cast(e.dtype().element(), own[0]);
  }

  /// Returns one lane of a let expression. It defines a fresh variable, because every lane needs
  /// its own definition.
  std::optional<Expr> let(const LetExpr& n) {
    const bool is_scalar = n.value.dtype().is_scalar();
    const std::optional<Expr> value = is_scalar ? n.value : expr(n.value);
    if (!value) return std::nullopt;
    const Var own = Var::let(n.var.name(), *value);
    VarMap fresh;
    set(is_scalar ? fresh : lets_, n.var, own);
    const std::optional<Expr> body = expr(is_scalar ? substitute(n.body, fresh) : n.body);
    return body ? std::optional(make_let(own, *value, *body)) : std::nullopt;
  }

  int lanes_;
  const Expr& lane_;
  /// The lanes of the vector lets in scope.
  VarMap lets_;
};

}  // namespace

std::optional<Expr> in_lanes(const Expr& e, const LaneRange& range, const LaneOptions& options) {
  Lanes lanes(range, options);
  Expr result = lanes.expr(e);
  return lanes.is_refused() ? std::nullopt : std::optional(std::move(result));
}

std::optional<Stmt> in_lanes(const Stmt& s, const LaneRange& range, const LaneOptions& options) {
  Lanes lanes(range, options, s);
  Stmt result = lanes.stmt(s);
  return lanes.is_refused() ? std::nullopt : std::optional(std::move(result));
}

std::optional<Expr> lane_value(const Expr& e, const Expr& lane) {
  return e.dtype().is_scalar() ? std::optional(e) : OneLane(e.dtype().lanes, lane).expr(e);
}

std::optional<Expr> step_of(const Expr& index, const Var& var) {
  const Expr next = substitute(index, {{&var.node(), var + make_int(var.dtype(), 1)}});
  const Expr step = arith::simplify(next - index);
  if (uses_var(step, var)) return std::nullopt;
  return contains<Load>(step) ? std::nullopt : std::optional(step);
}

bool is_serial_lanes(const For& loop) {
  return loop.kind == ForKind::Serial && loop.var.name().ends_with(kSerial);
}

}  // namespace tenon::lowering
