#include "tenon/codegen/lowering/share_loop.h"

#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/pragma.h"

namespace tenon::codegen {

using namespace tir;

Stmt share_of_task(const For& loop, const Task& task) {
  const DataType type = loop.var.dtype(), wide = Int(64);
  const auto named = [&](const char* suffix) { return Var(loop.var.name() + suffix, wide); };
  // The shares are computed in 64 bits: their sum exceeds the extent after rounding up, and may
  // overflow the loop's own type.
  const Expr id = cast(wide, task.id), count = cast(wide, task.count);
  const Var first = named("_begin"), extent = named("_extent"), share = named("_share"),
            from = named("_from"), to = named("_to");
  const Expr end = first + extent;
  const auto define = [](const Var& var, const Expr& value, const Stmt& body) {
    return make_stmt(Let{var, value, body});
  };
  Stmt result = make_nop();
  if (task.is_strided) {
    const Var k(loop.var.name() + "_step", type);
    const Expr trips = truncdiv(max(extent - id, 0) + (count - 1), count);
    const Expr value = loop.min + cast(type, task.id) + k * cast(type, task.count);
    result = make_stmt(For{k, make_int(type, 0), cast(type, trips), ForKind::Serial,
                           define(loop.var, value, loop.body)});
  } else {
    result = make_stmt(
        For{loop.var, cast(type, from), cast(type, to - from), ForKind::Serial, loop.body});
    result = define(to, min(first + (id + 1) * share, end), result);
    result = define(from, min(first + id * share, end), result);
    result = define(share, truncdiv(extent + (count - 1), count), result);
  }
  // A negative extent means no iterations, so it is clamped to 0.
  result = define(extent, max(cast(wide, loop.extent), 0), result);
  return define(first, cast(wide, loop.min), result);
}

std::optional<Task> task_inside(const Attr& pragma, std::optional<Task> task) {
  const bool strides = is_pragma(pragma, PragmaKey::ParallelStridePattern);
  if (!task && (strides || is_pragma(pragma, PragmaKey::ParallelBarrierWhenFinish)))
    throw LowerError("pragma `" + pragma.key +
                     "` concerns a parallel region, but no axis around it has the pragma "
                     "`parallel_launch_point`");
  if (strides) task->is_strided = true;
  return task;
}

}  // namespace tenon::codegen
