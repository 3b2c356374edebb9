#include "tenon/te/stage.h"

#include <algorithm>

#include "te/operations/declare.h"
#include "te/schedule/loop_order.h"
#include "te/schedule/stage_edit.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

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

void add_once(std::vector<IterVar>& axes, const IterVar& axis) {
  if (!contains(axes, axis)) axes.push_back(axis);
}

// ---- StageData ----------------------------------------------------------------------------------

StageData StageData::make(const Operation& op) {
  return StageData{StageSpec{.op = op,
                             .origin_op = op,
                             .all_iter_vars = op.root_iter_vars(),
                             .leaf_iter_vars = loops_of(op)}};
}

bool is_same_thread(const IterVar& a, const IterVar& b) {
  return a.same_as(b) || (*a.thread() == *b.thread() && !a.thread()->is_virtual());
}

const AxisAttributes* StageSpec::attributes_of(const IterVar& axis) const {
  for (const auto& [owner, attributes] : attributes)
    if (owner.same_as(axis)) return &attributes;
  return nullptr;
}

AxisAttributes& StageSpec::attributes_of_or_new(const IterVar& axis) {
  for (auto& [owner, attributes] : attributes)
    if (owner.same_as(axis)) return attributes;
  return attributes.emplace_back(axis, AxisAttributes{}).second;
}

std::string run_text(tir::ForKind kind) {
  if (kind == tir::ForKind::Unrolled) return "Unrolled";
  return kind == tir::ForKind::Vectorized ? "Vectorized" : "Parallelized";
}

bool StageSpec::has_default_loops() const {
  std::vector<IterVar> loops = loops_of(op);
  for (const Relation& relation : relations) {
    // Rebases do not count as changes, because normalize() and freeze() rebase every root axis to
    // 0.
    const Rebase* rebase = std::get_if<Rebase>(&relation);
    if (!rebase) return false;
    if (const std::optional<int> n = find_axis(loops, rebase->parent))
      loops[static_cast<std::size_t>(*n)] = rebase->rebased;
  }
  return attributes.empty() && std::ranges::equal(leaf_iter_vars, loops, &IterVar::same_as);
}

bool StageSpec::is_tensorized() const {
  return std::ranges::any_of(attributes,
                             [](const auto& entry) { return entry.second.tensorize.has_value(); });
}

bool StageSpec::rounds_up(const IterVar& axis) const {
  const AxisAttributes* known = attributes_of(axis);
  return known && known->rounds_up;
}

bool StageSpec::shifts_inwards(const IterVar& axis) const {
  const AxisAttributes* known = attributes_of(axis);
  return known && known->shifts_inwards;
}

const Range* StageSpec::bound_of(const IterVar& axis) const {
  const AxisAttributes* known = attributes_of(axis);
  return known && known->bound ? &*known->bound : nullptr;
}

const ThreadMark* StageSpec::thread_mark_of(const IterVar& axis) const {
  const AxisAttributes* known = attributes_of(axis);
  return known && known->thread ? &*known->thread : nullptr;
}

bool StageSpec::has_leaf(const IterVar& axis) const { return contains(leaf_iter_vars, axis); }
bool StageSpec::has_axis(const IterVar& axis) const { return contains(all_iter_vars, axis); }
std::optional<int> StageSpec::leaf_position(const IterVar& axis) const {
  return find_axis(leaf_iter_vars, axis);
}

const Relation* StageSpec::consumer_of(const IterVar& axis) const {
  for (const Relation& relation : relations)
    if (contains(parents_of(relation), axis)) return &relation;
  return nullptr;
}

// ---- queries ------------------------------------------------------------------------------------

