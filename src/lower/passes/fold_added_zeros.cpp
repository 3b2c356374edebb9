#include "lower/passes/fold_added_zeros.h"

#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool is_zero_float(const Expr& e) {
  if (const Broadcast* n = e.as<Broadcast>()) return is_zero_float(n->value);
  const FloatImm* n = e.as<FloatImm>();
  return n && n->value == 0;
}

}  // namespace

PrimFunc fold_added_zeros(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = rewrite(func.body, [](const Binary& n, const Expr&) -> std::optional<Expr> {
    if (n.op != BinaryOp::Add || !n.a.dtype().is_floating()) return std::nullopt;
    if (is_zero_float(n.a)) return n.b;
    if (is_zero_float(n.b)) return n.a;
    return std::nullopt;
  });
  return result;
}

}  // namespace tenon::lowering
