// transform_layout: another order of elements in memory, and loops that follow it.
#include <algorithm>

#include "te/index_digits.h"
#include "te/schedule_data.h"
#include "tenon/te/stage.h"

namespace tenon::te {

namespace {

constexpr std::string_view kSeparator = "axis_separator";

bool is_separator(const Expr& e) {
  const tir::StringImm* text = e.as<tir::StringImm>();
  return text && text->value == kSeparator;
}

/// Where the loops over the data axes stand: next to each other, in any order.
int first_place(const StageData& stage, const SourceLocation& where) {
  std::vector<int> places;
  for (const IterVar& axis : stage.op.axis())
    places.push_back(*stage.leaf_position(require_leaf("transform_layout", stage, axis, where)));
  std::sort(places.begin(), places.end());
  if (!places.empty() && places.back() - places.front() + 1 != static_cast<int>(places.size()))
    fail("transform_layout", stage,
         "the loops over its dimensions do not stand next to each other; they are " +
             describe(stage.leaf_iter_vars) + " (transform before reorder)",
         where);
  return places.empty() ? 0 : places.front();
}

/// The scan whose state the stage begins or continues, or is.
const StageData* scan_around(const ScheduleData& schedule, StageId stage) {
  for (const StageData& other : schedule.stages) {
    const Scan* scan = other.op.as<Scan>();
    if (!scan) continue;
    for (const std::vector<Tensor>* tensors : {&scan->init, &scan->update, &scan->state})
      for (const Tensor& tensor : *tensors)
        if (schedule.find(tensor.op()) == stage) return &other;
  }
  return nullptr;
}

}  // namespace

Expr axis_separator() { return tir::make_string(std::string(kSeparator)); }

std::vector<IterVar> Stage::transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                             SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "transform_layout", where);
  const Compute* compute = stage.op.as<Compute>();
  if (!compute && !stage.op.as<Placeholder>())
    fail("transform_layout", stage, "only the layout of a compute or of a placeholder can be changed", where);
  if (stage.layout) fail("transform_layout", stage, "its layout has already been transformed", where);
  if (const StageData* scan = scan_around(*schedule_, index_))
    fail("transform_layout", stage,
         "it shares the memory of the state of scan `" + scan->origin_op.name() + "`, whose layout is fixed",
         where);
  const std::vector<Expr> shape = stage.op.output(0).shape();
  if (!map.takes(shape.size()))
    fail("transform_layout", stage,
         "the map takes " + std::to_string(*map.arity()) + " indices, the output has " +
             std::to_string(shape.size()) + " dimensions",
         where);

  Transform::Map forward;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    const std::string name = compute ? compute->axis[n].name() : "i" + std::to_string(n);
    forward.params.emplace_back(name, shape[n].dtype());
  }
  std::vector<int> separators;
  for (Expr& result : map(forward.params)) {
    if (is_separator(result)) {
      separators.push_back(static_cast<int>(forward.results.size()));
    } else if (result.dtype().is_integral() && result.dtype().is_scalar()) {
      forward.results.push_back(std::move(result));
    } else {
      fail("transform_layout", stage, "an index must be an integer, is " + result.dtype().str(), where);
    }
  }
  std::optional<Bijection> bijection = invert(forward, shape);
  if (!bijection)
    fail("transform_layout", stage,
         "the map is not seen to be a bijection: every index must come back from quotients, remainders and "
         "sums that "
         "divide the extents without rest",
         where);

  std::vector<IterVar> transformed;
  if (compute) {
    const int place = first_place(stage, where);
    const std::vector<IterVar> originals = [&] {
      std::vector<IterVar> axes;
      for (const IterVar& axis : compute->axis) {
        axes.push_back(require_leaf("transform_layout", stage, axis, where));
        check_not_tensorized("transform_layout", stage, axes.back(), where);
      }
      return axes;
    }();
    for (std::size_t n = 0; n < bijection->extents.size(); ++n) {
      const Range range =
          Range::from_min_extent(tir::make_int(bijection->extents[n].dtype(), 0), bijection->extents[n]);
      transformed.emplace_back(range, bijection->inverse.params[n], IterKind::DataParallel);
    }
    const std::vector<IterVar> before = stage.leaf_iter_vars;
    std::erase_if(stage.leaf_iter_vars, [&](const IterVar& axis) { return contains(originals, axis); });
    stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin() + place, transformed.begin(), transformed.end());
    stage.all_iter_vars.insert(stage.all_iter_vars.end(), transformed.begin(), transformed.end());
    stage.relations.push_back(Transform{originals, transformed, forward, bijection->inverse});
    warn_of_lost_marks(*schedule_, "transform_layout", stage, before, where);
  }
  stage.layout = std::move(forward);
  stage.axis_separators = std::move(separators);
  return transformed;
}

}  // namespace tenon::te
