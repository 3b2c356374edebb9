#include "tenon/codegen/memory_plan.h"

#include <algorithm>
#include <functional>

#include "tenon/support/error.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

Expr flat_index(const Buffer& buffer, const std::vector<Expr>& indices) {
  internal_check(!indices.empty(), "an access without an index is left in lowered code");
  Expr flat = indices[0];
  for (std::size_t n = 1; n < indices.size(); ++n) {
    const Expr extent = make_cast(flat.dtype().element(), buffer->shape[n]);
    const int lanes = indices[n].dtype().lanes;
    auto spread = [&](const Expr& e) { return lanes == 1 ? e : make_broadcast(e, lanes); };
    flat = make_binary(BinaryOp::Add, spread(make_binary(BinaryOp::Mul, flat, extent)),
                       make_cast(flat.dtype().with_lanes(lanes), indices[n]));
  }
  return flat;
}

std::optional<std::int64_t> constant_bytes(DataType dtype, const std::vector<Expr>& extents) {
  std::int64_t bytes = dtype.bytes();
  for (const Expr& e : extents) {
    const auto extent = constant_int(e);
    if (!extent || __builtin_mul_overflow(bytes, std::max<std::int64_t>(*extent, 0), &bytes))
      return std::nullopt;
  }
  return bytes;
}

VarSet stack_temporaries(const Stmt& body) {
  constexpr std::int64_t kStackBudget = std::int64_t{64} * 1024;
  // The size and the data pointer of each temporary.
  std::vector<std::pair<std::int64_t, const ExprNode*>> temporaries;
  const std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    // A parallel loop's body becomes a separate function, which has its own memory plan.
    if (const For* loop = s.as<For>(); loop && loop->kind == ForKind::Parallel) return;
    if (const Allocate* n = s.as<Allocate>())
      if (const auto bytes = constant_bytes(*n)) temporaries.emplace_back(*bytes, &n->data.node());
    for_each_child(
        s, [](const Expr&) {}, visit);
  };
  visit(body);
  std::ranges::stable_sort(temporaries, {}, [](const auto& t) { return t.first; });
  VarSet on_stack;
  std::int64_t left = kStackBudget;
  for (const auto& [bytes, data] : temporaries) {
    left -= bytes;
    if (left < 0) break;
    on_stack.insert(data);
  }
  return on_stack;
}

}  // namespace tenon::codegen
