#include "tests/fuzz/schedule_step.h"

#include <algorithm>

namespace tenon::fuzz {

namespace {

/// Limit of padded memory, in elements: the interpreter records the writers of each, and a case
/// must not take a machine's whole memory.
constexpr std::int64_t kMaxAligned = 1 << 22;
/// Sizes that only the call knows are about as long.
constexpr std::int64_t kLikelySize = 64;

}  // namespace

std::string ScheduleStep::compute_at(const NotedStage& stage) {
  const std::vector<NotedStage> near = readers(stage);
  const std::vector<NotedStage> any = computed_stages();
  if (near.empty() && any.empty()) return "";
  const bool anywhere = near.empty() || (!any.empty() && random_.one_in(12));
  NotedStage parent = random_.pick(anywhere ? any : near);
  // A reader that is computed at a loop has the loops around it as well.
  if (const auto* at = std::get_if<te::AttachAt>(&parent.data().attach);
      at && random_.one_in(3) && !any.empty())
    for (const NotedStage& other : any)
      if (other.data().has_leaf(at->axis)) parent = other;
  const te::IterVar axis = leaf(parent);
  stage.compute_at(parent, axis);
  return "compute_at(s[" + parent.name() + "], " + axis.name() + ")";
}

std::string ScheduleStep::compute_inline(const NotedStage& stage) {
  stage.compute_inline();
  return "compute_inline()";
}

std::string ScheduleStep::compute_root(const NotedStage& stage) {
  stage.compute_root();
  return "compute_root()";
}

std::string ScheduleStep::cache_read(const NotedStage& stage) {
  const std::vector<te::Tensor>& inputs = stage.op().inputs();
  if (inputs.empty()) return "";
  const te::Tensor read = random_.pick(inputs);
  const std::string scope = random_scope();
  std::vector<te::Operation> takers = {stage.op()};
  std::string text = "cache_read(" + read.name() + ", " + scope;
  if (random_.one_in(6)) {
    takers.clear();
    text += ", {}";
  } else if (random_.one_in(4)) {
    for (const NotedStage& other : readers(schedule_[read]))
      if (!other.op().same_as(stage.op())) takers.push_back(other.op());
    if (takers.size() > 1) text += ", " + std::to_string(takers.size()) + " readers";
  }
  const te::Tensor cache = schedule_.cache_read(read, scope, takers);
  text += ")";
  if (!random_.one_in(2) || stage.leaf_iter_vars().empty()) return text;
  const te::IterVar axis = leaf(stage);
  schedule_[cache].compute_at(stage, axis);
  return text + ", computed at " + axis.name();
}

std::string ScheduleStep::cache_write(const NotedStage& stage) {
  const std::string scope = random_.one_in(2) ? "local" : random_.one_in(4) ? "shared" : "global";
  const std::vector<te::Tensor> caches = schedule_.cache_write(outputs_of(stage), scope);
  std::string text = "cache_write(" + scope + ")";
  if (!random_.one_in(2) || stage.leaf_iter_vars().empty()) return text;
  const te::IterVar axis = leaf(stage);
  schedule_[caches.front()].compute_at(stage, axis);
  return text + ", computed at " + axis.name();
}

std::string ScheduleStep::rfactor(const NotedStage& stage) {
  // Most axes cannot be factored.
  const std::vector<te::IterVar> axes = leaves(stage, tir::IterKind::Reduce);
  const te::IterVar axis = axes.empty() ? leaf(stage) : random_.pick(axes);
  const int place = random_.between(-2, 2);
  schedule_.rfactor(outputs_of(stage), axis, place);
  return "rfactor(" + axis.name() + ", " + std::to_string(place) + ")";
}

/// A reduction in strands side by side, that are vectorized and then reduced.
std::string ScheduleStep::strands(const NotedStage& stage) {
  const std::vector<te::IterVar> axes = leaves(stage, tir::IterKind::Reduce);
  if (axes.empty()) return "";
  const te::IterVar axis = random_.pick(axes);
  // One part is kept for every strand, so there must not be 2^31 of them.
  const int by = random_.one_in(3) ? std::min(factor(), 64) : 1 << random_.between(1, 4);
  const bool take_inner = !random_.one_in(3);
  const auto [outer, inner] = stage.split(axis, by);
  const int place = random_.one_in(2) ? -1 : 0;
  const std::vector<te::Tensor> parts =
      schedule_.rfactor(outputs_of(stage), take_inner ? inner : outer, place);
  std::string text = "split(" + axis.name() + ", " + std::to_string(by) + "), rfactor(" +
                     (take_inner ? "inner, " : "outer, ") + std::to_string(place) + ")";
  const NotedStage strand = schedule_[parts.front()];
  if (!random_.one_in(4)) {
    const te::IterVar lane = strand.axis(place == 0 ? 0 : strand.op().output(0).ndim() - 1);
    std::vector<te::IterVar> order = strand.leaf_iter_vars();
    std::erase_if(order, [&](const te::IterVar& leaf) { return leaf.same_as(lane); });
    order.push_back(lane);
    strand.reorder(order).vectorize(lane);
    text += ", vectorize it";
  }
  if (random_.one_in(2)) {
    const te::IterVar at = leaf(stage);
    strand.compute_at(stage, at);
    text += ", computed at " + at.name();
  }
  return text;
}

/// A tile that is computed in a cache and then written.
std::string ScheduleStep::register_tile(const NotedStage& stage) {
  const std::vector<te::IterVar> data = leaves(stage, tir::IterKind::DataParallel);
  if (data.size() < 2) return "";
  const std::vector<te::Tensor> caches = schedule_.cache_write(outputs_of(stage), "local");
  const std::vector<te::IterVar> axes = leaves(stage, tir::IterKind::DataParallel);
  if (axes.size() < 2) return "cache_write(local)";
  const int xf = random_.between(1, 6), yf = 1 << random_.between(0, 4);
  const auto [xo, yo, xi, yi] = stage.tile(axes[axes.size() - 2], axes.back(), xf, yf);
  stage.reorder({xo, yo, xi, yi}).vectorize(yi);
  const NotedStage cache = schedule_[caches.front()];
  cache.compute_at(stage, yo);
  std::string text = "cache_write(local), tile by " + std::to_string(xf) + ", " +
                     std::to_string(yf) + ", yi vectorized";
  std::vector<te::IterVar> order = leaves(cache, tir::IterKind::Reduce);
  const std::vector<te::IterVar> inside = leaves(cache, tir::IterKind::DataParallel);
  if (!order.empty() && random_.one_in(2)) {
    const int fk = random_.between(2, 5);
    const auto [ko, ki] = cache.split(order.back(), fk);
    order.back() = ko;
    order.push_back(ki);
    cache.unroll(ki);
    text += ", k by " + std::to_string(fk) + " unrolled";
  }
  order.insert(order.end(), inside.begin(), inside.end());
  cache.reorder(order).vectorize(order.back());
  return text + ", the cache's reductions outside and its last axis vectorized";
}

/// Computes the stage at a reader, in one of several kinds of memory or vectorized.
std::string ScheduleStep::producer_at_reader(const NotedStage& stage) {
  const std::vector<NotedStage> near = readers(stage);
  if (near.empty()) return "";
  const NotedStage reader = random_.pick(near);
  const te::IterVar axis = leaf(reader);
  stage.compute_at(reader, axis);
  const std::string text = "compute_at(s[" + reader.name() + "], " + axis.name() + ")";
  switch (random_.between(0, 3)) {
    case 0:
      stage.rolling_buffer();
      return text + ", rolling_buffer()";
    case 1:
      stage.double_buffer();
      return text + ", double_buffer()";
    case 2:
      stage.set_scope("local");
      return text + ", set_scope(local)";
    default:
      return text + ", " + vectorize(stage);
  }
}

std::string ScheduleStep::storage_align(const NotedStage& stage) {
  if (stage.op().axis().empty()) return "";
  const std::vector<te::IterVar>& axes = stage.op().axis();
  const int chosen = random_.between(0, static_cast<int>(axes.size()) - 1);
  const te::IterVar& axis = axes[static_cast<std::size_t>(chosen)];
  // Readers may require much more than the extent of a table of positions, which has one axis.
  const bool is_far = axes.size() > 1 && random_.one_in(20);
  int by = is_far ? 1 << random_.between(12, 16) : random_.between(1, 8);
  std::int64_t elements = by;
  for (int n = 0; n <= chosen && elements <= kMaxAligned; ++n)
    elements *=
        tir::constant_int(axes[static_cast<std::size_t>(n)].dom()->extent).value_or(kLikelySize);
  if (elements > kMaxAligned) by = 8;
  const int offset = random_.between(0, by - 1);
  stage.storage_align(axis, by, offset);
  return "storage_align(" + axis.name() + ", " + std::to_string(by) + ", " +
         std::to_string(offset) + ")";
}

std::string ScheduleStep::prefetch(const NotedStage& stage) {
  const std::vector<te::Tensor>& inputs = stage.op().inputs();
  if (inputs.empty()) return "";
  const te::Tensor tensor = random_.pick(inputs);
  const te::IterVar axis = leaf(stage);
  const tir::Operand offset = symbolic_or(random_.between(0, 2));
  stage.prefetch(tensor, axis, offset);
  const std::optional<std::int64_t> constant = tir::constant_int(offset.alone());
  return "prefetch(" + tensor.name() + ", " + axis.name() + ", " +
         (constant ? std::to_string(*constant) : "n") + ")";
}

/// The last dimension in blocks and the rest turned round, now and then with a second remainder
/// that makes it no layout unless it divides.
std::string ScheduleStep::transform_layout(const NotedStage& stage) {
  if (stage.data().is_output) return "";  // The caller would have to know.
  const int block = random_.between(2, 4);
  const auto rank = stage.op().axis().size();
  if (rank == 0) return "";
  if (random_.one_in(4) && rank > 1) {
    stage.transform_layout([&](std::span<const Var> at) {
      std::vector<Expr> result(at.begin(), at.end());
      std::rotate(result.begin(), result.begin() + 1, result.end());
      return result;
    });
    return "transform_layout(first dimension last)";
  }
  if (random_.one_in(4) && rank > 1) {
    stage.transform_layout([&](std::span<const Var> at) {
      std::vector<Expr> result(at.begin(), at.end());
      result.insert(result.begin() + 1, te::axis_separator());
      return result;
    });
    return "transform_layout(first dimension, separator, others)";
  }
  const bool pad = random_.one_in(2);
  if (random_.one_in(3)) {
    const int outer = block + random_.between(1, 4);
    stage.transform_layout(
        [&](std::span<const Var> at) {
          std::vector<Expr> result = {floordiv(at.back(), block)};
          result.insert(result.end(), at.begin(), at.end() - 1);
          result.push_back(floormod(floormod(at.back(), outer), block));
          return result;
        },
        {.pad = pad});
    return "transform_layout(last // " + std::to_string(block) + ", others, last % " +
           std::to_string(outer) + " % " + std::to_string(block) + (pad ? "), padded" : ")");
  }
  stage.transform_layout(
      [&](std::span<const Var> at) {
        std::vector<Expr> result = {floordiv(at.back(), block)};
        for (std::size_t d = at.size() - 1; d-- > 0;) result.push_back(at[d]);
        result.push_back(floormod(at.back(), block));
        return result;
      },
      {.pad = pad});
  return "transform_layout(last // " + std::to_string(block) + ", others, last % " +
         std::to_string(block) + (pad ? "), padded" : ")");
}

std::string ScheduleStep::set_scope(const NotedStage& stage) {
  const std::string scope = random_scope();
  stage.set_scope(scope);
  return "set_scope(" + scope + ")";
}

/// A random scope, including those of a device: a processor has memory of one kind.
std::string ScheduleStep::random_scope() {
  static const std::vector<const char*> kScopes = {"local",      "local",  "local",  "local",
                                                   "global",     "global", "shared", "shared",
                                                   "shared.dyn", "warp"};
  return random_.pick(kScopes);
}

std::string ScheduleStep::double_buffer(const NotedStage& stage) {
  // Elsewhere nothing could run ahead, and the whole schedule is refused when it is lowered.
  if (!std::holds_alternative<te::AttachAt>(stage.data().attach) && !random_.one_in(12)) return "";
  stage.double_buffer();
  return "double_buffer()";
}

std::string ScheduleStep::rolling_buffer(const NotedStage& stage) {
  stage.rolling_buffer();
  return "rolling_buffer()";
}

/// Rounds up an axis, or shifts its last tile inwards.
std::string ScheduleStep::treat_tail(const NotedStage& stage) {
  const std::vector<te::IterVar> axes = stage.op().axis();
  if (axes.empty()) return "";
  const te::IterVar axis = random_.pick(axes);
  const bool shifts = random_.one_in(2);
  shifts ? stage.shift_inwards(axis) : stage.round_up(axis);
  return (shifts ? "shift_inwards(" : "round_up(") + axis.name() + ")";
}

std::string ScheduleStep::autotune_loops(const NotedStage& stage) {
  stage.autotune_loops();
  return "autotune_loops()";
}

/// Rounds up the stage and all that it reads along all axes, except for outputs.
std::string ScheduleStep::round_up_with_inputs(const NotedStage& stage) {
  std::string text;
  const auto round = [&](const NotedStage& each) {
    if (!each.op().as<te::Compute>() || each.data().is_output) return;
    for (const te::IterVar& axis : each.op().axis()) {
      each.round_up(axis);
      text += (text.empty() ? "" : ", ") + each.op().name() + "." + axis.name();
    }
  };
  round(stage);
  for (const te::Tensor& input : stage.op().inputs())
    for (const NotedStage& other : schedule_.stages())
      if (other.op().same_as(input.op())) round(other);
  return text.empty() ? "" : "round_up of " + text;
}

/// Sets a condition that always holds, but only the data show it.
std::string ScheduleStep::set_store_predicate(const NotedStage& stage) {
  if (options_.inputs.empty()) return "";
  const te::Tensor& input = options_.inputs.front();
  const DataType type = input.dtype();
  if (type.is_bool()) return "";
  std::vector<Expr> at(static_cast<std::size_t>(input.ndim()), Expr(0));
  const te::IterVar axis = leaf(stage);
  // An input of a size that may be 0 has no first element.
  const std::vector<Expr> shape = input.shape();
  if (!std::ranges::all_of(shape, [](const Expr& n) { return constant_int(n).value_or(0) > 0; }))
    return "";
  const Expr first = input(at);
  // True of every number, and of NaN.
  stage.set_store_predicate(!(first <= make_const(type, 3)) || first < make_const(type, 5) ||
                            axis.var() < 0);
  return "set_store_predicate(!(" + input.name() + "(0...) <= 3) || " + input.name() +
         "(0...) < 5 || " + axis.name() + " < 0)";
}

/// A stage and all between it and what it reads, now and then also the other outputs of a reader.
/// The group goes to a loop of a reader, or is kept in one of the ways there are.
std::string ScheduleStep::group(const NotedStage& stage) {
  const std::vector<NotedStage> near = readers(stage);
  const std::vector<te::Tensor>& inputs = stage.op().inputs();
  if (near.empty() || inputs.empty()) return "";
  const NotedStage reader = random_.pick(near);
  const te::Tensor input = random_.pick(inputs);
  const bool include = random_.one_in(2);
  std::vector<te::Tensor> outputs = outputs_of(stage);
  const te::Tensor other = random_.pick(reader.op().inputs());
  if (random_.one_in(4) && !other.op().same_as(stage.op()) && !other.op().as<te::Placeholder>())
    outputs.push_back(other);
  const NotedStage all = schedule_.create_group(outputs, {input}, include);
  const std::string text = "create_group from " + input.name() + (include ? " on" : "") +
                           (outputs.size() > 1 ? ", of several outputs" : "");
  switch (random_.between(0, 7)) {
    case 0:
      all.compute_root();
      return text + ", compute_root()";
    case 1:
      all.compute_inline();
      return text + ", compute_inline()";
    case 2:
      all.set_scope("local");
      return text + ", set_scope(local)";
    default: {
      const te::IterVar axis = leaf(reader);
      all.compute_at(reader, axis);
      return text + ", compute_at(s[" + reader.name() + "], " + axis.name() + ")";
    }
  }
}

std::string ScheduleStep::normalize(const NotedStage&) {
  schedule_ = schedule_.normalize();
  return "normalize(), of the whole schedule";
}

std::string ScheduleStep::copy(const NotedStage&) {
  schedule_ = schedule_.copy();
  return "copy(), of the whole schedule";
}

}  // namespace tenon::fuzz
