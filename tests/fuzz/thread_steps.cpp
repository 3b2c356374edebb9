#include "tests/fuzz/schedule_step.h"

#include <algorithm>

namespace tenon::fuzz {

std::vector<te::IterVar> ScheduleStep::loops_in_launch(const NotedStage& stage) {
  std::vector<te::IterVar> loops;
  for (const te::IterVar& leaf : stage.leaf_iter_vars()) {
    const te::ThreadMark* mark = stage.data().thread_mark_of(leaf);
    if (!loops.empty() || (mark && !mark->axis.thread()->is_virtual())) loops.push_back(leaf);
  }
  return loops;
}

std::string ScheduleStep::virtual_threads(const NotedStage& stage) {
  const std::vector<te::IterVar> data = leaves(stage, tir::IterKind::DataParallel);
  if (data.empty()) return "";
  const te::IterVar axis = random_.pick(data);
  const int count = random_.between(2, 4);
  const auto [outer, inner] =
      random_.one_in(2) ? stage.split_by_nparts(axis, count) : stage.split(axis, count);
  const bool take_outer = random_.one_in(2);
  const std::string tag = random_.one_in(4) ? "cthread" : "vthread";
  const te::IterVar bound = take_outer ? outer : inner;
  std::vector<te::IterVar> order = stage.leaf_iter_vars();
  std::erase_if(order, [&](const te::IterVar& leaf) { return leaf.same_as(bound); });
  order.insert(order.begin(), bound);
  stage.reorder(order).bind(bound, te::thread_axis(tag, "v" + axis.name()));
  return "split " + axis.name() + ", " + bound.name() + " (" + std::to_string(count) +
         ") first and bound to " + tag;
}

std::string ScheduleStep::bind(const NotedStage& stage) {
  const te::IterVar axis = leaf(stage);
  const te::IterVar to = thread(random_.between(0, static_cast<int>(threads_.size()) - 1));
  stage.bind(axis, to);
  return "bind(" + axis.name() + ", " + to.name() + (to.dom() ? " of a range)" : ")");
}

/// All data as one loop, over blocks and their threads.
std::string ScheduleStep::blocks_and_threads(const NotedStage& stage) {
  std::vector<te::IterVar> data = leaves(stage, tir::IterKind::DataParallel);
  if (data.empty() || stage.leaf_iter_vars().size() < data.size()) return "";
  const int count = random_.one_in(3) ? factor() : 4 << random_.between(0, 2);
  if (random_.one_in(2) && data.size() > 1) {
    const int rows = random_.between(1, 4);
    const auto [xo, yo, xi, yi] = stage.tile(data[0], data[1], rows, count);
    stage.bind(xo, threads_[1]).bind(yo, threads_[0]).bind(xi, threads_[3]).bind(yi, threads_[2]);
    return "tile(" + data[0].name() + ", " + data[1].name() + ", " + std::to_string(rows) + ", " +
           std::to_string(count) + ") over blocks and threads, x and y";
  }
  std::vector<te::IterVar> order = data;
  for (const te::IterVar& leaf : stage.leaf_iter_vars())
    if (!te::contains(data, leaf)) order.push_back(leaf);
  stage.reorder(order);
  const te::IterVar fused = data.size() > 1 ? stage.fuse(data) : data[0];
  const auto [outer, inner] = stage.split(fused, count);
  stage.bind(outer, threads_[0]).bind(inner, threads_[2]);
  return "all data fused, split by " + std::to_string(count) + " over blocks and threads";
}

/// Threads share the work of what a block needs.
std::string ScheduleStep::cooperative_fetch(const NotedStage& stage) {
  const std::vector<te::Tensor>& inputs = stage.op().inputs();
  const std::vector<te::IterVar> places = loops_in_launch(stage);
  if (inputs.empty() || places.empty()) return "";
  const te::Tensor read = random_.pick(inputs);
  const std::string scope = random_.one_in(4) ? "shared.dyn" : "shared";
  const te::Tensor cache = schedule_.cache_read(read, scope, {stage.op()});
  const te::IterVar at = random_.pick(places);
  const NotedStage fetch = schedule_[cache];
  fetch.compute_at(stage, at);
  const int count = random_.one_in(3) ? factor() : 4 << random_.between(0, 2);
  const std::vector<te::IterVar> data = fetch.leaf_iter_vars();
  const te::IterVar fused = data.size() == 1 ? data[0] : fetch.fuse(data);
  std::string text = "cache_read(" + read.name() + ", " + scope + ") at " + at.name() + ", fused";
  te::IterVar rest = fused;
  if (random_.one_in(3)) {
    const int lanes = 1 << random_.between(1, 3);
    const auto [outer, vector] = fetch.split(rest, lanes);
    fetch.vectorize(vector);
    rest = outer;
    text += ", vectors of " + std::to_string(lanes);
  }
  const auto [outer, inner] = fetch.split(rest, count);
  fetch.bind(inner, threads_[2]);
  text += ", split by " + std::to_string(count) + " and bound to threadIdx.x";
  if (random_.one_in(4)) {
    const int rows = random_.between(2, 4);
    fetch.bind(fetch.split(outer, rows).inner, threads_[3]);
    text += ", the outer by " + std::to_string(rows) + " and bound to threadIdx.y";
  }
  if (random_.one_in(4)) {
    fetch.double_buffer();
    text += ", double_buffer()";
  }
  return text;
}

/// Threads around all steps, to which loops of the steps can be bound.
std::string ScheduleStep::threads_of_scan(const NotedStage& stage) {
  if (!stage.op().as<te::Scan>()) return "";  // A wild choice.
  std::vector<te::IterVar> tags = threads_;
  random_.shuffle(tags);
  const int most = random_.one_in(3) ? 2 : 1;
  std::vector<te::IterVar> around;
  std::string text;
  for (int n = 0; n < most; ++n) {
    const std::string tag = tags[static_cast<std::size_t>(n)].thread()->str();
    const int count = random_.between(1, 5);
    around.push_back(te::thread_axis({0, count}, tag));
    text += (text.empty() ? "" : ", ") + tag + " of " + std::to_string(count);
  }
  stage.env_threads(around);
  return "env_threads(" + text + ")";
}

/// A reduction, or a part of one, that the threads of a block share.
std::string ScheduleStep::reduction_over_threads(const NotedStage& stage) {
  const std::vector<te::IterVar> axes = leaves(stage, tir::IterKind::Reduce);
  if (axes.empty()) return "";
  te::IterVar axis = random_.pick(axes);
  std::string text;
  if (random_.one_in(2)) {
    const int count = random_.one_in(2) ? std::min(factor(), 64) : 4 << random_.between(0, 2);
    text = "split(" + axis.name() + ", " + std::to_string(count) + "), ";
    const auto [outer, inner] = stage.split(axis, count);
    axis = inner;
    if (random_.one_in(2)) {
      const std::vector<te::Tensor> parts = schedule_.rfactor(outputs_of(stage), inner);
      axis = stage.reduce_axis(0);
      schedule_[parts.front()].compute_at(stage, axis);
      text += "rfactor(inner), ";
    }
  }
  stage.bind(axis, threads_[2]);
  text += "bind(" + axis.name() + ", threadIdx.x)";
  if (const std::vector<te::IterVar> others = leaves(stage, tir::IterKind::Reduce);
      others.size() > 1 && random_.one_in(2)) {
    const te::IterVar& other = random_.pick(others);
    if (!other.same_as(axis)) {
      stage.bind(other, threads_[3]);
      text += ", bind(" + other.name() + ", threadIdx.y)";
    }
  }
  // A result that each thread keeps for itself would be missing in the others.
  if (stage.data().is_output && random_.one_in(2)) {
    stage.set_store_predicate(threads_[2].var() == 0);
    text += ", stored by the first";
  }
  return text;
}

}  // namespace tenon::fuzz
