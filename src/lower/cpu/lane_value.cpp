#include "lower/cpu/lane_value.h"

#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

class PartMaker {
 public:
  explicit PartMaker(const LanePart& part) : part_(part) {}

  std::optional<Expr> expr(const Expr& e) {
    if (e.dtype().lanes != part_.lanes) return std::nullopt;
    if (e.as<VarNode>()) {
      const auto found = parts_.find(&e.node());
      return found == parts_.end() ? std::nullopt : std::optional(found->second);
    }
    if (const Ramp* n = e.as<Ramp>()) return ramp(*n);
    if (const Broadcast* n = e.as<Broadcast>()) {
      if (n->value.dtype().is_vector()) return std::nullopt;
      return part_.count == 1 ? n->value : make_broadcast(n->value, part_.count);
    }
    if (const Load* n = e.as<Load>()) {
      if (n->indices.size() != 1 || n->buffer->dtype.lanes != 1) return std::nullopt;
      const std::optional<Expr> index = expr(n->indices[0]);
      return index ? std::optional(make_load(n->buffer, {*index})) : std::nullopt;
    }
    if (const LetExpr* n = e.as<LetExpr>()) return let(*n);
    if (const Call* n = e.as<Call>()) return call(*n, e.dtype().with_lanes(part_.count));
    return lane_wise(e, [&](const Expr& operand) { return expr(operand); });
  }

 private:
  Expr ramp(const Ramp& n) const {
    const DataType type = n.base.dtype();
    const Expr first = n.base + cast(type, part_.first) * n.stride;
    return part_.count == 1 ? first : make_ramp(first, n.stride, part_.count);
  }

  /// Defines a fresh variable, because every part needs its own definition.
  std::optional<Expr> let(const LetExpr& n) {
    const bool is_scalar = n.value.dtype().is_scalar();
    const std::optional<Expr> value = is_scalar ? n.value : expr(n.value);
    if (!value) return std::nullopt;
    const Var own(n.var.name(), value->dtype());
    VarMap fresh;
    if (is_scalar)
      set(fresh, n.var, own);
    else
      set(parts_, n.var, own);
    const std::optional<Expr> body = expr(is_scalar ? substitute(n.body, fresh) : n.body);
    return body ? std::optional(make_let(own, *value, *body)) : std::nullopt;
  }

  std::optional<Expr> call(const Call& n, DataType type) {
    const Intrin* intrin = std::get_if<Intrin>(&n.callee);
    if (!intrin || effect_of(*intrin) != Effect::Pure) return std::nullopt;
    const bool is_choice = n.is(Intrin::if_then_else);
    std::vector<Expr> args;
    for (std::size_t a = 0; a < n.args.size(); ++a) {
      if (a == 0 && is_choice && n.args[a].dtype().is_scalar()) {
        args.push_back(n.args[a]);
        continue;
      }
      // An argument without exactly one value per lane is not lane-wise.
      if (n.args[a].dtype().lanes != part_.lanes) return std::nullopt;
      std::optional<Expr> arg = expr(n.args[a]);
      if (!arg) return std::nullopt;
      args.push_back(std::move(*arg));
    }
    return make_call(type, n.callee, std::move(args));
  }

  const LanePart& part_;
  /// The parts of the vector lets in scope.
  VarMap parts_;
};

}  // namespace

std::optional<Expr> part_of(const Expr& e, const LanePart& part) { return PartMaker(part).expr(e); }

std::optional<Expr> lane_wise(const Expr& e,
                              FunctionRef<std::optional<Expr>(const Expr&)> operand) {
  const Binary* binary = e.as<Binary>();
  const Cast* cast = e.as<Cast>();
  if (!binary && !cast && !e.as<Not>() && !e.as<Select>()) return std::nullopt;
  std::vector<Expr> own;
  bool is_known = true;
  for_each_child(e, [&](const Expr& child) {
    const std::optional<Expr> one = is_known ? operand(child) : std::nullopt;
    is_known = one.has_value();
    if (one) own.push_back(*one);
  });
  if (!is_known) return std::nullopt;
  if (binary) return make_binary(binary->op, own[0], own[1]);
  if (cast) return make_cast(e.dtype().with_lanes(own[0].dtype().lanes), own[0]);
  return own.size() == 1 ? make_not(own[0]) : make_select(own[0], own[1], own[2]);
}

std::optional<Expr> lane_value(const Expr& e, const Var& lane) {
  return e.dtype().is_scalar() ? std::optional(e) : part_of(e, {e.dtype().lanes, lane, 1});
}

}  // namespace tenon::lowering
