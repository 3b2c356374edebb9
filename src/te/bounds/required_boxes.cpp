#include "te/bounds/required_boxes.h"

#include <algorithm>

#include "te/bounds/bound_inference.h"
#include "tenon/arith/simplify.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Facts;
using arith::Interval;

namespace {

using Part = std::pair<StageId, Interval>;

bool reaches(const std::optional<Expr>& end, const std::optional<Expr>& all, bool is_max,
             const Facts& facts) {
  if (!end || !all) return !end;
  return can_prove(is_max ? *end >= *all : *end <= *all, facts);
}

/// Returns all readers if the one that reads furthest cannot be determined.
std::vector<StageId> deciding(const std::vector<Part>& parts, const Interval& all,
                              const Facts& facts) {
  std::vector<StageId> at_min, at_max;
  for (const auto& [reader, part] : parts) {
    const bool is_at_min = reaches(part.min(), all.min(), false, facts);
    const bool is_at_max = reaches(part.max(), all.max(), true, facts);
    if (is_at_min && is_at_max) return {reader};
    if (is_at_min) at_min.push_back(reader);
    if (is_at_max) at_max.push_back(reader);
  }
  std::vector<StageId> result;
  if (!at_min.empty() && !at_max.empty()) {
    result = {at_min.front(), at_max.front()};
  } else {
    for (const auto& [reader, part] : parts) result.push_back(reader);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

RequiredBox whole_shape(const Tensor& tensor) {
  RequiredBox box;
  for (const Expr& extent : tensor.shape()) box.push_back({Range(0, extent), {}});
  return box;
}

}  // namespace

RequiredBox BoundInference::required_of(StageId id, std::span<const TensorReaders> outputs) {
  const Tensor& first = outputs.front().tensor;
  std::vector<std::vector<Part>> parts(first.shape().size());
  for (const auto& [tensor, readers] : outputs)
    for (const StageId reader : readers) {
      Needs needs(parts.size());
      add_needs_of(reader, id, tensor, needs);
      for (std::size_t dim = 0; dim < parts.size(); ++dim)
        if (!needs[dim].empty()) parts[dim].emplace_back(reader, arith::hull(needs[dim], facts_));
    }
  RequiredBox box = whole_shape(first);
  for (std::size_t dim = 0; dim < parts.size(); ++dim) {
    if (parts[dim].empty()) continue;
    std::vector<Interval> sets;
    for (const auto& [reader, part] : parts[dim]) sets.push_back(part);
    const Interval all = arith::hull(sets, facts_);
    box[dim] = {arith::simplify(all.to_range(box[dim].range, facts_), facts_),
                deciding(parts[dim], all, facts_)};
  }
  return box;
}

std::vector<RequiredBox> BoundInference::required(StageId id) {
  const FrozenStage& stage = graph_.stage(id);
  const std::vector<TensorReaders>& outputs = graph_.output_readers(id);
  std::vector<RequiredBox> boxes;
  for (int k = 0; k < stage.op.num_outputs(); ++k) {
    const bool is_read = static_cast<std::size_t>(k) < outputs.size() && !stage.is_output;
    if (!is_read) {
      boxes.push_back(whole_shape(stage.op.output(k)));
    } else {
      const std::span<const TensorReaders> all = outputs;
      boxes.push_back(required_of(
          id, stage.op.as<Compute>() ? all : all.subspan(static_cast<std::size_t>(k), 1)));
    }
  }
  return boxes;
}

std::vector<std::vector<RequiredBox>> required_boxes(const StageGraph& graph, bool exact) {
  std::vector<std::vector<RequiredBox>> boxes;
  with_inferred(graph, exact ? Tightness::Exact : Tightness::Known, [&](BoundInference& inference) {
    for (const StageId id : graph.ids()) boxes.push_back(inference.required(id));
  });
  return boxes;
}

}  // namespace tenon::te
