// transform_layout: another order of elements in memory, and loops that follow it.
#include <algorithm>

#include "te/relations/index_digits.h"
#include "te/schedule/schedule_data.h"
#include "te/schedule/warnings.h"
#include "tenon/te/stage.h"
#include "tenon/tir/ops.h"

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

/// A thread, or padding of the axis' own rows, would say nothing of the new layout.
void check_keeps_its_meaning(const StageData& stage, const IterVar& dimension, const IterVar& loop,
                             const SourceLocation& where) {
  const AxisAttributes* of_loop = stage.attributes_of(loop);
  if (of_loop && of_loop->thread)
    fail("transform_layout", stage, loop,
         "it is already bound to `" + of_loop->thread->name() + "`: transform before bind", where);
  const AxisAttributes* of_dimension = stage.attributes_of(dimension);
  if (of_dimension && of_dimension->align)
    fail("transform_layout", stage, dimension,
         "its storage is already aligned: transform first, then align an axis of the new layout",
         where);
}

/// Where the physical dimensions begin; each has indices of its own.
void add_separator(std::vector<int>& separators, std::size_t place, const StageData& stage,
                   const SourceLocation& where) {
  const int next = static_cast<int>(place);
  if (!separators.empty() && separators.back() == next)
    fail("transform_layout", stage,
         "two axis separators stand side by side, with no index between them", where);
  separators.push_back(next);
}

/// An index of quotients, remainders and sums, computed in a type that holds all its values.
Expr in_width_of(DataType type, const Expr& index) {
  if (type.bits <= index.dtype().bits) return index;
  const tir::Binary* node = index.as<tir::Binary>();
  if (!node) return tir::cast(type, index);
  return tir::fold(node->op, in_width_of(type, node->a), in_width_of(type, node->b));
}

}  // namespace

Expr axis_separator() { return tir::make_string(std::string(kSeparator)); }

std::vector<IterVar> Stage::transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                             SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "transform_layout", where);
  const Compute* compute = stage.op.as<Compute>();
  if (!compute && !stage.op.as<Placeholder>())
    fail("transform_layout", stage,
         "only the layout of a compute or of a placeholder can be changed", where);
  if (stage.layout)
    fail("transform_layout", stage, "its layout has already been transformed", where);
  if (const StageData* scan = scan_of_state(*schedule_, index_))
    fail("transform_layout", stage,
         "it shares the memory of the state of scan `" + scan->origin_op.name() +
             "`, whose layout is fixed",
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
      add_separator(separators, forward.results.size(), stage, where);
    } else if (result.dtype().is_integral() && result.dtype().is_scalar()) {
      forward.results.push_back(std::move(result));
    } else {
      fail("transform_layout", stage, "an index must be an integer, is " + result.dtype().str(),
           where);
    }
  }
  std::optional<Bijection> bijection = invert(forward, shape);
  if (!bijection)
    fail(
        "transform_layout", stage,
        "the map is not seen to be a bijection: every index must come back from quotients, remainders and "
        "sums that "
        "divide the extents without rest",
        where);

  for (std::size_t n = 0; n < forward.results.size(); ++n)
    forward.results[n] = in_width_of(bijection->extents[n].dtype(), forward.results[n]);

  std::vector<IterVar> transformed;
  if (compute) {
    const int place = first_place(stage, where);
    const std::vector<IterVar> originals = [&] {
      std::vector<IterVar> axes;
      for (const IterVar& axis : compute->axis) {
        axes.push_back(require_leaf("transform_layout", stage, axis, where));
        check_not_tensorized("transform_layout", stage, axes.back(), where);
        check_keeps_its_meaning(stage, axis, axes.back(), where);
      }
      return axes;
    }();
    for (std::size_t n = 0; n < bijection->extents.size(); ++n) {
      const Range range = Range::from_min_extent(tir::make_int(bijection->extents[n].dtype(), 0),
                                                 bijection->extents[n]);
      transformed.emplace_back(range, bijection->inverse.params[n], IterKind::DataParallel);
    }
    const std::vector<IterVar> before = stage.leaf_iter_vars;
    std::erase_if(stage.leaf_iter_vars,
                  [&](const IterVar& axis) { return contains(originals, axis); });
    stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin() + place, transformed.begin(),
                                transformed.end());
    stage.all_iter_vars.insert(stage.all_iter_vars.end(), transformed.begin(), transformed.end());
    stage.relations.push_back(Transform{originals, transformed, forward, bijection->inverse});
    warn_of_lost_marks(*schedule_, "transform_layout", stage, before, where);
  }
  stage.layout = std::move(forward);
  stage.layout_where = where;
  stage.axis_separators = std::move(separators);
  return transformed;
}

}  // namespace tenon::te
