#include "te/bounds/bound_inference.h"

#include <algorithm>
#include <limits>
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

class FixedAxes {
 public:
  FixedAxes(const StageGraph& graph, StageId scan)
      : graph_(graph),
        scan_(*graph.stage(scan).op.as<Scan>()),
        step_(stages_of_step(graph, scan)),
        is_fixed_(scan_.spatial_axis.size(), true),
        needed_(step_.size()) {}

  std::vector<IterVar> find() {
    for (std::size_t n = 0; n < step_.size(); ++n)
      needed_[n].resize(graph_.stage(step_[n]).op.output(0).shape().size());
    for (std::size_t k = 0, axis = 0; k < scan_.update.size(); ++k) {
      first_axis_.push_back(axis);
      std::vector<Needed>& dims = needed_[*place_of(*graph_.find(scan_.update[k].op()))];
      for (std::size_t dim = 1; dim < dims.size(); ++dim) require(dims[dim], axis++);
    }
    // Visits readers first, so that a stage's requirements are complete when it is visited.
    for (auto id = step_.rbegin(); id != step_.rend(); ++id) follow_reads(*id);
    std::vector<IterVar> fixed;
    for (std::size_t axis = 0; axis < is_fixed_.size(); ++axis)
      if (is_fixed_[axis]) fixed.push_back(scan_.spatial_axis[axis]);
    return fixed;
  }

 private:
  /// Returns the position of a stage in the step; nullopt if it is not part of the step.
  std::optional<std::size_t> place_of(StageId id) const {
    const auto found = std::ranges::lower_bound(step_, id);
    if (found == step_.end() || *found != id) return std::nullopt;
    return static_cast<std::size_t>(found - step_.begin());
  }

  void follow_reads(StageId reader) {
    const Operation& op = graph_.stage(reader).op;
    if (!op.as<Compute>()) {
      // A nested scan, an extern operation or an intrinsic may read at any index.
      for (const Tensor& input : op.inputs())
        for (std::size_t dim = 0; dim < input.shape().size(); ++dim)
          add(input, dim, kAnyCoordinate);
      return;
    }
    for (const TensorReads& reads : collect_reads(op))
      for (const std::vector<Expr>& indices : reads.indices)
        for (std::size_t dim = 0; dim < indices.size(); ++dim)
          add(reads.tensor, dim, needed_by(reader, indices[dim]));
  }

  /// Returns what the reader requires of a dimension that it reads at `index`.
  Needed needed_by(StageId reader, const Expr& index) const {
    const std::vector<IterVar>& axes = graph_.stage(reader).op.axis();
    for (std::size_t dim = 0; dim < axes.size(); ++dim)
      if (axes[dim].var().same_as(index)) return needed_[*place_of(reader)][dim];
    return kAnyCoordinate;
  }

  void add(const Tensor& read, std::size_t dim, const Needed& needed) {
    for (std::size_t k = 0; k < scan_.state.size(); ++k) {
      if (!scan_.state[k].same_as(read)) continue;
      const std::size_t axis = first_axis_[k] + dim - 1;
      if (dim > 0 && needed != axis) is_fixed_[axis] = false;
      return;
    }
    const std::optional<StageId> producer = graph_.find(read.op());
    if (const std::optional<std::size_t> place = producer ? place_of(*producer) : std::nullopt)
      require(needed_[*place][dim], needed);
  }

  static void require(Needed& dim, const Needed& more) {
    if (!dim)
      dim = more;
    else if (more && more != dim)
      dim = kAnyCoordinate;
  }

  const StageGraph& graph_;
  const Scan& scan_;
  const std::vector<StageId> step_;
  /// For each spatial axis of the scan, whether every step depends only on the same coordinate.
  std::vector<char> is_fixed_;
  /// The required coordinates in each dimension, by stage of the step.
  std::vector<std::vector<Needed>> needed_;
  /// For each state, the index of its first axis in Scan::spatial_axis.
  std::vector<std::size_t> first_axis_;
};

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

std::vector<IterVar> fixed_axes(const StageGraph& graph, StageId scan) {
  return FixedAxes(graph, scan).find();
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
