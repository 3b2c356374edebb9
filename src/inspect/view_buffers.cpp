#include "inspect/view_buffers.h"

#include "tenon/arith/simplify.h"
#include "tenon/inspect/buffer_sizes.h"
#include "tenon/support/match.h"
#include "tenon/te/bounds_report.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon {

namespace {

using tir::Expr;

std::string text_of(const Expr& e) {
  const std::optional<std::int64_t> number = tir::constant_int(e);
  return number ? std::to_string(*number) : tir::print_expr(e);
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string shape_text(const std::vector<Expr>& extents) {
  std::vector<std::string> parts;
  for (const Expr& extent : extents) parts.push_back(text_of(extent));
  return "[" + joined(parts, ", ") + "]";
}

Expr in_bytes(Expr elements, DataType type) {
  return arith::simplify(tir::cast(Int(64), elements) * tir::make_int(Int(64), type.bytes()));
}

Expr element_count(const std::vector<Expr>& extents) {
  Expr result = tir::make_int(Int(64), 1);
  for (const Expr& extent : extents) result = result * tir::cast(Int(64), extent);
  return arith::simplify(result);
}

LoopView::Buffer argument(const std::string& name, const std::vector<Expr>& shape, DataType type) {
  return {.name = name,
          .scope = "global",
          .place = "argument",
          .required = "",
          .allocated = shape_text(shape),
          .bytes = text_of(in_bytes(element_count(shape), type)),
          .memory_bytes = ""};
}

LoopView::Buffer of_row(const te::BoundsReport::Row& row) {
  std::vector<std::string> required;
  std::vector<Expr> allocated;
  for (const te::BoundsReport::Dimension& dimension : row.dimensions) {
    const std::string readers = joined(dimension.decided_by, " and ");
    required.push_back(text_of(dimension.required.extent) + (readers.empty() ? "" : " by ") +
                       readers);
    allocated.push_back(dimension.allocated.extent);
  }
  return {.name = row.stage,
          .scope = std::string(to_string(row.scope)),
          .place = row.place,
          .required = "[" + joined(required, ", ") + "]",
          .allocated = shape_text(allocated),
          .bytes = text_of(row.bytes),
          .memory_bytes = ""};
}

}  // namespace

std::vector<LoopView::Buffer> view_buffers(const te::Schedule& schedule,
                                           const std::vector<LowerArgument>& args,
                                           const BuildOptions& options,
                                           const SourceLocation& where) {
  std::vector<LoopView::Buffer> buffers;
  for (const LowerArgument& each : args)
    match(
        each,
        [&](const te::Tensor& t) { buffers.push_back(argument(t.name(), t.shape(), t.dtype())); },
        [&](const tir::Buffer& b) { buffers.push_back(argument(b->name, b->shape, b->dtype)); },
        [](const tir::Var&) {});
  const std::size_t arguments = buffers.size();
  te::BoundsReportOptions asked{.most_steps = 0, .exact = options.bounds == Bounds::Exact};
  // bounds_report takes scalars with a value as arguments. The value is not used.
  for (const LowerArgument& each : args)
    if (const auto* scalar = std::get_if<tir::Var>(&each)) asked.sizes.emplace_back(*scalar, 1);
  const te::BoundsReport report = te::bounds_report(schedule, asked, where);
  for (const te::BoundsReport::Row& row : report.rows) {
    LoopView::Buffer made = of_row(row);
    // An output already has a row.
    bool is_argument = false;
    for (std::size_t n = 0; n < arguments; ++n) {
      if (buffers[n].name != made.name) continue;
      is_argument = true;
      buffers[n].required = made.required;
    }
    if (!is_argument) buffers.push_back(std::move(made));
  }
  LowerOptions how = options;
  how.instrument_bounds = how.check_intrinsics = false;
  // Only the build reports its steps and passes.
  how.on_step = {};
  how.passes.on_pass = {};
  for (const BufferSize& size : buffer_sizes(schedule, args, how, where))
    for (LoopView::Buffer& buffer : buffers)
      if (buffer.name == size.buffer && buffer.memory_bytes.empty()) {
        buffer.memory_bytes = text_of(in_bytes(size.allocated, size.dtype));
        break;
      }
  return buffers;
}

void view_buffers(const tir::PrimFunc& func, std::vector<LoopView::Buffer>& buffers) {
  for (const tir::BufferParam& each : func.buffers)
    buffers.push_back(argument(each.declared->name, each.declared->shape, each.declared->dtype));
  tir::walk(func.body, [&](const tir::Allocate& n) {
    const auto& pointer = n.data.as<tir::VarNode>()->pointer;
    const tir::StorageScope scope =
        pointer && pointer->scope ? *pointer->scope : tir::StorageScope::Global;
    const std::string bytes = text_of(in_bytes(element_count(n.extents), n.dtype));
    buffers.push_back({.name = n.data.name(),
                       .scope = std::string(tir::to_string(scope)),
                       .place = "in " + func.attrs.global_symbol,
                       .required = "",
                       .allocated = shape_text(n.extents),
                       .bytes = bytes,
                       .memory_bytes = n.double_buffer ? "" : bytes});
  });
}

}  // namespace tenon
