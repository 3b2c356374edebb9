#include "tests/fuzz/schedule_step.h"

namespace tenon::fuzz {

namespace {

std::string list_of(const std::vector<te::IterVar>& axes) {
  std::string names;
  for (const te::IterVar& axis : axes) names += (names.empty() ? "" : ", ") + axis.name();
  return "{" + names + "}";
}

std::string text_of(const tir::Operand& number) {
  const std::optional<std::int64_t> constant = tir::constant_int(number.alone());
  return constant ? std::to_string(*constant) : "n";
}

/// The axes last, in this order.
void move_inside(const NotedStage& stage, const std::vector<te::IterVar>& inside) {
  std::vector<te::IterVar> order = stage.leaf_iter_vars();
  std::erase_if(order, [&](const te::IterVar& leaf) { return te::contains(inside, leaf); });
  order.insert(order.end(), inside.begin(), inside.end());
  stage.reorder(order);
}

}  // namespace

std::string ScheduleStep::split(const NotedStage& stage) {
  const te::IterVar axis = leaf(stage);
  const tir::Operand by = symbolic_or(factor());
  const std::string text = "(" + axis.name() + ", " + text_of(by) + ")";
  if (random_.one_in(3)) {
    stage.split_by_nparts(axis, by);
    return "split_by_nparts" + text;
  }
  stage.split(axis, by);
  return "split" + text;
}

std::string ScheduleStep::tile(const NotedStage& stage) {
  if (stage.leaf_iter_vars().size() < 2) return "";
  const te::IterVar x = leaf(stage), y = leaf(stage);
  const tir::Operand xf = random_.between(1, 6), yf = symbolic_or(factor());
  if (x.same_as(y)) return "";
  stage.tile(x, y, xf, yf);
  return "tile(" + x.name() + ", " + y.name() + ", " + text_of(xf) + ", " + text_of(yf) + ")";
}

/// Splits the fused axis of the round before, exchanges its parts and fuses them again.
std::string ScheduleStep::rounds(const NotedStage& stage) {
  te::IterVar axis = leaf(stage);
  const std::string name = axis.name();
  const int rounds = random_.between(2, 5);
  schedule_.note_together("rounds of split and fuse");
  for (int n = 0; n < rounds; ++n) {
    const auto [outer, inner] = stage.split(axis, random_.between(2, 5));
    const bool exchanges = random_.one_in(2);
    if (exchanges) stage.reorder({inner, outer});
    axis = exchanges ? stage.fuse(inner, outer) : stage.fuse(outer, inner);
  }
  return std::to_string(rounds) + " rounds of split and fuse of " + name;
}

std::string ScheduleStep::fuse(const NotedStage& stage) {
  const auto& axes = stage.leaf_iter_vars();
  if (random_.one_in(12)) {
    std::vector<te::IterVar> few;
    if (random_.one_in(2)) few.push_back(leaf(stage));
    return "fuse(" + list_of(few) + ") to " + stage.fuse(few).name();
  }
  if (axes.size() < 2) return "";
  const auto n = static_cast<std::size_t>(random_.between(0, static_cast<int>(axes.size()) - 2));
  std::vector<te::IterVar> fused = {axes[n], axes[n + 1]};
  if (n + 2 < axes.size() && random_.one_in(4)) fused.push_back(axes[n + 2]);
  stage.fuse(fused);
  return "fuse(" + list_of(fused) + ")";
}

std::string ScheduleStep::reorder(const NotedStage& stage) {
  std::vector<te::IterVar> order = stage.leaf_iter_vars();
  random_.shuffle(order);
  if (order.size() > 2 && random_.one_in(3)) order.erase(order.begin() + 2, order.end());
  stage.reorder(order);
  return "reorder(" + list_of(order) + ")";
}

std::string ScheduleStep::vectorize(const NotedStage& stage) {
  if (stage.leaf_iter_vars().empty()) return "";
  const te::IterVar axis = stage.leaf_iter_vars().back();
  stage.vectorize(axis);
  return "vectorize(" + axis.name() + ")";
}

std::string ScheduleStep::split_and_vectorize(const NotedStage& stage) {
  const te::IterVar axis = leaf(stage);
  const int lanes = 1 << random_.between(1, 4);
  const te::IterVar inner = stage.split(axis, lanes).inner;
  move_inside(stage, {inner});
  stage.vectorize(inner);
  return "split(" + axis.name() + ", " + std::to_string(lanes) + "), inner last and vectorized";
}

/// Reductions outside, one axis of data, or a part of one, inside.
std::string ScheduleStep::data_innermost_vectorized(const NotedStage& stage) {
  const std::vector<te::IterVar> data = leaves(stage, tir::IterKind::DataParallel);
  if (data.empty()) return "";
  te::IterVar axis = random_.pick(data);
  std::string text = "reorder(..., " + axis.name() + "), vectorize it";
  if (random_.one_in(2)) {
    const int lanes = random_.one_in(3) ? factor() : 16;
    text = "split(" + axis.name() + ", " + std::to_string(lanes) + "), inner last and vectorized";
    axis = stage.split(axis, lanes).inner;
  }
  move_inside(stage, {axis});
  stage.vectorize(axis);
  return text;
}

/// Part of a reduction beside part of the data, and both one loop.
std::string ScheduleStep::fuse_reduction_with_data(const NotedStage& stage) {
  const std::vector<te::IterVar> data = leaves(stage, tir::IterKind::DataParallel),
                                 reduced = leaves(stage, tir::IterKind::Reduce);
  if (data.empty() || reduced.empty()) return "";
  const te::IterVar i = random_.pick(data), k = random_.pick(reduced);
  const int fi = factor(), fk = random_.between(1, 4);
  const auto [io, ii] = stage.split(i, fi);
  const auto [ko, ki] = random_.one_in(2) ? stage.split_by_nparts(k, fk) : stage.split(k, fk);
  const bool outer_first = random_.one_in(2);
  std::vector<te::IterVar> order = outer_first ? std::vector<te::IterVar>{io, ki, ko, ii}
                                               : std::vector<te::IterVar>{io, ko, ii, ki};
  move_inside(stage, order);
  stage.fuse(order[2], order[3]);
  return "split(" + i.name() + ", " + std::to_string(fi) + "), split(" + k.name() + ", " +
         std::to_string(fk) + "), reorder(" + list_of(order) + "), fuse the last two";
}

std::string ScheduleStep::unroll(const NotedStage& stage) {
  const te::IterVar axis = leaf(stage);
  // topi::schedule splits by thousands, of which copies take minutes to compile.
  for (const te::Relation& relation : stage.data().relations) {
    const auto* split = std::get_if<te::Split>(&relation);
    if (split && split->counted().same_as(axis) && tir::constant_int(split->count).value_or(0) > 64)
      return "";
  }
  stage.unroll(axis);
  return "unroll(" + axis.name() + ")";
}

std::string ScheduleStep::parallel(const NotedStage& stage) {
  const std::vector<te::IterVar> data = leaves(stage, tir::IterKind::DataParallel);
  if (data.empty()) return "";
  if (random_.one_in(4)) return parallel_region(stage, random_.pick(data));
  const te::IterVar axis = random_.one_in(20)  ? leaf(stage)
                           : random_.one_in(2) ? data.front()
                                               : random_.pick(data);
  stage.parallel(axis);
  return "parallel(" + axis.name() + ")";
}

/// Tasks that start once, around all loops, and share one of them.
std::string ScheduleStep::parallel_region(const NotedStage& stage, const te::IterVar& axis) {
  const int launches = random_.one_in(3) ? factor() : 1;
  const auto [region, shared] = stage.split_by_nparts(axis, launches);
  std::vector<te::IterVar> order = {region, shared};
  for (const te::IterVar& leaf : stage.leaf_iter_vars())
    if (!te::contains(order, leaf)) order.push_back(leaf);
  stage.reorder(order);
  stage.pragma(region, "parallel_launch_point", 1).parallel(shared);
  std::string text = "split_by_nparts(" + axis.name() + ", " + std::to_string(launches) +
                     "), both parts first, the inner one shared by tasks";
  for (const char* key : {"parallel_stride_pattern", "parallel_barrier_when_finish"}) {
    if (!random_.one_in(3)) continue;
    stage.pragma(shared, key, 1);
    text += std::string(", ") + key;
  }
  return text;
}

/// For the conditions that the body itself has, which a loop is split at only if asked. Mostly of a
/// reduction, where an iteration that runs twice counts twice.
std::string ScheduleStep::partition_hint(const NotedStage& stage) {
  const std::vector<te::IterVar> reduced = leaves(stage, tir::IterKind::Reduce);
  const te::IterVar axis =
      reduced.empty() || random_.one_in(3) ? leaf(stage) : random_.pick(reduced);
  stage.pragma(axis, "loop_partition_hint", 1);
  return "pragma(" + axis.name() + ", loop_partition_hint, 1)";
}

std::string ScheduleStep::pragma(const NotedStage& stage) {
  const te::IterVar axis = leaf(stage);
  static const std::vector<std::pair<const char*, int>> kPragmas = {
      {"auto_unroll_max_step", 8},
      {"unroll_explicit", 0},
      {"loop_partition_hint", 1},
      {"parallel_launch_point", 1},
      {"parallel_stride_pattern", 1},
      {"parallel_barrier_when_finish", 1},
      {"blocks_per_multiprocessor", 2},
      {"stream_stores", 1},
      {"prefetch_panels", 1},
      {"unroll", 1},
      {"vectorize", 1},
      {"no_such_key", 1}};
  if (random_.one_in(12)) {
    stage.pragma(axis, "import_c", "int tenon_fuzz_unused(void) { return 1; }");
    return "pragma(" + axis.name() + ", import_c)";
  }
  if (options_.is_inexact && random_.one_in(4)) {
    stage.pragma(axis, "allow_reciprocals", 1);
    return "pragma(" + axis.name() + ", allow_reciprocals, 1)";
  }
  const auto& [key, number] = random_.pick(kPragmas);
  stage.pragma(axis, key, number);
  return "pragma(" + axis.name() + ", " + key + ", " + std::to_string(number) + ")";
}

}  // namespace tenon::fuzz
