#include "lower/lane_value.h"

#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

std::optional<std::vector<Expr>> parts_of(const std::vector<Expr>& list, const LanePart& part) {
  std::vector<Expr> result;
  for (const Expr& e : list) {
    std::optional<Expr> one = part_of(e, part);
    if (!one) return std::nullopt;
    result.push_back(std::move(*one));
  }
  return result;
}

std::optional<Expr> part_of_ramp(const Ramp& n, const LanePart& part) {
  const DataType type = n.base.dtype();
  const Expr first = n.base + cast(type, part.first) * n.stride;
  return part.count == 1 ? first : make_ramp(first, n.stride, part.count);
}

std::optional<Expr> part_of_call(const Call& n, DataType type, const LanePart& part) {
  const Intrin* intrin = std::get_if<Intrin>(&n.callee);
  if (!intrin || effect_of(*intrin) != Effect::Pure) return std::nullopt;
  const bool is_choice = n.is(Intrin::if_then_else);
  std::vector<Expr> args;
  for (std::size_t a = 0; a < n.args.size(); ++a) {
    if (a == 0 && is_choice && n.args[a].dtype().is_scalar()) {
      args.push_back(n.args[a]);
      continue;
    }
    // Anything else than one value per lane is no function of lanes.
    if (n.args[a].dtype().lanes != part.lanes) return std::nullopt;
    std::optional<Expr> arg = part_of(n.args[a], part);
    if (!arg) return std::nullopt;
    args.push_back(std::move(*arg));
  }
  return make_call(type, n.callee, std::move(args));
}

}  // namespace

std::optional<Expr> part_of(const Expr& e, const LanePart& part) {
  const DataType type = e.dtype().with_lanes(part.count);
  if (e.dtype().lanes != part.lanes) return std::nullopt;
  if (const Ramp* n = e.as<Ramp>()) return part_of_ramp(*n, part);
  if (const Broadcast* n = e.as<Broadcast>()) {
    if (n->value.dtype().is_vector()) return std::nullopt;
    return part.count == 1 ? n->value : make_broadcast(n->value, part.count);
  }
  if (const Load* n = e.as<Load>()) {
    if (n->indices.size() != 1 || n->buffer->dtype.lanes != 1) return std::nullopt;
    const std::optional<Expr> index = part_of(n->indices[0], part);
    return index ? std::optional(make_load(n->buffer, {*index})) : std::nullopt;
  }
  if (const Call* n = e.as<Call>()) return part_of_call(*n, type, part);
  std::vector<Expr> children;
  if (const Binary* n = e.as<Binary>())
    children = {n->a, n->b};
  else if (const Cast* n = e.as<Cast>())
    children = {n->value};
  else if (const Not* n = e.as<Not>())
    children = {n->a};
  else if (const Select* n = e.as<Select>())
    children = {n->condition, n->if_true, n->if_false};
  else
    return std::nullopt;
  const std::optional<std::vector<Expr>> parts = parts_of(children, part);
  if (!parts) return std::nullopt;
  if (const Binary* n = e.as<Binary>()) return make_binary(n->op, (*parts)[0], (*parts)[1]);
  if (e.as<Cast>()) return make_cast(type, (*parts)[0]);
  if (e.as<Not>()) return make_not((*parts)[0]);
  return make_select((*parts)[0], (*parts)[1], (*parts)[2]);
}

std::optional<Expr> lane_value(const Expr& e, const Var& lane) {
  return e.dtype().is_scalar() ? std::optional(e) : part_of(e, {e.dtype().lanes, lane, 1});
}

}  // namespace tenon::lowering