std::variant<StageNumber, GroupNumber> Stage::target() const {
  if (is_group_) return GroupNumber(number_);
  return StageNumber(number_);
}
const StageData& Stage::data(SourceLocation where) const {
  if (is_group())
    throw ScheduleError(
        "`" + name() + "`, a group of stages, has no operation and no loops of its own", where);
  return schedule_->stage(std::get<StageNumber>(target()));
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

std::vector<Stage> Stage::readers() const {
  std::vector<Stage> result;
  for (StageNumber reader : schedule_->readers_by_age(StageNumber(number_)))
    result.push_back(Stage(schedule_, reader));
  return result;
}
std::optional<Stage> Stage::group() const {
  const std::optional<GroupNumber> outer = match(
      target(), [&](StageNumber stage) { return schedule_->stage(stage).group; },
      [&](GroupNumber group) { return schedule_->group(group).group; });
  return outer ? std::optional(Stage(schedule_, *outer)) : std::nullopt;
}
std::string Stage::name() const {
  return match(
      target(), [&](StageNumber stage) { return schedule_->stage(stage).op.name(); },
      [&](GroupNumber group) { return schedule_->group(group).name; });
}
bool Stage::same_as(const Stage& other) const {
  return schedule_ == other.schedule_ && target() == other.target();
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

void replace_leaf(StageData& stage, const IterVar& leaf, std::vector<IterVar> replacements) {
  auto at = stage.leaf_iter_vars.begin() + *stage.leaf_position(leaf);
  at = stage.leaf_iter_vars.erase(at);
  stage.leaf_iter_vars.insert(at, replacements.begin(), replacements.end());
  stage.all_iter_vars.insert(stage.all_iter_vars.end(), replacements.begin(), replacements.end());
}

/// Returns a positive integer in the axis's type. A non-constant value is checked at run time.
Expr checked_count(const StageEdit& edit, const IterVar& axis, const Operand& count,
                   const std::string& what) {
  const Expr given = count.alone();
  if (!is_integer_scalar(given.dtype()))
    edit.fail(axis, "the " + what + " must be an integer, got `" + tir::print_expr(given) +
                        "` of type " + given.dtype().str());
  check_known_at_call(edit, axis, given, "the " + what);
  const DataType type = axis.var().dtype();
  const std::optional<std::int64_t> value = tir::constant_int(given);
  if (!value) return tir::cast(type, tir::as_index(given));
  const bool is_above_int64 = *value < 0 && given.dtype().is_uint();
  if (*value <= 0 && !is_above_int64)
    edit.fail(axis, "the " + what + " must be positive, got " + std::to_string(*value));
  if (is_above_int64 || !fits(*value, type))
    edit.fail(axis, "the " + what + " `" + tir::print_expr(given) +
                        "` does not fit the axis' type " + type.str());
  return tir::make_int(type, *value);
}

void check_transformable(const StageEdit& edit, const IterVar& axis) {
  const IterKind kind = axis.kind();
  if (kind != IterKind::DataParallel && kind != IterKind::Reduce && kind != IterKind::Ordered)
    edit.fail(axis,
              "the axis is " + std::string(to_string(kind)) + " and cannot be split or fused");
  edit.check_not_tensorized(axis);
  if (const ThreadMark* bound = edit.stage().thread_mark_of(axis))
    edit.fail(axis,
              "it is already bound to `" + bound->axis.name() + "`: split and fuse before bind");
}

/// `count` is the number of parts if `by_parts` is true, otherwise the factor.
Stage::SplitAxes split_axis(const StageEdit& edit, const IterVar& given, const Operand& count,
                            bool by_parts) {
  const IterVar axis = edit.leaf(given);
  check_transformable(edit, axis);
  Expr size = checked_count(edit, axis, count, by_parts ? "number of parts" : "factor");
  const DataType type = type_of_split(edit, axis, size);
  IterVar outer(std::nullopt, Var(axis.name() + ".outer", type), axis.kind());
  IterVar inner(std::nullopt, Var(axis.name() + ".inner", type), axis.kind());
  replace_leaf(edit.stage(), axis, {outer, inner});
  edit.stage().relations.push_back(Split{axis, outer, inner, std::move(size), by_parts});
  return {outer, inner};
}

/// Checks that no loop advances to another element during a reduction across threads. Threads
/// reduce one element at a time.
void check_reduces_alone(const StageEdit& edit, const IterVar& data, const IterVar& reduction) {
  const StageData& stage = edit.stage();
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    const ThreadMark* bound = stage.thread_mark_of(leaf);
    if (leaf.kind() == IterKind::Reduce && bound)
      edit.fail(data, "with `" + reduction.name() +
                          "` it would run over elements of the output as well as over their "
                          "reduction, and threads reduce one element at a time: reduction axis "
                          "`" +
                          leaf.name() + "` is bound to `" + bound->axis.name() +
                          "`; fuse data axes and reduction axes separately, or leave `" +
                          leaf.name() + "` as a loop");
  }
}

/// Maximum length of a fused axis's name. Repeated splits and fusions double the names; beyond this
/// length only the name of the first axis is kept.
constexpr std::size_t kMaxFusedName = 128;

std::string fused_name(const std::string& outer, const std::string& inner) {
  std::string name = outer + "." + inner + ".fused";
  return name.size() <= kMaxFusedName ? name : outer.substr(0, outer.find('.')) + ".fused";
}

IterVar fuse_two(const StageEdit& edit, const IterVar& given_outer, const IterVar& given_inner) {
  StageData& stage = edit.stage();
  IterVar outer = edit.leaf(given_outer);
  IterVar inner = edit.leaf(given_inner);
  check_transformable(edit, outer);
  check_transformable(edit, inner);
  const std::string name = fused_name(outer.name(), inner.name());
  const int distance = *stage.leaf_position(inner) - *stage.leaf_position(outer);
  if (distance != 1 && distance != -1)
    edit.fail(outer, "it is not next to `" + inner.name() +
                         "`; only neighbouring loops can be fused, and the loops are " +
                         describe(stage.leaf_iter_vars) + " (reorder first)");
  if (distance == -1) std::swap(outer, inner);
  if (outer.kind() != inner.kind()) {
    if (inner.kind() == IterKind::Reduce && edit.runs_over_elements(outer))
      check_reduces_alone(edit, outer, inner);
    if (outer.kind() == IterKind::Reduce && edit.runs_over_elements(inner))
      check_reduces_alone(edit, inner, outer);
  }
  IterVar fused(std::nullopt, Var(name, type_of_fused(edit, outer, inner)),
                std::max(outer.kind(), inner.kind()));
  stage.leaf_iter_vars.erase(stage.leaf_iter_vars.begin() + *stage.leaf_position(inner));
  replace_leaf(stage, outer, {fused});
  stage.relations.push_back(Fuse{outer, inner, fused});
  check_ranges_are_known(edit, outer, stage.leaf_iter_vars);
  return fused;
}

// The kinds are ordered, so that a fused axis can take the more restricted kind of its parts.
static_assert(IterKind::DataParallel < IterKind::Reduce && IterKind::Reduce < IterKind::Ordered);

IterVar fuse_all(const StageEdit& edit, std::span<const IterVar> axes) {
  if (axes.empty()) {
    StageData& stage = edit.stage();
    IterVar singleton(Range(0, 1), Var("singleton"), IterKind::DataParallel);
    stage.relations.push_back(Singleton{singleton});
    stage.all_iter_vars.push_back(singleton);
    stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin(), singleton);
    return singleton;
  }
  IterVar fused = edit.leaf(axes.front());
  for (std::size_t n = 1; n < axes.size(); ++n) fused = fuse_two(edit, fused, axes[n]);
  return fused;
}

