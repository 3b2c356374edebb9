#include "te/bounds/bound_inference.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <set>

#include "te/operations/body.h"
#include "tenon/te/analysis.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

/// The coordinates that one step requires in one dimension of a stage. A number n stands for the
/// coordinate of the scan's spatial axis n. kAnyCoordinate stands for arbitrary coordinates.
/// Nullopt means that the step requires nothing.
using Needed = std::optional<std::size_t>;
constexpr std::size_t kAnyCoordinate = std::numeric_limits<std::size_t>::max();

void require(Needed& dim, const Needed& more) {
  if (!dim)
    dim = more;
  else if (more && more != dim)
    dim = kAnyCoordinate;
}

}  // namespace

std::vector<StageId> stages_of_step(const StageGraph& graph, StageId id) {
  const Scan& scan = *graph.stage(id).op.as<Scan>();
  // Stages that depend on the state, except the scan itself and its readers.
  std::set<StageId> states, after_state;
  for (const Tensor& state : scan.state)
    if (const std::optional<StageId> placeholder = graph.find(state.op()))
      states.insert(*placeholder);
  std::vector<StageId> pending(states.begin(), states.end());
  while (!pending.empty()) {
    const StageId stage = pending.back();
    pending.pop_back();
    for (StageId reader : graph.readers(stage))
      if (reader < id && after_state.insert(reader).second) pending.push_back(reader);
  }
  // The step consists of the updates and of their transitive inputs, as far as these depend on the
  // state.
  std::set<StageId> step;
  for (const Tensor& update : scan.update) {
    const StageId stage = *graph.find(update.op());
    if (step.insert(stage).second) pending.push_back(stage);
  }
  while (!pending.empty()) {
    const StageId stage = pending.back();
    pending.pop_back();
    for (StageId read : graph.reads(stage))
      if (after_state.contains(read) && !states.contains(read) && step.insert(read).second)
        pending.push_back(read);
  }
  return {step.begin(), step.end()};
}

std::vector<IterVar> fixed_axes(const StageGraph& graph, StageId id) {
  const Scan& scan = *graph.stage(id).op.as<Scan>();
  // The required coordinates in each dimension, by stage of the step.
  std::map<StageId, std::vector<Needed>> step;
  for (StageId stage : stages_of_step(graph, id))
    step[stage].resize(graph.stage(stage).op.output(0).shape().size());
  // For each state, the index of its first axis in Scan::spatial_axis.
  std::vector<std::size_t> first_axis;
  for (std::size_t k = 0, axis = 0; k < scan.update.size(); ++k) {
    first_axis.push_back(axis);
    std::vector<Needed>& dims = step.at(*graph.find(scan.update[k].op()));
    for (std::size_t dim = 1; dim < dims.size(); ++dim) require(dims[dim], axis++);
  }
  // For each spatial axis of the scan, whether every step depends only on the same coordinate.
  std::vector<bool> is_fixed(scan.spatial_axis.size(), true);
  const auto add = [&](const Tensor& read, std::size_t dim, const Needed& needed) {
    for (std::size_t k = 0; k < scan.state.size(); ++k) {
      if (!scan.state[k].same_as(read)) continue;
      const std::size_t axis = first_axis[k] + dim - 1;
      if (dim > 0 && needed != axis) is_fixed[axis] = false;
      return;
    }
    const std::optional<StageId> producer = graph.find(read.op());
    const auto found = producer ? step.find(*producer) : step.end();
    if (found != step.end()) require(found->second[dim], needed);
  };
  // Visits readers first, so that a stage's requirements are complete when it is visited.
  for (const auto& [reader, dims] : std::views::reverse(step)) {
    const Operation& op = graph.stage(reader).op;
    if (!op.as<Compute>()) {
      // A nested scan, an extern operation or an intrinsic may read at any index.
      for (const Tensor& input : op.inputs())
        for (std::size_t dim = 0; dim < input.shape().size(); ++dim)
          add(input, dim, kAnyCoordinate);
      continue;
    }
    for (const auto& [tensor, indices] : collect_reads(op))
      for (std::size_t dim = 0; dim < indices.size(); ++dim) {
        const Expr& index = indices[dim];
        const auto axis = std::ranges::find_if(
            op.axis(), [&](const IterVar& own) { return own.var().same_as(index); });
        const bool is_axis = axis != op.axis().end();
        add(tensor, dim,
            is_axis ? dims[static_cast<std::size_t>(axis - op.axis().begin())] : kAnyCoordinate);
      }
  }
  std::vector<IterVar> fixed;
  for (std::size_t axis = 0; axis < is_fixed.size(); ++axis)
    if (is_fixed[axis]) fixed.push_back(scan.spatial_axis[axis]);
  return fixed;
}

// ---- scans --------------------------------------------------------------------------------------

namespace {

void check_scan(std::string_view function, const Operation& op, const SourceLocation& where) {
  if (op.as<Scan>()) return;
  throw TypeError(std::string(function) + ": operation `" + op.name() + "` is not a scan", where);
}

}  // namespace

std::vector<Operation> scan_body(const Operation& scan, SourceLocation where) {
  check_scan("scan_body", scan, where);
  const StageGraph graph = freeze(create_schedule(scan, where), where);
  std::vector<Operation> body;
  for (StageId stage : stages_of_step(graph, *graph.find(scan)))
    body.push_back(graph.stage(stage).op);
  return body;
}

std::vector<IterVar> scan_fixed_axes(const Operation& scan, SourceLocation where) {
  check_scan("scan_fixed_axes", scan, where);
  const StageGraph graph = freeze(create_schedule(scan, where), where);
  return fixed_axes(graph, *graph.find(scan));
}

// ---- buffers ------------------------------------------------------------------------------------

bool needs_compact_buffers(const StageGraph& graph) {
  for (StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    if (stage.op.as<Extern>() || stage.op.as<TensorCompute>()) return true;
    for (const auto& [axis, attributes] : stage.attributes)
      if (attributes.tensorize) return true;
  }
  return false;
}

bool needs_compact_buffers(const Stmt& body) { return tir::contains<tir::BufferView>(body); }

}  // namespace tenon::te
