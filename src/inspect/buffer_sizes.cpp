#include "tenon/inspect/buffer_sizes.h"

#include <algorithm>
#include <utility>

#include "tenon/arith/simplify.h"
#include "tenon/driver/text.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon {

namespace {

using tir::Expr;

Expr product(const std::vector<Expr>& extents) {
  Expr result = 1;
  for (const Expr& extent : extents) result = result * extent;
  return arith::simplify(result);
}

/// A buffer and its memory, which is identified by the data pointer.
struct Watched {
  tir::Buffer buffer;
  /// The memory of the buffer after storage flattening. Nullopt for parameters, whose memory is not
  /// allocated by the function.
  std::optional<tir::Var> data;
  BufferSize size;
};

std::vector<Watched> realized_buffers(const tir::PrimFunc& loops) {
  std::vector<Watched> watched;
  tir::walk(loops.body, [&](const tir::Realize& realize) {
    BufferSize size{
        realize.buffer.name(), realize.buffer->scope(), realize.buffer->dtype, {}, Expr(0)};
    for (const tir::Range& range : realize.bounds)
      size.required.push_back(arith::simplify(range.extent));
    watched.push_back({realize.buffer, std::nullopt, std::move(size)});
  });
  return watched;
}

/// Finds the allocation of each realized buffer. `before` and `after` are the function before and
/// after storage flattening. The allocations have the order of the realizations, but parameters
/// have no allocation, and hand-written allocations may occur in between.
void find_memory(const tir::PrimFunc& before, const tir::PrimFunc& after,
                 std::vector<Watched>& watched) {
  std::vector<tir::Var> memory;
  tir::walk(after.body, [&](const tir::Allocate& allocate) { memory.push_back(allocate.data); });
  const auto is_parameter = [&](const tir::Buffer& buffer) {
    return std::ranges::any_of(before.buffers, [&](const tir::BufferParam& param) {
      return param.buffer.same_as(buffer) || param.declared.same_as(buffer);
    });
  };
  std::size_t next = 0;
  tir::walk(
      before.body, [&](const tir::Allocate&) { ++next; },
      [&](const tir::Realize& realize) {
        if (is_parameter(realize.buffer)) return;
        const tir::Var& data = memory.at(next++);
        for (Watched& each : watched) {
          if (!each.buffer.same_as(realize.buffer)) continue;
          each.data = data;
          // If the schedule did not set the scope, flattening has deduced it from the enclosing
          // threads.
          each.size.scope = tir::memory_scope(data);
        }
      });
}

void measure(const tir::PrimFunc& func, std::vector<Watched>& watched) {
  tir::walk(func.body, [&](const tir::Allocate& allocate) {
    for (Watched& each : watched)
      if (each.data && each.data->same_as(allocate.data))
        each.size.allocated = arith::simplify(product(allocate.extents) * allocate.dtype.lanes);
  });
}

std::string required_text(const std::vector<Expr>& extents) {
  const std::string shape = shape_text(extents);
  return extents.size() > 1 ? shape + " = " + tir::print_expr(product(extents)) : shape;
}

}  // namespace

std::vector<BufferSize> buffer_sizes(const te::Schedule& schedule,
                                     const std::vector<LowerArgument>& args,
                                     const LowerOptions& options, SourceLocation where) {
  std::vector<Watched> watched;
  bool has_started = false;
  // Several buffers may share memory after the pass rewrite-storage.
  bool may_share = false;
  LowerOptions how = options;
  how.passes.on_pass = [&](const lowering::PassOptions::PassReport& report) {
    if (!std::exchange(has_started, true)) watched = realized_buffers(report.before);
    if (report.pass == "flatten-storage") find_memory(report.before, report.after, watched);
    may_share |= report.pass == "rewrite-storage";
    if (!may_share) measure(report.after, watched);
    if (options.passes.on_pass) options.passes.on_pass(report);
  };
  lower(schedule, args, how, where);
  std::vector<BufferSize> sizes;
  for (Watched& each : watched)
    if (each.data) sizes.push_back(std::move(each.size));
  return sizes;
}

std::ostream& operator<<(std::ostream& out, const std::vector<BufferSize>& sizes) {
  std::vector<std::vector<std::string>> rows = {{"buffer", "scope", "required", "allocated"}};
  for (const BufferSize& size : sizes)
    rows.push_back({size.buffer, std::string(to_string(size.scope)), required_text(size.required),
                    tir::print_expr(size.allocated)});
  print_table(out, rows, rows.front().size());
  return out;
}

}  // namespace tenon
