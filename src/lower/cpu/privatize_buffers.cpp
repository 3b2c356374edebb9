// Moves a small allocation into the innermost loop that refills it in every iteration, which makes
// the iterations independent (array privatization: Tu, Padua, "Automatic array privatization",
// 1993). For host code; never printed.
//
//   allocate(Y, float32, [4]) {
//     for (j, 0, 32) {
//       Y[ramp(0, 1, 4)] = broadcast(0f32, 4)
//       for (k, 0, 128) { Y[ramp(0, 1, 4)] = Y[ramp(0, 1, 4)] + ...j...k... }
//       C[ramp(j*4, 1, 4)] = Y[ramp(0, 1, 4)]
//     }
//   }
// becomes
//   for (j, 0, 32) {
//     allocate(Y, float32, [4]) {
//       Y[ramp(0, 1, 4)] = broadcast(0f32, 4)
//       ...
//
// Iterations of the loop can then be jammed, each with its own copy (tile_registers), and vectors
// of consecutive iterations can be merged (widen_vectors).
#include "lower/passes.h"

#include "lower/checks/filling.h"
#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"
#include "lower/rewriting.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Moves the allocation from around `s` into the innermost loop that contains all uses and refills
/// the memory in each iteration; nullopt if no loop does.
std::optional<Stmt> sunk(const Stmt& s, const Allocate& memory) {
  const Stmt* user = nullptr;
  bool is_only = true;
  for_each_child(
      s, [&](const Expr& e) { is_only &= !mentions_memory(e, memory.data); },
      [&](const Stmt& child) {
        if (!mentions_memory(child, memory.data)) return;
        is_only &= !user;
        user = &child;
      });
  if (!user || !is_only) return std::nullopt;
  const std::optional<Stmt> inside = sunk(*user, memory);
  if (!inside && !(s.as<For>() && fills_first(*user, memory))) return std::nullopt;
  return map_statements(s, [&](const Stmt& child) {
    if (!child.same_as(*user)) return child;
    if (inside) return *inside;
    Allocate own = memory;
    own.body = child;
    return make_stmt(std::move(own));
  });
}

/// Visits inner allocations first.
Stmt privatized(const Stmt& s) {
  const Stmt inside = map_statements(s, privatized);
  const Allocate* memory = inside.as<Allocate>();
  if (!memory || memory->double_buffer || !is_true(memory->condition)) return inside;
  const std::optional<std::int64_t> elements = constant_elements(*memory);
  if (!elements || *elements > kMaxPrivateBytes / memory->dtype.bytes() || !has_plain_uses(*memory))
    return inside;
  return sunk(memory->body, *memory).value_or(inside);
}

}  // namespace

PrimFunc privatize_buffers(const PrimFunc& func, const PassOptions&) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  return with_body(func, privatized(func.body));
}

}  // namespace tenon::lowering
