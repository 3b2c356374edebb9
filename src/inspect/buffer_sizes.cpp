#include "tenon/inspect/buffer_sizes.h"

#include <algorithm>

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

/// Follows the buffers of a program through the passes. A buffer is identified by its data pointer.
class BufferWatch {
 public:
  void see(const lowering::PassOptions::PassReport& report) {
    if (!has_started_) start(report.before);
    if (report.pass == "flatten-storage") find_memory(report.before, report.after);
    if (report.pass == "rewrite-storage") is_shared_ = true;
    if (!is_shared_) measure(report.after);
  }

  std::vector<BufferSize> sizes() {
    std::vector<BufferSize> sizes;
    for (Watched& watched : watched_) {
      if (watched.data) sizes.push_back(std::move(watched.size));
    }
    return sizes;
  }

 private:
  struct Watched {
    tir::Buffer buffer;
    /// The memory of the buffer after storage flattening. Nullopt for parameters, whose memory is
    /// not allocated by the function.
    std::optional<tir::Var> data;
    BufferSize size;
  };

  void start(const tir::PrimFunc& loops) {
    has_started_ = true;
    tir::walk(loops.body, [&](const tir::Realize& realize) {
      BufferSize size{
          realize.buffer.name(), realize.buffer->scope(), realize.buffer->dtype, {}, Expr(0)};
      for (const tir::Range& range : realize.bounds)
        size.required.push_back(arith::simplify(range.extent));
      watched_.push_back({realize.buffer, std::nullopt, std::move(size)});
    });
  }

  /// Finds the allocation of each realized buffer. The allocations have the order of the
  /// realizations, but parameters have no allocation, and hand-written allocations may occur in
  /// between.
  void find_memory(const tir::PrimFunc& before, const tir::PrimFunc& after) {
    std::vector<tir::Var> memory;
    tir::walk(after.body, [&](const tir::Allocate& allocate) { memory.push_back(allocate.data); });
    std::size_t next = 0;
    tir::walk(
        before.body, [&](const tir::Allocate&) { ++next; },
        [&](const tir::Realize& realize) {
          if (!is_parameter(before, realize.buffer)) give_memory(realize.buffer, memory.at(next++));
        });
  }

  void give_memory(const tir::Buffer& buffer, const tir::Var& data) {
    for (Watched& watched : watched_) {
      if (!watched.buffer.same_as(buffer)) continue;
      watched.data = data;
      // If the schedule did not set the scope, flattening has deduced it from the enclosing
      // threads.
      watched.size.scope = tir::memory_scope(data);
    }
  }

  static bool is_parameter(const tir::PrimFunc& func, const tir::Buffer& buffer) {
    return std::any_of(func.buffers.begin(), func.buffers.end(),
                       [&](const tir::BufferParam& param) {
                         return param.buffer.same_as(buffer) || param.declared.same_as(buffer);
                       });
  }

  void measure(const tir::PrimFunc& func) {
    tir::walk(func.body, [&](const tir::Allocate& allocate) {
      for (Watched& watched : watched_) {
        if (!watched.data || !watched.data->same_as(allocate.data)) continue;
        watched.size.allocated = arith::simplify(product(allocate.extents) * allocate.dtype.lanes);
      }
    });
  }

  std::vector<Watched> watched_;
  bool has_started_ = false;
  /// Whether the pass rewrite-storage has run. Several buffers may share memory after it.
  bool is_shared_ = false;
};

std::string box(const std::vector<Expr>& extents) {
  std::vector<std::string> texts;
  for (const Expr& extent : extents) texts.push_back(tir::print_expr(extent));
  const std::string shape = "[" + joined(texts, ", ") + "]";
  return extents.size() > 1 ? shape + " = " + tir::print_expr(product(extents)) : shape;
}

}  // namespace

std::vector<BufferSize> buffer_sizes(const te::Schedule& schedule,
                                     const std::vector<LowerArgument>& args,
                                     const LowerOptions& options, SourceLocation where) {
  BufferWatch watch;
  LowerOptions watched = options;
  watched.passes.on_pass = [&](const lowering::PassOptions::PassReport& report) {
    watch.see(report);
    if (options.passes.on_pass) options.passes.on_pass(report);
  };
  lower(schedule, args, watched, where);
  return watch.sizes();
}

std::ostream& operator<<(std::ostream& out, const std::vector<BufferSize>& sizes) {
  std::vector<std::vector<std::string>> rows = {{"buffer", "scope", "required", "allocated"}};
  for (const BufferSize& size : sizes)
    rows.push_back({size.buffer, std::string(to_string(size.scope)), box(size.required),
                    tir::print_expr(size.allocated)});
  print_table(out, rows, rows.front().size());
  return out;
}

}  // namespace tenon
