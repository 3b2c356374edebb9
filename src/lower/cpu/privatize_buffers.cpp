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
// Iterations of the loop can then run side by side, each with its own copy (jam_loops), and vectors
// of consecutive iterations can be merged (widen_vectors).
#include "lower/passes.h"

#include "lower/checks/filling.h"
#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"

namespace tenon::lowering {

using namespace tir;

namespace {

class Privatizer {
 public:
  /// Visits inner allocations first.
  Stmt stmt(const Stmt& s) const {
    const Stmt inside = map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
    const Allocate* memory = inside.as<Allocate>();
    if (!memory || memory->double_buffer || !is_true(memory->condition)) return inside;
    const std::optional<std::int64_t> elements = constant_elements(*memory);
    if (!elements || *elements > kMaxPrivateBytes / memory->dtype.bytes() ||
        !has_plain_uses(*memory))
      return inside;
    const Stmt* loop = innermost_filler(*memory);
    return loop ? moved(memory->body, *loop, *memory) : inside;
  }

 private:
  /// Returns the innermost loop that contains all uses and refills the memory in each iteration.
  static const Stmt* innermost_filler(const Allocate& memory) {
    const Stmt* best = nullptr;
    for (const Stmt* at = &memory.body; at != nullptr;) {
      const Stmt* next = nullptr;
      if (const For* loop = at->as<For>()) {
        if (loop->kind != ForKind::Serial && loop->kind != ForKind::Parallel) break;
        if (fills_first(loop->body, memory)) best = at;
        next = &loop->body;
      } else if (const Let* let = at->as<Let>()) {
        if (mentions_memory(let->value, memory.data)) break;
        next = &let->body;
      } else if (const Attr* attr = at->as<Attr>()) {
        next = &attr->body;
      } else if (const Allocate* other = at->as<Allocate>()) {
        next = &other->body;
      } else if (const Seq* seq = at->as<Seq>()) {
        for (const Stmt& part : seq->stmts) {
          if (!mentions_memory(part, memory.data)) continue;
          if (next) return best;
          next = &part;
        }
      }
      at = next;
    }
    return best;
  }

  /// Moves the allocation from around `s` into `loop`.
  static Stmt moved(const Stmt& s, const Stmt& loop, const Allocate& memory) {
    if (s.same_as(loop)) {
      For next = *loop.as<For>();
      Allocate own = memory;
      own.body = next.body;
      next.body = make_stmt(std::move(own));
      return make_stmt(std::move(next));
    }
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return moved(child, loop, memory); });
  }
};

}  // namespace

PrimFunc privatize_buffers(const PrimFunc& func, const PassOptions&) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  PrimFunc result = func;
  result.body = Privatizer().stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
