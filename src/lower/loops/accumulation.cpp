#include "lower/loops/accumulation.h"

#include <functional>

#include "lower/rewriting.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool can_be_accumulated(BinaryOp op, DataType type) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return !type.is_bool() && !type.is_handle();
    case BinaryOp::And:
    case BinaryOp::Or:
      return type.is_bool();
    default:
      return false;
  }
}

/// Returns the term if `value` is `element op term` or `term op element`. `is_target` recognizes
/// the element.
std::optional<Expr> term_of(const Expr& value, BinaryOp op,
                            const std::function<bool(const Expr&)>& is_target) {
  const Binary* n = as_binary(value, op);
  if (!n) return std::nullopt;
  if (is_target(n->a)) return n->b;
  if (is_target(n->b)) return n->a;
  if (const std::optional<Expr> left = term_of(n->a, op, is_target))
    return make_binary(op, *left, n->b);
  if (const std::optional<Expr> right = term_of(n->b, op, is_target))
    return make_binary(op, n->a, *right);
  return std::nullopt;
}

}  // namespace

bool reads(const Expr& e, const Var& data) {
  return any_node(e, [&](const Load& load) { return load.buffer->data.same_as(data); });
}

std::optional<Accumulation> read_accumulation(const Store& store, const VarMap& lets) {
  const Expr index = substitute(store.indices[0], lets);
  const auto is_target = [&](const Expr& e) {
    const Load* load = e.as<Load>();
    return load && load->buffer->data.same_as(store.buffer->data) && load->indices.size() == 1 &&
           load->buffer->dtype == store.buffer->dtype &&
           structural_equal(substitute(load->indices[0], lets), index);
  };
  const Binary* n = store.value.as<Binary>();
  if (!n || !can_be_accumulated(n->op, store.value.dtype())) return std::nullopt;
  const std::optional<Expr> term = term_of(store.value, n->op, is_target);
  if (!term || reads(substitute(*term, lets), store.buffer->data)) return std::nullopt;
  return Accumulation{store.buffer, index, n->op, *term};
}

}  // namespace tenon::lowering
