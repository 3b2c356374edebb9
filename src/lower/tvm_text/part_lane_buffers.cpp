// Gives each access of memory that is allocated inside a vectorized loop its own buffer object over
// the same memory, because TVM 0.9 text declares such a buffer once per access.
//
//   allocate(B, float32x4, [1]) {
//     B_1: Buffer(B, float32x4, [1], [])[0] = A[ramp(0, 1, 4)]
//     C[ramp(0, 1, 4)] = B_2: Buffer(B, float32x4, [1], [])[0]
//
// The pass runs while vectorized loops are still loops.
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Gives each access of one allocation its own buffer object.
Stmt with_own_buffers(const Stmt& body, const Var& data) {
  const auto copy = [](const Buffer& buffer) { return make_buffer(BufferNode(*buffer.get())); };
  return rewrite(
      body,
      [&](const Load& load, const Expr&) -> std::optional<Expr> {
        if (!load.buffer->data.same_as(data)) return std::nullopt;
        return make_load(copy(load.buffer), load.indices);
      },
      [&](const Store& store, const Stmt&) -> std::optional<Stmt> {
        if (!store.buffer->data.same_as(data)) return std::nullopt;
        return make_store(copy(store.buffer), store.value, store.indices);
      });
}

Stmt part(const Stmt& s, bool has_lanes) {
  if (const For* loop = s.as<For>(); loop && loop->kind == ForKind::Vectorized) {
    const bool becomes_lanes =
        constant_int(loop->extent).value_or(1) > 1 && !contains(loop->body, ForKind::Vectorized);
    has_lanes = has_lanes || becomes_lanes;
  }
  const Stmt inside = map_statements(s, [&](const Stmt& c) { return part(c, has_lanes); });
  const Allocate* memory = inside.as<Allocate>();
  if (!memory || !has_lanes) return inside;
  Allocate own = *memory;
  own.body = with_own_buffers(memory->body, memory->data);
  return make_stmt(std::move(own));
}

}  // namespace

PrimFunc part_lane_buffers(const PrimFunc& func, const PassOptions& options) {
  if (options.disable_vectorize) return func;
  return with_body(func, part(func.body, false));
}

}  // namespace tenon::lowering