void reorder_axes(const StageEdit& edit, std::span<const IterVar> order) {
  StageData& stage = edit.stage();
  std::vector<IterVar> axes;
  std::vector<int> places;
  for (const IterVar& given : order) {
    const IterVar axis = edit.leaf(given);
    if (contains(axes, axis)) edit.fail(axis, "the axis is listed more than once");
    const IterKind kind = axis.kind();
    if (kind != IterKind::DataParallel && kind != IterKind::Reduce && kind != IterKind::ThreadIndex)
      edit.fail(axis,
                "the axis is " + std::string(to_string(kind)) + " and must stay in its place");
    axes.push_back(axis);
    places.push_back(*stage.leaf_position(axis));
  }
  if (axes.empty()) return;
  std::ranges::sort(places);
  std::vector<IterVar> loops = stage.leaf_iter_vars;
  for (std::size_t n = 0; n < axes.size(); ++n)
    loops[static_cast<std::size_t>(places[n])] = axes[n];
  check_ranges_are_known(edit, axes.front(), loops);
  check_reduction_order(edit, axes.front(), reduction_loops(stage, loops),
                        /*has_partial_results=*/false);
  stage.leaf_iter_vars = std::move(loops);
}

Stage::SplitAxes split_and_warn(const StageEdit& edit, const IterVar& axis, const Operand& count,
                                bool by_parts) {
  const std::vector<IterVar> before = edit.stage().leaf_iter_vars;
  const Stage::SplitAxes axes = split_axis(edit, axis, count, by_parts);
  edit.warn_of_lost_marks(before);
  return axes;
}

