#include "te/schedule/extent_limits.h"

#include <limits>

#include "te/operations/count.h"
#include "tenon/support/match.h"
#include "tenon/te/axis_map.h"

namespace tenon::te {

namespace {

Count constant_extent(const IterVar& axis) {
  return axis.dom() ? tir::constant_int(axis.dom()->extent) : std::nullopt;
}

Count rounded_up_quotient(const Count& a, const Count& b) {
  if (!a || !b || *b <= 0) return std::nullopt;
  return *a / *b + (*a % *b > 0 ? 1 : 0);
}

/// Goes through the relations from the roots, and keeps what leads to the axis asked for.
class Limits {
 public:
  explicit Limits(const StageSpec& stage) : stage_(stage) {}

  Count of(const IterVar& axis) {
    AxisMap<bool> wanted;
    wanted.set(axis, true);
    for (auto relation = stage_.relations.rbegin(); relation != stage_.relations.rend();
         ++relation) {
      for (const IterVar& child : children_of(*relation))
        if (wanted.value_or(child, false))
          for (const IterVar& parent : parents_of(*relation)) wanted.set(parent, true);
    }
    for (const Relation& relation : stage_.relations) {
      bool leads_there = false;
      for (const IterVar& parent : parents_of(relation))
        leads_there = leads_there || wanted.value_or(parent, false);
      if (leads_there) match(relation, [&](const auto& r) { pass(r); });
    }
    return known(axis);
  }

 private:
  Count known(const IterVar& axis) const {
    const Count* limit = limits_.find(axis);
    return limit ? *limit : constant_extent(axis);
  }

  void pass(const Split& split) {
    const Count parent = known(split.parent);
    match(
        split.size,
        [&](const Split::ByFactor& by) {
          const Count factor = tir::constant_int(by.factor);
          limits_.set(split.inner, factor);
          limits_.set(split.outer, rounded_up_quotient(parent, factor));
        },
        [&](const Split::ByParts& by) {
          const Count parts = tir::constant_int(by.parts);
          limits_.set(split.outer, parts);
          limits_.set(split.inner, rounded_up_quotient(parent, parts));
        });
  }
  void pass(const Fuse& fuse) {
    limits_.set(fuse.fused, product(known(fuse.outer), known(fuse.inner)));
  }
  void pass(const Rebase& rebase) { limits_.set(rebase.rebased, known(rebase.parent)); }
  void pass(const Singleton&) {}
  void pass(const Transform&) {}

  const StageSpec& stage_;
  AxisMap<Count> limits_;
};

DataType widened(DataType type, std::int64_t extent) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return type.bits < 64 && extent > kMax ? Int(64) : type;
}

}  // namespace

std::optional<std::int64_t> greatest_extent(const StageSpec& stage, const IterVar& axis) {
  return Limits(stage).of(axis);
}

DataType type_of_fused(const StageEdit& edit, const IterVar& outer, const IterVar& inner) {
  const DataType a = outer.var().dtype(), b = inner.var().dtype();
  const DataType type = a.bits >= b.bits ? a : b;
  const Count rows = greatest_extent(edit.stage(), outer),
              columns = greatest_extent(edit.stage(), inner);
  if (!rows || !columns) return type;
  const Count extent = product(rows, columns);
  if (!extent)
    edit.fail(outer, "the fusion with `" + inner.name() + "` would have " + std::to_string(*rows) +
                         " * " + std::to_string(*columns) +
                         " iterations, more than a loop can count (2^63 - 1)");
  return widened(type, *extent);
}

DataType type_of_split(const StageEdit& edit, const IterVar& parent, const Expr& count) {
  const DataType type = parent.var().dtype();
  const Count extent = greatest_extent(edit.stage(), parent), size = tir::constant_int(count);
  if (!extent || !size) return type;
  const Count reached = product(rounded_up_quotient(extent, size), size);
  if (!reached)
    edit.fail(parent, "rounded up to a multiple of " + std::to_string(*size) + ", its " +
                          std::to_string(*extent) +
                          " iterations are more than a loop can count (2^63 - 1)");
  return widened(type, *reached);
}

}  // namespace tenon::te
