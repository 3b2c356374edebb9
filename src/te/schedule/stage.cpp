#include "tenon/te/stage.h"

#include <algorithm>

#include "te/schedule/extent_limits.h"
#include "te/schedule/operand_checks.h"
#include "te/schedule/warnings.h"
#include "tenon/tir/print.h"

namespace tenon::te {

// ---- lists of axes ------------------------------------------------------------------------------

std::optional<int> find_axis(std::span<const IterVar> axes, const IterVar& axis) {
  for (std::size_t n = 0; n < axes.size(); ++n)
    if (axes[n].same_as(axis)) return static_cast<int>(n);
  return std::nullopt;
}

bool contains(std::span<const IterVar> axes, const IterVar& axis) {
  return find_axis(axes, axis).has_value();
}

// ---- StageData ----------------------------------------------------------------------------------

StageData StageData::make(const Operation& op) {
  return StageData{.op = op,
                   .origin_op = op,
                   .all_iter_vars = op.root_iter_vars(),
                   .leaf_iter_vars = loops_of(op),
                   .relations = {},
                   .attributes = {},
                   .env_threads = {}};
}

const AxisAttributes* StageData::attributes_of(const IterVar& axis) const {
  for (const auto& [owner, attributes] : attributes)
    if (owner.same_as(axis)) return &attributes;
  return nullptr;
}

AxisAttributes& StageData::attributes_of_or_new(const IterVar& axis) {
  for (auto& [owner, attributes] : attributes)
    if (owner.same_as(axis)) return attributes;
  return attributes.emplace_back(axis, AxisAttributes{}).second;
}

bool StageData::has_leaf(const IterVar& axis) const { return contains(leaf_iter_vars, axis); }
bool StageData::has_axis(const IterVar& axis) const { return contains(all_iter_vars, axis); }
std::optional<int> StageData::leaf_position(const IterVar& axis) const {
  return find_axis(leaf_iter_vars, axis);
}

const Relation* StageData::consumer_of(const IterVar& axis) const {
  for (const Relation& relation : relations)
    if (contains(parents_of(relation), axis)) return &relation;
  return nullptr;
}

// ---- questions ----------------------------------------------------------------------------------

const StageData& Stage::data(SourceLocation where) const {
  if (is_group_)
    throw ScheduleError(
        "`" + name() + "`, a group of stages, has no operation and no loops of its own", where);
  return schedule_->stage(index_);
}
Operation Stage::op(SourceLocation where) const { return data(where).op; }
Operation Stage::origin_op(SourceLocation where) const { return data(where).origin_op; }
IterVar Stage::axis(int n, SourceLocation where) const { return data(where).op.axis(n, where); }
IterVar Stage::reduce_axis(int n, SourceLocation where) const {
  return data(where).op.reduce_axis(n, where);
}
IterVar Stage::scan_axis(SourceLocation where) const { return data(where).op.scan_axis(where); }
const std::vector<IterVar>& Stage::leaf_iter_vars(SourceLocation where) const {
  return data(where).leaf_iter_vars;
}
const std::vector<IterVar>& Stage::all_iter_vars(SourceLocation where) const {
  return data(where).all_iter_vars;
}
const std::vector<Relation>& Stage::relations(SourceLocation where) const {
  return data(where).relations;
}

std::optional<Stage> Stage::group() const {
  const std::optional<int> group = is_group_
                                       ? schedule_->groups[static_cast<std::size_t>(index_)].group
                                       : schedule_->stage(index_).group;
  return group ? std::optional(Stage(schedule_, *group, true)) : std::nullopt;
}
std::string Stage::name() const {
  return is_group_ ? schedule_->groups[static_cast<std::size_t>(index_)].name : data().op.name();
}
bool Stage::same_as(const Stage& other) const {
  return schedule_ == other.schedule_ && index_ == other.index_ && is_group_ == other.is_group_;
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

void replace_leaf(StageData& stage, const IterVar& leaf, std::vector<IterVar> replacements) {
  auto at = stage.leaf_iter_vars.begin() + *stage.leaf_position(leaf);
  at = stage.leaf_iter_vars.erase(at);
  stage.leaf_iter_vars.insert(at, replacements.begin(), replacements.end());
  stage.all_iter_vars.insert(stage.all_iter_vars.end(), replacements.begin(), replacements.end());
}

/// A positive integer in the axis' type; what is not constant is checked when the function is
/// called.
Expr checked_count(std::string_view primitive, const ScheduleData& schedule, const StageData& stage,
                   const IterVar& axis, const Operand& count, const std::string& what,
                   const SourceLocation& where) {
  const Expr given = count.alone();
  if (!given.dtype().is_integral() || !given.dtype().is_scalar() || given.dtype().is_bool())
    fail(primitive, stage, axis,
         "the " + what + " must be an integer, got `" + tir::print_expr(given) + "` of type " +
             given.dtype().str(),
         where);
  check_known_at_call(primitive, schedule, stage, axis, given, "the " + what, where);
  const DataType type = axis.var().dtype();
  const std::optional<std::int64_t> value = tir::constant_int(given);
  if (!value) return tir::cast(type, given);
  const bool is_above_int64 = *value < 0 && given.dtype().is_uint();
  if (*value <= 0 && !is_above_int64)
    fail(primitive, stage, axis, "the " + what + " must be positive, got " + std::to_string(*value),
         where);
  if (is_above_int64 || !fits(*value, type))
    fail(primitive, stage, axis,
         "the " + what + " `" + tir::print_expr(given) + "` does not fit the axis' type " +
             type.str(),
         where);
  return tir::make_int(type, *value);
}

bool can_be_split_or_fused(IterKind kind) {
  return kind == IterKind::DataParallel || kind == IterKind::Reduce || kind == IterKind::Ordered;
}

void check_transformable(std::string_view primitive, const StageData& stage, const IterVar& axis,
                         const SourceLocation& where) {
  if (!can_be_split_or_fused(axis.kind()))
    fail(primitive, stage, axis,
         "the axis is " + std::string(to_string(axis.kind())) + " and cannot be split or fused",
         where);
  check_not_tensorized(primitive, stage, axis, where);
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (attributes && attributes->thread)
    fail(primitive, stage, axis,
         "it is already bound to `" + attributes->thread->name() + "`: split and fuse before bind",
         where);
}

Stage::SplitAxes split_axis(std::string_view primitive, const ScheduleData& schedule,
                            StageData& stage, const IterVar& given, const Operand& count,
                            bool by_parts, const SourceLocation& where) {
  const IterVar axis = require_leaf(primitive, stage, given, where);
  check_transformable(primitive, stage, axis, where);
  Expr size = checked_count(primitive, schedule, stage, axis, count,
                            by_parts ? "number of parts" : "factor", where);
  const DataType type = type_of_split(stage, axis, size, where);
  IterVar outer(std::nullopt, Var(axis.name() + ".outer", type), axis.kind());
  IterVar inner(std::nullopt, Var(axis.name() + ".inner", type), axis.kind());
  replace_leaf(stage, axis, {outer, inner});
  if (by_parts) {
    stage.relations.push_back(Split{axis, outer, inner, Split::ByParts{std::move(size)}});
  } else {
    stage.relations.push_back(Split{axis, outer, inner, Split::ByFactor{std::move(size)}});
  }
  return {outer, inner};
}

IterVar fuse_two(StageData& stage, const IterVar& given_outer, const IterVar& given_inner,
                 const SourceLocation& where) {
  IterVar outer = require_leaf("fuse", stage, given_outer, where);
  IterVar inner = require_leaf("fuse", stage, given_inner, where);
  check_transformable("fuse", stage, outer, where);
  check_transformable("fuse", stage, inner, where);
  const std::string name = outer.name() + "." + inner.name() + ".fused";
  const int distance = *stage.leaf_position(inner) - *stage.leaf_position(outer);
  if (distance != 1 && distance != -1)
    fail("fuse", stage, outer,
         "it is not next to `" + inner.name() +
             "`; only neighbouring loops can be fused, and the loops are " +
             describe(stage.leaf_iter_vars) + " (reorder first)",
         where);
  if (distance == -1) std::swap(outer, inner);
  IterVar fused(std::nullopt, Var(name, type_of_fused(stage, outer, inner, where)),
                std::max(outer.kind(), inner.kind()));
  stage.leaf_iter_vars.erase(stage.leaf_iter_vars.begin() + *stage.leaf_position(inner));
  replace_leaf(stage, outer, {fused});
  stage.relations.push_back(Fuse{outer, inner, fused});
  return fused;
}

// The kinds stand in this order, so that a fused axis is the more restricted of its two parts.
static_assert(IterKind::DataParallel < IterKind::Reduce && IterKind::Reduce < IterKind::Ordered);

IterVar fuse_all(StageData& stage, std::span<const IterVar> axes, const SourceLocation& where) {
  if (axes.empty()) {
    IterVar singleton(Range(0, 1), Var("singleton"), IterKind::DataParallel);
    stage.relations.push_back(Singleton{singleton});
    stage.all_iter_vars.push_back(singleton);
    stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin(), singleton);
    return singleton;
  }
  StageData changed = stage;
  IterVar fused = require_leaf("fuse", changed, axes.front(), where);
  for (std::size_t n = 1; n < axes.size(); ++n) fused = fuse_two(changed, fused, axes[n], where);
  stage = std::move(changed);
  return fused;
}

void reorder_axes(StageData& stage, std::span<const IterVar> order, const SourceLocation& where) {
  std::vector<IterVar> axes;
  std::vector<int> places;
  for (const IterVar& given : order) {
    const IterVar axis = require_leaf("reorder", stage, given, where);
    if (contains(axes, axis))
      fail("reorder", stage, axis, "the axis is listed more than once", where);
    const IterKind kind = axis.kind();
    if (kind != IterKind::DataParallel && kind != IterKind::Reduce && kind != IterKind::ThreadIndex)
      fail("reorder", stage, axis,
           "the axis is " + std::string(to_string(kind)) + " and must stay in its place", where);
    axes.push_back(axis);
    places.push_back(*stage.leaf_position(axis));
  }
  std::sort(places.begin(), places.end());
  for (std::size_t n = 0; n < axes.size(); ++n)
    stage.leaf_iter_vars[static_cast<std::size_t>(places[n])] = axes[n];
}

}  // namespace