/// Applies several steps to a copy of the stage, which then replaces the stage, and warns of marks
/// on removed loops.
template <class Steps>
auto edit_loops(const StageEdit& edit, Steps steps) {
  StageData changed = edit.stage();
  auto result = steps(edit.on(changed));
  const std::vector<IterVar> before = edit.stage().leaf_iter_vars;
  edit.stage() = std::move(changed);
  edit.warn_of_lost_marks(before);
  return result;
}

}  // namespace

Stage::SplitAxes Stage::split(const IterVar& axis, const Operand& factor,
                              SourceLocation where) const {
  return split_and_warn(StageEdit(*this, "split", where), axis, factor, /*by_parts=*/false);
}

Stage::SplitAxes Stage::split_by_nparts(const IterVar& axis, const Operand& nparts,
                                        SourceLocation where) const {
  return split_and_warn(StageEdit(*this, "split_by_nparts", where), axis, nparts,
                        /*by_parts=*/true);
}

IterVar Stage::fuse(const std::vector<IterVar>& axes, SourceLocation where) const {
  return edit_loops(StageEdit(*this, "fuse", where),
                    [&](const StageEdit& edit) { return fuse_all(edit, axes); });
}
IterVar Stage::fuse(std::initializer_list<IterVar> axes, SourceLocation where) const {
  return fuse(std::vector<IterVar>(axes), where);
}
IterVar Stage::fuse(const IterVar& outer, const IterVar& inner, SourceLocation where) const {
  return fuse(std::vector<IterVar>{outer, inner}, where);
}

Stage::TileAxes Stage::tile(const IterVar& x, const IterVar& y, const Operand& x_factor,
                            const Operand& y_factor, SourceLocation where) const {
  return edit_loops(StageEdit(*this, "tile", where), [&](const StageEdit& edit) {
    auto [x_outer, x_inner] = split_axis(edit, x, x_factor, /*by_parts=*/false);
    auto [y_outer, y_inner] = split_axis(edit, y, y_factor, /*by_parts=*/false);
    reorder_axes(edit, std::vector{x_outer, y_outer, x_inner, y_inner});
    return TileAxes{x_outer, y_outer, x_inner, y_inner};
  });
}

Stage Stage::reorder(const std::vector<IterVar>& order, SourceLocation where) const {
  reorder_axes(StageEdit(*this, "reorder", where), order);
  return *this;
}
Stage Stage::reorder(std::initializer_list<IterVar> order, SourceLocation where) const {
  return reorder(std::vector<IterVar>(order), where);
}

}  // namespace tenon::te
