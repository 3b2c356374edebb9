#include "tenon/te/warnings.h"

#include <algorithm>

#include "te/graph/thread_scope.h"
#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/graph.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Minimum size of data that is reported. Smaller data is in a fast cache on nearly all processors.
constexpr std::int64_t kMinReportedBytes = 32 * 1024;

Count count(const Bounds& bounds, const IterVar& axis) {
  const Range* range = bounds.find(axis);
  return range ? constant_int(range->extent) : std::nullopt;
}

/// Minimum ratio of computed to needed elements that is reported. A smaller ratio is the normal
/// overlap of tiles.
constexpr std::int64_t kMinReportedRatio = 2;

/// Returns the ratio with one decimal, such as "3.9".
std::string times(std::int64_t evaluations, std::int64_t elements) {
  const std::int64_t tenths = evaluations / elements * 10 + evaluations % elements * 10 / elements;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

/// Returns the size in bytes of the region that one computation of the stage covers; nullopt if
/// unknown.
Count bytes_of(const FrozenStage& stage, const Bounds& bounds) {
  Count bytes = stage.op.output(0).dtype().bytes();
  for (const IterVar& axis : stage.op.axis()) bytes = product(bytes, count(bounds, axis));
  return bytes;
}

class Finder {
 public:
  Finder(const StageGraph& graph, const Bounds& bounds)
      : graph_(graph), bounds_(bounds), reads_(graph.size()) {}

  std::vector<std::string> find() {
    for (StageId id : graph_.ids()) {
      check_gathers(id);
      check_rolling_buffer(id);
      check_recomputation(id);
      check_strides(id);
    }
    return std::move(found_);
  }

 private:
  /// Returns a dimension that the reader indexes by data. The stage computes such a dimension in
  /// full.
  std::optional<std::size_t> gathered_dimension(StageId id, StageId reader) {
    const FrozenStage& stage = graph_.stage(id);
    const std::vector<Expr>& shape = stage.op.output(0).shape();
    for (const auto& [tensor, indices] : reads_of(reader)) {
      if (!tensor.same_as(stage.op.output(0))) continue;
      for (std::size_t dim = 0; dim < indices.size(); ++dim) {
        const std::optional<std::int64_t> extent = count(bounds_, stage.op.axis()[dim]);
        if (extent && extent == constant_int(shape[dim]) && contains<ProducerLoad>(indices[dim]))
          return dim;
      }
    }
    return std::nullopt;
  }

  void check_gathers(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    if (!stage.place || !stage.op.as<Compute>()) return;
    const Count bytes = bytes_of(stage, bounds_);
    if (!bytes || *bytes < kMinReportedBytes) return;
    Count times = 1;
    for (const AttachPoint& loop : graph_.attach_path(id))
      times = product(times, count(bounds_, loop.axis).value_or(2));
    if (times.value_or(0) < 2) return;
    for (StageId reader : graph_.readers(id))
      if (const std::optional<std::size_t> dim = gathered_dimension(id, reader))
        return warn_of_gather(id, reader, *dim, *bytes);
  }

  void warn_of_gather(StageId id, StageId reader, std::size_t dim, std::int64_t bytes) {
    const FrozenStage& stage = graph_.stage(id);
    const AttachPoint& loop = *stage.place;
    const Range& all = bounds_.at(loop.axis);
    const std::optional<std::int64_t> iterations = constant_int(all.extent);
    std::string text = "compute_at of " + describe(stage) + ": all of its " +
                       std::to_string(bytes) + " bytes are computed in each of the " +
                       (iterations ? std::to_string(*iterations) + " " : "") +
                       "iterations of loop `" + loop.axis.name() + "` of " +
                       describe(graph_.stage(loop.stage)) + ", because " +
                       describe(graph_.stage(reader)) + " reads it at an index of dimension " +
                       std::to_string(dim) + " that is data; compute it at root";
    const std::optional<std::int64_t> exact = bytes_of(stage, infer_exact_bound(graph_));
    if (exact && *exact < bytes)
      text += ", or lower and build with {.bounds = Bounds::Exact}, by which " +
              std::to_string(*exact) + " bytes are";
    found_.push_back(text + " (at " + to_string(stage.attach_where) + ")");
  }

  void check_rolling_buffer(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    if (!stage.rolling_buffer || stage.place) return;
    found_.push_back("rolling_buffer of " + describe(stage) +
                     ": it has no effect, since the stage is computed at root, where nothing of it "
                     "is computed twice; compute it at a loop of its reader (at " +
                     to_string(stage.op.where()) + ")");
  }

  // ---- elements that are computed more often than needed

  using Loops = std::vector<AttachPoint>;

  /// Returns the number of elements of the axis that the stage computes while `loops` take the
  /// given values; nullopt if unknown.
  Count extent_over(const IterVar& axis, std::span<const AttachPoint> loops,
                    const arith::IntervalMap& values) const {
    const Range& range = bounds_.at(axis);
    const bool moves = std::ranges::any_of(
        loops, [&](const AttachPoint& loop) { return uses_var(range.min, loop.axis.var()); });
    if (const Count extent = constant_int(range.extent); extent && !moves) return extent;
    const arith::Interval all =
        arith::values_of(arith::Interval::from_range(range), values, facts_);
    if (!all.is_bounded()) return std::nullopt;
    return constant_int(arith::simplify(*all.max() - *all.min() + 1));
  }

  Count elements_over(std::span<const IterVar> axes, std::span<const AttachPoint> loops) const {
    arith::IntervalMap values;
    for (const AttachPoint& loop : loops)
      values.set(
          loop.axis.var(),
          arith::values_of(arith::Interval::from_range(bounds_.at(loop.axis)), values, facts_));
    Count total = 1;
    for (const IterVar& axis : axes) total = product(total, extent_over(axis, loops, values));
    return total;
  }

  /// Returns the index of the loop along which a rolling buffer advances. From this loop inwards,
  /// each dimension moves with at most one loop, and each loop moves at most one dimension. Returns
  /// the number of loops if there is no such loop.
  std::size_t rolling_loop(std::span<const IterVar> axes, const Loops& loops) const {
    for (std::size_t outer = 0; outer < loops.size(); ++outer) {
      std::vector<int> movers(loops.size(), 0);
      bool moves_separately = true;
      for (const IterVar& axis : axes) {
        int used = 0;
        for (std::size_t n = outer; n < loops.size(); ++n) {
          if (!uses_var(bounds_.at(axis).min, loops[n].axis.var())) continue;
          ++used;
          moves_separately = moves_separately && ++movers[n] == 1;
        }
        moves_separately = moves_separately && used <= 1;
      }
      if (moves_separately && movers[outer] == 1) return outer;
    }
    return loops.size();
  }

  static bool is_copy(const Operation& op) {
    return std::ranges::all_of(op.body(),
                               [](const Expr& body) { return body.as<ProducerLoad>() != nullptr; });
  }

  void check_recomputation(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    const Compute* compute = stage.op.as<Compute>();
    const bool is_part = std::ranges::any_of(
        stage.scan_parts, [](const std::optional<ScanPart>& part) { return part.has_value(); });
    if (!stage.place || is_part || (!compute && !stage.op.as<Scan>())) return;
    if (compute && is_copy(stage.op)) return;
    Loops loops = graph_.attach_path(id);
    std::ranges::reverse(loops);
    // Threads cannot share private memory and have to recompute values, so this is not reported.
    for (const AttachPoint& loop : loops)
      if (thread_of(graph_, loop)) return;
    const std::vector<IterVar>& axes = compute ? compute->axis : stage.op.root_iter_vars();
    const std::span<const AttachPoint> all = loops;
    const std::size_t kept = stage.rolling_buffer ? rolling_loop(axes, loops) : loops.size();
    Count evaluations = elements_over(axes, all.subspan(kept));
    for (const AttachPoint& loop : all.first(kept))
      evaluations = product(evaluations, count(bounds_, loop.axis));
    const Count needed = elements_over(axes, all);
    if (!evaluations || !needed || *needed < 1 || *evaluations < kMinReportedRatio * *needed)
      return;
    const AttachPoint& place = *stage.place;
    std::string text = stage.rolling_buffer ? "rolling_buffer" : "compute_at";
    text += " of " + describe(stage) + ": each of its elements is computed " +
            times(*evaluations, *needed) + " times on average (" + std::to_string(*evaluations) +
            " for " + std::to_string(*needed) + "), in the iterations of the loops around loop `" +
            place.axis.name() + "` of " + describe(graph_.stage(place.stage)) + "; ";
    if (!stage.rolling_buffer) {
      text += "compute it at an outer loop or at root, or keep the overlap with rolling_buffer";
    } else if (kept == loops.size()) {
      text +=
          "no element is kept, because the region moves along several loops; compute it at a loop "
          "along which only one dimension moves";
    } else {
      text += "elements are kept along loop `" + loops[kept].axis.name() +
              "` only, which runs again in the loops around it; compute it at an outer loop";
    }
    found_.push_back(text + " (at " + to_string(stage.attach_where) + ")");
  }

  const std::vector<TensorRead>& reads_of(StageId reader) {
    std::optional<std::vector<TensorRead>>& known = reads_[reader.index()];
    if (!known) known = collect_reads(graph_.stage(reader).op);
    return *known;
  }

  /// Returns an upper bound of the number of distinct indices at which the reader reads the
  /// dimension.
  Count indices_taken(StageId reader, const Tensor& tensor, std::size_t dim) {
    const Operation& op = graph_.stage(reader).op;
    if (!op.as<Compute>()) return std::nullopt;
    Count taken = 0;
    for (const auto& [read, indices] : reads_of(reader)) {
      if (!read.same_as(tensor)) continue;
      if (contains<ProducerLoad>(indices[dim])) return std::nullopt;
      Count of_one = 1;
      for (const IterVar& axis : op.root_iter_vars())
        if (uses_var(indices[dim], axis.var()))
          of_one = product(of_one, constant_int(axis.dom()->extent));
      taken = sum(taken, of_one);
    }
    return taken;
  }

  /// Warns if a stage at root is read with a stride: it also computes the elements that are
  /// skipped.
  void check_strides(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    const Compute* compute = stage.op.as<Compute>();
    if (stage.place || stage.is_output || !compute || !stage.scan_parts.empty()) return;
    Count computed = 1, used = 1;
    std::string dimensions;
    for (std::size_t dim = 0; dim < compute->axis.size(); ++dim) {
      const Count extent = count(bounds_, compute->axis[dim]);
      Count taken = 0;
      for (const Tensor& output : outputs_of(stage.op))
        for (StageId reader : graph_.readers(id))
          taken = sum(taken, indices_taken(reader, output, dim));
      if (!extent || !taken) return;
      computed = product(computed, extent);
      used = product(used, std::min(*extent, *taken));
      if (*taken < *extent) dimensions += (dimensions.empty() ? "" : ", ") + std::to_string(dim);
    }
    if (!computed || !used || *used < 1 || *computed < kMinReportedRatio * *used) return;
    found_.push_back(describe(stage) + ": " + times(*computed, *used) +
                     " elements are computed for each that is read (" + std::to_string(*computed) +
                     " for " + std::to_string(*used) +
                     "), because its readers skip elements of dimension " + dimensions +
                     "; compute it at their innermost loop, inline it, or declare only what is read"
                     " (at " +
                     to_string(stage.op.where()) + ")");
  }

  const StageGraph& graph_;
  const Bounds& bounds_;
  const arith::Facts facts_;
  /// Reads per stage, computed on demand.
  std::vector<std::optional<std::vector<TensorRead>>> reads_;
  std::vector<std::string> found_;
};

std::vector<std::string> unreported(const Schedule& schedule, const std::vector<std::string>& all) {
  std::vector<std::string> result;
  for (const std::string& each : all)
    if (schedule.data().reported_warnings.insert(each).second) result.push_back(each);
  return result;
}

}  // namespace

std::vector<std::string> pending_warnings(const Schedule& schedule) {
  return unreported(schedule, schedule.warnings());
}

std::vector<std::string> pending_warnings(const Schedule& schedule, const StageGraph& graph,
                                          const Bounds& bounds) {
  std::vector<std::string> all = schedule.warnings();
  for (std::string& each : Finder(graph, bounds).find()) all.push_back(std::move(each));
  return unreported(schedule, all);
}

}  // namespace tenon::te
