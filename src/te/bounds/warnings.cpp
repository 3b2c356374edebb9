#include "tenon/te/warnings.h"

#include <algorithm>

#include "te/operations/collect_reads.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/exact_bound.h"
#include "tenon/te/graph.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Below that, nearly all processors have it near by.
constexpr std::int64_t kWorthAWord = 32 * 1024;

bool is_data(const Expr& index) {
  bool found = false;
  walk(index, [&](const ProducerLoad&) { found = true; });
  return found;
}

std::optional<std::int64_t> count(const Bounds& bounds, const IterVar& axis) {
  const Range* range = bounds.find(axis);
  return range ? constant_int(range->extent) : std::nullopt;
}

/// Of what is computed at a time; nullopt where that is not known.
std::optional<std::int64_t> bytes_of(const FrozenStage& stage, const Bounds& bounds) {
  std::int64_t bytes = stage.op.output(0).dtype().bytes();
  for (const IterVar& axis : stage.op.axis()) {
    const std::optional<std::int64_t> extent = count(bounds, axis);
    if (!extent || __builtin_mul_overflow(bytes, *extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

class Finder {
 public:
  Finder(const StageGraph& graph, const Bounds& bounds) : graph_(graph), bounds_(bounds) {}

  std::vector<std::string> find() {
    for (StageId id : graph_.ids()) {
      look_at_gathers(id);
      look_at_rolling(id);
    }
    return std::move(found_);
  }

 private:
  /// The dimension that the reader takes elements of by data, all of which is computed.
  std::optional<std::size_t> gathered_dimension(StageId id, StageId reader) const {
    const FrozenStage& stage = graph_.stage(id);
    const std::vector<Expr>& shape = stage.op.output(0).shape();
    for (const TensorReads& reads : collect_reads(graph_.stage(reader).op)) {
      if (!reads.tensor.same_as(stage.op.output(0))) continue;
      for (const std::vector<Expr>& indices : reads.indices)
        for (std::size_t dim = 0; dim < indices.size(); ++dim) {
          const std::optional<std::int64_t> extent = count(bounds_, stage.op.axis()[dim]);
          if (extent && extent == constant_int(shape[dim]) && is_data(indices[dim])) return dim;
        }
    }
    return std::nullopt;
  }

  void look_at_gathers(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    if (!stage.place || !stage.op.as<Compute>()) return;
    const std::optional<std::int64_t> bytes = bytes_of(stage, bounds_);
    if (!bytes || *bytes < kWorthAWord) return;
    std::int64_t times = 1;
    for (const AttachPoint& loop : graph_.attach_path(id))
      if (__builtin_mul_overflow(times, count(bounds_, loop.axis).value_or(2), &times)) return;
    if (times < 2) return;
    for (StageId reader : graph_.readers(id))
      if (const std::optional<std::size_t> dim = gathered_dimension(id, reader))
        return tell_of_gather(id, reader, *dim, *bytes);
  }

  void tell_of_gather(StageId id, StageId reader, std::size_t dim, std::int64_t bytes) {
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

  void look_at_rolling(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    if (!stage.rolling_buffer || stage.place) return;
    found_.push_back("rolling_buffer of " + describe(stage) +
                     ": it has no effect, since the stage is computed at root, where nothing of it "
                     "is computed twice; compute it at a loop of its reader (at " +
                     to_string(stage.op.where()) + ")");
  }

  const StageGraph& graph_;
  const Bounds& bounds_;
  std::vector<std::string> found_;
};

std::vector<std::string> untold(const Schedule& schedule, const std::vector<std::string>& all) {
  std::vector<std::string> result;
  for (const std::string& each : all)
    if (schedule.data().told.insert(each).second) result.push_back(each);
  return result;
}

}  // namespace

std::vector<std::string> untold_warnings(const Schedule& schedule) {
  return untold(schedule, schedule.warnings());
}

std::vector<std::string> untold_warnings(const Schedule& schedule, const StageGraph& graph,
                                         const Bounds& bounds) {
  std::vector<std::string> all = schedule.warnings();
  for (std::string& each : Finder(graph, bounds).find()) all.push_back(std::move(each));
  return untold(schedule, all);
}

}  // namespace tenon::te
