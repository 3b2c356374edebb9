// Steps that users take together, on several stages at once: what each of them does to the others
// is where compilers go wrong, and chance alone seldom makes them follow each other.
#include <algorithm>

#include "tests/fuzz/schedule_step.h"

namespace tenon::fuzz {

namespace {

std::string number_of(int n) { return std::to_string(n); }

}  // namespace

/// Two loops of a reader as one, in stretches that rows do not divide, and what it reads of the
/// stage computed for each.
std::string ScheduleStep::producer_at_stretch(const NotedStage& stage) {
  const std::vector<NotedStage> near = readers(stage);
  if (near.empty()) return "";
  const NotedStage reader = random_.pick(near);
  const std::vector<te::IterVar>& loops = reader.leaf_iter_vars();
  std::vector<std::size_t> places;
  for (std::size_t n = 0; n + 1 < loops.size(); ++n)
    if (loops[n].kind() == loops[n + 1].kind()) places.push_back(n);
  if (places.empty()) return "";
  const std::size_t n = random_.pick(places);
  const te::IterVar x = loops[n], y = loops[n + 1];
  const te::IterVar fused = reader.fuse(x, y);
  const int by = random_.one_in(4) ? factor() : random_.between(2, 9);
  const bool in_parts = random_.one_in(4);
  const auto [outer, inner] =
      in_parts ? reader.split_by_nparts(fused, by) : reader.split(fused, by);
  stage.compute_at(reader, outer);
  schedule_.note_together("a stage at a stretch of a fused loop");
  return "compute_at(s[" + reader.name() + "], " + outer.name() + ") of fuse(" + x.name() + ", " +
         y.name() + ") split" + (in_parts ? " into " : " by ") + number_of(by);
}

/// Another layout of a stage of which a reader needs a part at a time.
std::string ScheduleStep::layout_at_reader(const NotedStage& stage) {
  const std::vector<NotedStage> near = readers(stage);
  if (near.empty()) return "";
  const std::string layout = transform_layout(stage);
  if (layout.empty()) return "";
  const NotedStage reader = random_.pick(near);
  const te::IterVar axis = leaf(reader);
  stage.compute_at(reader, axis);
  schedule_.note_together("a layout and a reader's loop");
  return layout + ", compute_at(s[" + reader.name() + "], " + axis.name() + ")";
}

/// A loop of the stage in a launch, for which threads are taken where it has none. Adds to the text
/// what was done for it.
std::optional<te::IterVar> ScheduleStep::place_in_launch(const NotedStage& stage,
                                                         std::string& text) {
  if (loops_in_launch(stage).empty()) {
    const std::string done = blocks_and_threads(stage);
    if (!done.empty()) text += "s[" + stage.name() + "]: " + done + "; ";
  }
  const std::vector<te::IterVar> places = loops_in_launch(stage);
  if (places.empty()) return std::nullopt;
  return random_.pick(places);
}

/// The threads of a block share the work, or each does all of it.
std::string ScheduleStep::share_work(const NotedStage& stage) {
  if (random_.one_in(2)) return "by each thread";
  const std::vector<te::IterVar> data = leaves(stage, tir::IterKind::DataParallel);
  if (data.empty() || data.size() < stage.leaf_iter_vars().size()) return "by each thread";
  const te::IterVar fused = data.size() == 1 ? data[0] : stage.fuse(data);
  const int count = 4 << random_.between(0, 2);
  stage.bind(stage.split(fused, count).inner, threads_[2]);
  return "by " + number_of(count) + " threads";
}

/// Caches one input in a thread's own memory and another in shared memory, at the same loop. The
/// loop may be inside of the threads', where the regions of these differ.
std::string ScheduleStep::caches_of_two_scopes(const NotedStage& stage) {
  std::vector<te::Tensor> inputs = stage.op().inputs();
  if (inputs.size() < 2) return "";
  random_.shuffle(inputs);
  std::string text;
  std::optional<te::IterVar> at = place_in_launch(stage, text);
  if (!at) return "";
  for (const te::IterVar& leaf : loops_in_launch(stage))
    if (stage.data().thread_mark_of(leaf) && random_.one_in(2)) at = leaf;
  const std::string shared = random_.one_in(4) ? "shared.dyn" : "shared";
  const te::Tensor own = schedule_.cache_read(inputs[0], "local", {stage.op()});
  const te::Tensor all = schedule_.cache_read(inputs[1], shared, {stage.op()});
  schedule_[own].compute_at(stage, *at);
  schedule_[all].compute_at(stage, *at);
  schedule_.note_together("memory of two scopes at a loop");
  return text + "cache_read(" + inputs[0].name() + ", local) and cache_read(" + inputs[1].name() +
         ", " + shared + ", " + share_work(schedule_[all]) + ") at " + at->name();
}

/// Computes a stage, or one that the stage is then copied from, in a block's shared memory, from a
/// shared copy of one of its inputs.
std::string ScheduleStep::shared_from_shared(const NotedStage& chosen) {
  std::vector<NotedStage> near = readers(chosen);
  NotedStage stage = chosen;
  std::string text;
  if (near.empty() || random_.one_in(2)) {
    if (!loops_in_launch(chosen).empty()) return "";
    stage = schedule_[schedule_.cache_write(outputs_of(chosen), "shared").front()];
    near = {chosen};
    text = "cache_write(shared), ";
  }
  const std::vector<te::Tensor> inputs = stage.op().inputs();
  if (inputs.empty()) return "";
  const NotedStage reader = random_.pick(near);
  const std::optional<te::IterVar> at = place_in_launch(reader, text);
  if (!at) return "";
  const te::Tensor read = random_.pick(inputs);
  const te::Tensor cache = schedule_.cache_read(read, "shared", {stage.op()});
  stage.set_scope("shared").compute_at(reader, *at);
  schedule_[cache].compute_at(reader, *at);
  schedule_.note_together("shared memory from shared memory");
  text += "set_scope(shared), cache_read(" + read.name() + ", shared), both at " + at->name() +
          " of s[" + reader.name() + "]";
  text += ", the one " + share_work(stage);
  return text + ", the other " + share_work(schedule_[cache]);
}

}  // namespace tenon::fuzz
