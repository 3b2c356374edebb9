#include "te/loops/program.h"

#include <algorithm>
#include <iterator>

#include "te/graph/thread_scope.h"
#include "te/operations/declare.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

// ---- BufferTable --------------------------------------------------------------------------------

BufferTable::BufferTable(const StageGraph& graph) : graph_(graph) {}

std::optional<OutputId> BufferTable::id_of(const Tensor& tensor) const {
  const std::optional<OutputId> output = graph_.find(tensor);
  if (!output) return std::nullopt;
  const std::optional<ScanPart> part = graph_.stage(output->stage).scan_part(output->index);
  return part ? part->state : *output;
}

void BufferTable::set_argument(const Tensor& tensor, const Buffer& buffer) {
  if (std::optional<OutputId> id = id_of(tensor)) {
    arguments_.insert_or_assign(*id, buffer);
  } else {
    without_stage_.emplace_back(tensor, buffer);
  }
}

bool BufferTable::is_argument(const Tensor& tensor) const {
  std::optional<OutputId> id = id_of(tensor);
  return id && arguments_.contains(*id);
}

bool BufferTable::has_argument(const Operation& op) const {
  return std::ranges::any_of(outputs_of(op), [&](const Tensor& t) { return is_argument(t); });
}

bool BufferTable::is_scan_state(const Tensor& tensor) const {
  const std::optional<OutputId> output = graph_.find(tensor);
  return output && graph_.stage(output->stage).scan_part(output->index).has_value();
}

Buffer BufferTable::buffer_of(const Tensor& tensor) {
  const std::optional<OutputId> id = id_of(tensor);
  if (!id) {
    for (const auto& [known, buffer] : without_stage_) {
      if (known.same_as(tensor)) return buffer;
    }
    without_stage_.emplace_back(
        tensor, decl_buffer(tensor.shape(), tensor.dtype(), {.name = tensor.name()}));
    return without_stage_.back().second;
  }
  if (auto found = arguments_.find(*id); found != arguments_.end()) return found->second;
  if (auto found = buffers_.find(*id); found != buffers_.end()) return found->second;
  const FrozenStage& stage = graph_.stage(id->stage);
  return buffers_.emplace(*id, declare(stage, stage.origin_op.output(id->index))).first->second;
}

std::optional<Buffer> BufferTable::stored_buffer_of(const Tensor& tensor) {
  const std::optional<OutputId> id = id_of(tensor);
  if (!id || !graph_.stage(id->stage).layout) return std::nullopt;
  if (auto found = stored_.find(*id); found != stored_.end()) return found->second;
  const FrozenStage& stage = graph_.stage(id->stage);
  BufferNode node = *buffer_of(tensor).get();
  const std::vector<Range> box = whole_region(node.shape);
  node.shape.clear();
  for (const Range& range : image_of(*stage.layout, box))
    node.shape.push_back(arith::simplify(range.extent));
  node.strides.clear();
  node.kind = BufferKind::Default;
  node.axis_separators = stage.axis_separators;
  return stored_.emplace(*id, make_buffer(std::move(node))).first->second;
}

Buffer BufferTable::declare(const FrozenStage& stage, const Tensor& tensor) {
  BufferOptions options{.name = tensor.name(), .axis_separators = stage.axis_separators};
  // The scope of an argument's memory is not declared here, because the caller owns the memory.
  if (!stage.op.as<Placeholder>())
    options.scope = to_string(stage.scope_is_set ? stage.scope : StorageScope::Global);
  return decl_buffer(tensor.shape(), tensor.dtype(), std::move(options));
}

std::vector<Range> image_of(const Transform::Map& layout, const std::vector<Range>& region) {
  const arith::Facts facts;
  const Range none = Range::from_min_extent(0, 1);
  arith::IntervalMap params, opaque;
  VarMap ends;
  for (std::size_t n = 0; n < region.size(); ++n) {
    const arith::Interval values = arith::Interval::from_range(region[n]);
    params.set(layout.params[n], values);
    const Var first("first", values.min()->dtype()), last("last", values.max()->dtype());
    opaque.set(layout.params[n], arith::Interval::between(first, last));
    set(ends, first, *values.min());
    set(ends, last, *values.max());
  }
  std::vector<Range> image;
  for (const Expr& result : layout.results) {
    const arith::Interval values = arith::values_of(result, params, facts);
    if (values.is_bounded()) {
      image.push_back(values.to_range(none, facts));
      continue;
    }
    // The ends of the region contain calls, which have no bounds. They are replaced by variables.
    const arith::Interval box = arith::values_of(result, opaque, facts);
    internal_check(box.is_bounded(), "the image of a box under a layout has no bounds");
    image.push_back(substitute(box.to_range(none, facts), ends));
  }
  return image;
}

std::vector<Expr> moved(const Transform::Map& layout, const std::vector<Expr>& indices) {
  VarMap values;
  // Casts each index to the type of its dimension, because a constant may have a narrower type.
  for (std::size_t n = 0; n < indices.size(); ++n)
    set(values, layout.params[n], cast(layout.params[n].dtype(), indices[n]));
  std::vector<Expr> result;
  for (const Expr& index : layout.results) result.push_back(substitute_folding(index, values));
  return result;
}

// ---- Program ------------------------------------------------------------------------------------

Program::Program(const StageGraph& graph, const Bounds& bounds, BufferTable& buffers)
    : graph(graph), bounds(bounds), buffers(buffers), lifted(graph, bounds.ranges()) {
  for (const Bounds::Entry& entry : bounds.entries()) {
    facts.bind(entry.axis.var(), entry.range, /*replace=*/true);
    intervals.set(entry.axis.var(), arith::Interval::from_range(entry.range));
  }
}

void Program::define(const std::vector<std::pair<Var, Expr>>& values) {
  for (const auto& [var, value] : values) set(defined_, var, value);
}

Expr Program::lower(const Expr& e, const VarMap& values, ExprMemo& done) const {
  if (e.as<IntImm>() || e.as<FloatImm>() || e.as<StringImm>()) return e;
  if (e.as<VarNode>()) {
    for (const VarMap* known : {&values, &defined_})
      if (auto value = known->find(&e.node()); value != known->end()) return value->second;
    return e;
  }
  if (const Expr* known = done.find(&e.node())) return *known;
  const auto lowered = [&](const Expr& child) { return lower(child, values, done); };
  Expr result = e;
  if (const ProducerLoad* load = e.as<ProducerLoad>()) {
    std::vector<Expr> indices;
    std::ranges::transform(load->indices, std::back_inserter(indices), lowered);
    result = make_load(buffers.buffer_of(Tensor::of(*load)), std::move(indices));
  } else {
    result = map_children(e, lowered);
  }
  done.try_emplace(&e.node(), result);
  return result;
}

Expr Program::lower(const Expr& e, const VarMap& values) const {
  ExprMemo done;
  return lower(e, values, done);
}

Range Program::lower(const Range& range, const VarMap& values) const {
  return Range::from_min_extent(lower(range.min, values), lower(range.extent, values));
}

Stmt Program::lower(const Stmt& s, const VarMap& values, ExprMemo& done) const {
  return map_children(
      s, [&](const Expr& e) { return lower(e, values, done); },
      [&](const Stmt& child) { return lower(child, values, done); });
}

Stmt Program::lower(const Stmt& s, const VarMap& values) const {
  ExprMemo done;
  return lower(s, values, done);
}

}  // namespace tenon::te
