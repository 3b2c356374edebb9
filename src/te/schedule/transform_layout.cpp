// transform_layout: changes the order of elements in memory, and the loops accordingly.
#include <algorithm>

#include "te/relations/index_digits.h"
#include "te/schedule/stage_edit.h"
#include "tenon/te/stage.h"
#include "tenon/tir/ops.h"

namespace tenon::te {

namespace {

constexpr std::string_view kSeparator = "axis_separator";

bool is_separator(const Expr& e) {
  const tir::StringImm* text = e.as<tir::StringImm>();
  return text && text->value == kSeparator;
}

/// Returns the position of the loops over the data axes, which must be adjacent but may be in any
/// order.
int first_place(const StageEdit& edit) {
  const StageData& stage = edit.stage();
  std::vector<int> places;
  for (const IterVar& axis : stage.op.axis())
    places.push_back(*stage.leaf_position(edit.leaf(axis)));
  std::sort(places.begin(), places.end());
  if (!places.empty() && places.back() - places.front() + 1 != static_cast<int>(places.size()))
    edit.fail("the loops over its dimensions are not adjacent; the loops are " +
              describe(stage.leaf_iter_vars) + " (transform before reorder)");
  return places.empty() ? 0 : places.front();
}

/// Rejects axes that are bound to a thread or have aligned storage: neither mark has a meaning in
/// the new layout.
void check_keeps_its_meaning(const StageEdit& edit, const IterVar& dimension, const IterVar& loop) {
  if (const ThreadMark* bound = edit.stage().thread_mark_of(loop))
    edit.fail(loop, "it is already bound to `" + bound->axis.name() + "`: transform before bind");
  const AxisAttributes* of_dimension = edit.stage().attributes_of(dimension);
  if (of_dimension && of_dimension->align)
    edit.fail(
        dimension,
        "its storage is already aligned: transform first, then align an axis of the new layout");
}

struct MapResults {
  std::vector<Expr> indices;
  /// The positions of the results at which a physical dimension begins.
  std::vector<int> separators;
};

MapResults checked_results(const StageEdit& edit, std::vector<Expr> given) {
  MapResults results;
  for (Expr& result : given) {
    if (is_separator(result)) {
      const int next = static_cast<int>(results.indices.size());
      if (!results.separators.empty() && results.separators.back() == next)
        edit.fail("two axis separators stand side by side, with no index between them");
      results.separators.push_back(next);
    } else if (result.dtype().is_integral() && result.dtype().is_scalar()) {
      results.indices.push_back(std::move(result));
    } else {
      edit.fail("an index must be an integer, is " + result.dtype().str());
    }
  }
  return results;
}

/// Replaces the loops of a compute by those over the new layout.
std::vector<IterVar> follow_layout(const StageEdit& edit, const Compute& compute,
                                   const Transform::Map& forward, const Bijection& bijection,
                                   bool pads) {
  StageData& stage = edit.stage();
  const int place = first_place(edit);
  std::vector<IterVar> originals, transformed;
  for (const IterVar& axis : compute.axis) {
    originals.push_back(edit.leaf(axis));
    edit.check_not_tensorized(originals.back());
    check_keeps_its_meaning(edit, axis, originals.back());
  }
  for (std::size_t n = 0; n < bijection.extents.size(); ++n) {
    const Expr& extent = bijection.extents[n];
    transformed.emplace_back(Range::from_min_extent(tir::make_int(extent.dtype(), 0), extent),
                             bijection.inverse.params[n], IterKind::DataParallel);
  }
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  std::erase_if(stage.leaf_iter_vars,
                [&](const IterVar& axis) { return contains(originals, axis); });
  stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin() + place, transformed.begin(),
                              transformed.end());
  stage.all_iter_vars.insert(stage.all_iter_vars.end(), transformed.begin(), transformed.end());
  stage.relations.push_back(Transform{originals, transformed, forward, bijection.inverse, pads});
  edit.warn_of_lost_marks(before);
  return transformed;
}

/// Returns an index of quotients, remainders and sums, computed in a type that can represent all
/// its values.
Expr in_width_of(DataType type, const Expr& index) {
  if (type.bits <= index.dtype().bits) return index;
  const tir::Binary* node = index.as<tir::Binary>();
  if (!node) return tir::cast(type, index);
  return tir::fold(node->op, in_width_of(type, node->a), in_width_of(type, node->b));
}

std::string why_no_bijection(const Transform::Map& forward, const std::vector<Expr>& shape) {
  if (const std::optional<Undivided> found = find_undivided(forward, shape))
    return "it divides index `" + forward.params[found->index].name() + "`, of extent " +
           std::to_string(found->extent) + ", by " + std::to_string(found->by) +
           ", which leaves a rest";
  return "every index must come back from quotients, remainders and sums that divide the extents "
         "without rest";
}

}  // namespace

Expr axis_separator() { return tir::make_string(std::string(kSeparator)); }

std::vector<IterVar> Stage::transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                             SourceLocation where) const {
  return transform_layout(map, {}, where);
}

std::vector<IterVar> Stage::transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                             LayoutOptions options, SourceLocation where) const {
  const StageEdit edit(*this, "transform_layout", where);
  StageData& stage = edit.stage();
  const Compute* compute = stage.op.as<Compute>();
  if (!compute && !stage.op.as<Placeholder>())
    edit.fail("only the layout of a compute or of a placeholder can be changed");
  if (stage.layout) edit.fail("its layout has already been transformed");
  if (const StageData* scan = schedule_->scan_of_state(edit.number()))
    edit.fail("it shares the memory of the state of scan `" + scan->origin_op.name() +
              "`, whose layout is fixed");
  const std::vector<Expr> shape = stage.op.output(0).shape();
  if (!map.takes(shape.size()))
    edit.fail("the map takes " + std::to_string(*map.arity()) + " indices, the output has " +
              std::to_string(shape.size()) + " dimensions");

  Transform::Map forward;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    const std::string name = compute ? compute->axis[n].name() : "i" + std::to_string(n);
    forward.params.emplace_back(name, shape[n].dtype());
  }
  MapResults results = checked_results(edit, map(forward.params));
  forward.results = std::move(results.indices);
  std::optional<Bijection> bijection = invert(forward, shape);
  const bool pads = !bijection;
  if (pads) bijection = invert_padded(forward, shape);
  if (!bijection || (pads && !options.pad))
    edit.fail("the map is not provably a bijection: " + why_no_bijection(forward, shape) +
              (bijection ? "; with {.pad = true} the last of the parts need not be full" : ""));

  for (std::size_t n = 0; n < forward.results.size(); ++n)
    forward.results[n] = in_width_of(bijection->extents[n].dtype(), forward.results[n]);

  std::vector<IterVar> transformed;
  if (compute) transformed = follow_layout(edit, *compute, forward, *bijection, pads);
  stage.layout = std::move(forward);
  stage.layout_where = where;
  stage.axis_separators = std::move(results.separators);
  return transformed;
}

}  // namespace tenon::te