Stage::SplitAxes Stage::split(const IterVar& axis, const Operand& factor,
                              SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "split", where);
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  const SplitAxes axes = split_axis("split", *schedule_, stage, axis, factor, false, where);
  warn_of_lost_marks(*schedule_, "split", stage, before, where);
  return axes;
}

Stage::SplitAxes Stage::split_by_nparts(const IterVar& axis, const Operand& nparts,
                                        SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "split_by_nparts", where);
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  const SplitAxes axes =
      split_axis("split_by_nparts", *schedule_, stage, axis, nparts, true, where);
  warn_of_lost_marks(*schedule_, "split_by_nparts", stage, before, where);
  return axes;
}

IterVar Stage::fuse(const std::vector<IterVar>& axes, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "fuse", where);
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  const IterVar fused = fuse_all(stage, axes, where);
  warn_of_lost_marks(*schedule_, "fuse", stage, before, where);
  return fused;
}
IterVar Stage::fuse(std::initializer_list<IterVar> axes, SourceLocation where) const {
  return fuse(std::vector<IterVar>(axes), where);
}
IterVar Stage::fuse(const IterVar& outer, const IterVar& inner, SourceLocation where) const {
  return fuse(std::vector<IterVar>{outer, inner}, where);
}

Stage::TileAxes Stage::tile(const IterVar& x, const IterVar& y, const Operand& x_factor,
                            const Operand& y_factor, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "tile", where);
  StageData changed = stage;
  auto [x_outer, x_inner] = split_axis("tile", *schedule_, changed, x, x_factor, false, where);
  auto [y_outer, y_inner] = split_axis("tile", *schedule_, changed, y, y_factor, false, where);
  reorder_axes(changed, std::vector{x_outer, y_outer, x_inner, y_inner}, where);
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  stage = std::move(changed);
  warn_of_lost_marks(*schedule_, "tile", stage, before, where);
  return {x_outer, y_outer, x_inner, y_inner};
}

Stage Stage::reorder(const std::vector<IterVar>& order, SourceLocation where) const {
  reorder_axes(require_stage(*schedule_, index_, is_group_, "reorder", where), order, where);
  return *this;
}
Stage Stage::reorder(std::initializer_list<IterVar> order, SourceLocation where) const {
  return reorder(std::vector<IterVar>(order), where);
}

}  // namespace tenon::te
