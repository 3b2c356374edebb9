#include "tenon/tir/combination.h"

#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"

namespace tenon::tir {

namespace {

/// Whether the expression is the identity element of `op`. The finite limits of floats count as
/// identity elements of min and max, because TVM programs start reductions and partial results with
/// them.
bool is_identity(const Expr& e, BinaryOp op) {
  const DataType type = e.dtype();
  switch (op) {
    case BinaryOp::Add:
      return structural_equal(e, make_const(type, 0));
    case BinaryOp::Mul:
      return structural_equal(e, make_const(type, 1));
    case BinaryOp::Min:
      return structural_equal(e, max_value(type)) ||
             (type.is_floating() && structural_equal(e, infinity(type)));
    case BinaryOp::Max:
      return structural_equal(e, min_value(type)) ||
             (type.is_floating() && structural_equal(e, infinity(type) * -1));
    default:
      return false;
  }
}

bool is_element(const Expr& e, const Store& store) {
  const Load* load = e.as<Load>();
  return load && load->buffer.same_as(store.buffer) &&
         structural_equal(load->indices, store.indices);
}

/// Returns the combination of a store out = out (+) value with a reduction operator; nullopt for
/// any other store.
std::optional<Combination> combination_of(const Store& update) {
  const Binary* binary = update.value.as<Binary>();
  if (!binary) return std::nullopt;
  const bool is_reducing = binary->op == BinaryOp::Add || binary->op == BinaryOp::Mul ||
                           binary->op == BinaryOp::Min || binary->op == BinaryOp::Max;
  if (!is_reducing) return std::nullopt;
  const bool is_left = is_element(binary->a, update);
  if (!is_left && !is_element(binary->b, update)) return std::nullopt;
  return Combination{binary->op, is_left ? binary->b : binary->a, is_left};
}

}  // namespace

std::optional<Combination> find_combination(const Block& block) {
  if (!block.init) return std::nullopt;
  const Store *init = block.init->as<Store>(), *update = block.body.as<Store>();
  if (!init || !update || !init->buffer.same_as(update->buffer) ||
      !structural_equal(init->indices, update->indices))
    return std::nullopt;
  const std::optional<Combination> combination = combination_of(*update);
  if (!combination || !is_identity(init->value, combination->op)) return std::nullopt;
  return combination;
}

std::optional<Combination> find_update(const Block& block) {
  const Store* update = block.body.as<Store>();
  if (block.init || !update) return std::nullopt;
  return combination_of(*update);
}

}  // namespace tenon::tir
