// The infinities with which Min and Max of floats start. TVM 0.9 starts with the largest finite
// numbers and prints them.
#include <cmath>
#include <limits>

#include "tenon/tir/combination.h"
#include "tenon/tir/ops.h"
#include "tir/finish_node.h"

namespace tenon::tir {

namespace {

/// Returns a table with one node per floating type and sign, and the finite number that TVM 0.9
/// text has in place of the node. The address of a node identifies it.
const std::vector<std::pair<ExprNode, double>>& infinite_identities() {
  // Never destroyed, because handles may outlive it.
  static const auto* const table = [] {
    auto* rows = new std::vector<std::pair<ExprNode, double>>();
    for (const DataType type : {Float(16), BFloat(16), Float(32), Float(64)})
      for (const double sign : {1.0, -1.0}) {
        const double infinite = sign * std::numeric_limits<double>::infinity();
        const double greatest = max_value(type).as<FloatImm>()->value;
        rows->emplace_back(ExprNode{type, std::size_t{0}, Contents(), FloatImm{infinite}},
                           sign * greatest);
        finish<FloatImm>(rows->back().first);
      }
    return rows;
  }();
  return *table;
}

}  // namespace

std::optional<double> finite_identity(const ExprNode& node) {
  const FloatImm* n = std::get_if<FloatImm>(&node.value);
  if (!n || !std::isinf(n->value)) return std::nullopt;
  for (const auto& [known, finite] : infinite_identities())
    if (&known == &node) return finite;
  return std::nullopt;
}

Expr identity_of(BinaryOp op, DataType type) {
  switch (op) {
    case BinaryOp::Add:
      // The identity element is -0.0 and not 0.0, because -0.0 + 0.0 is 0.0.
      return type.is_floating() ? make_float(type, -0.0) : make_int(type, 0);
    case BinaryOp::Mul:
      return make_const(type, 1);
    case BinaryOp::Min:
    case BinaryOp::Max:
      if (!type.is_floating()) return op == BinaryOp::Min ? max_value(type) : min_value(type);
      if (type.is_vector()) return make_broadcast(identity_of(op, type.element()), type.lanes);
      for (const auto& [node, finite] : infinite_identities())
        if (node.dtype == type && (finite > 0) == (op == BinaryOp::Min))
          return Expr(Shared<const ExprNode>::of_static(node));
      break;
    case BinaryOp::And:
      return make_true();
    case BinaryOp::Or:
      return make_false();
    default:
      break;
  }
  internal_error("an operator without an identity");
}

}  // namespace tenon::tir
