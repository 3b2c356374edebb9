#include "tests/fuzz/fit_for_device.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace tenon::fuzz {

namespace {

bool is_thread(const NotedStage& stage, const te::IterVar& leaf) {
  const te::ThreadMark* mark = stage.data().thread_mark_of(leaf);
  return mark && !mark->axis.thread()->is_virtual();
}

bool is_plain(const NotedStage& stage, const te::IterVar& leaf) {
  const te::AxisAttributes* attributes = stage.data().attributes_of(leaf);
  return leaf.kind() == tir::IterKind::DataParallel &&
         (!attributes || (!attributes->run && !attributes->thread && !attributes->tensorize));
}

class Fitter {
 public:
  Fitter(const NotedSchedule& schedule, Random random) : schedule_(schedule), random_(random) {}

  std::vector<std::string> run() {
    // Readers first: what stands around a stage is known when its turn comes.
    const std::vector<NotedStage> stages = schedule_.stages();
    for (const NotedStage& stage : std::views::reverse(stages)) {
      if (stage.op().as<te::Placeholder>() ||
          std::holds_alternative<te::AttachInline>(stage.data().attach))
        continue;
      const bool in_launch = is_in_launch(stage);
      if (!in_launch && !has_threads(stage)) bind(stage);
      place_memory(stage, in_launch);
    }
    return std::move(text_);
  }

 private:
  /// The stage whose loop the axis is.
  std::optional<NotedStage> stage_of(const te::IterVar& axis) const {
    for (const NotedStage& stage : schedule_.stages())
      if (!stage.op().as<te::Placeholder>() && stage.data().has_leaf(axis)) return stage;
    return std::nullopt;
  }

  static bool has_threads(const NotedStage& stage) {
    if (!stage.data().env_threads.empty()) return true;
    return std::ranges::any_of(stage.leaf_iter_vars(),
                               [&](const te::IterVar& leaf) { return is_thread(stage, leaf); });
  }

  /// The scan whose first states the stage makes, along with it.
  std::optional<NotedStage> begun_by(const NotedStage& stage) const {
    for (const NotedStage& other : schedule_.stages())
      if (const te::Scan* scan = other.op().as<te::Scan>())
        for (const te::Tensor& init : scan->init)
          if (init.op().same_as(stage.op()) || init.op().same_as(stage.origin_op())) return other;
    return std::nullopt;
  }

  /// Whether a thread stands around the stage.
  bool is_in_launch(const NotedStage& stage) const {
    const te::Attach& attach = stage.data().attach;
    const auto* at = std::get_if<te::AttachAt>(&attach);
    const auto* update = std::get_if<te::AttachScanUpdate>(&attach);
    if (!at && !update) {
      const std::optional<NotedStage> scan = begun_by(stage);
      return scan && (!scan->data().env_threads.empty() || is_in_launch(*scan));
    }
    const te::IterVar& axis = at ? at->axis : update->axis;
    const std::optional<NotedStage> parent = stage_of(axis);
    if (!parent) return false;
    if (!parent->data().env_threads.empty() || is_in_launch(*parent)) return true;
    for (const te::IterVar& leaf : parent->leaf_iter_vars()) {
      if (is_thread(*parent, leaf)) return true;
      if (leaf.same_as(axis)) break;
    }
    return false;
  }

  // ---- loops

  /// One way after the other, from a random one on.
  void bind(const NotedStage& stage) {
    if (stage.op().as<te::Scan>()) {
      attempt(stage, &Fitter::bind_steps);
      return;
    }
    static constexpr std::array kWays = {&Fitter::bind_one, &Fitter::bind_all, &Fitter::bind_some};
    const auto first = static_cast<std::size_t>(random_.between(0, 2));
    for (std::size_t n = 0; n < kWays.size(); ++n)
      if (attempt(stage, kWays[(first + n) % kWays.size()])) return;
    if (!attempt(stage, &Fitter::bind_reduction)) attempt(stage, &Fitter::bind_nothing);
  }

  using Way = std::string (Fitter::*)(const NotedStage&);

  bool attempt(const NotedStage& stage, Way way) {
    return attempt(stage, [&](const NotedStage& own) { return (this->*way)(own); });
  }

  template <std::invocable<const NotedStage&> F>
  bool attempt(const NotedStage& stage, const F& way) {
    try {
      const std::string done = way(stage);
      if (done.empty()) return false;
      text_.push_back("s[" + stage.name() + "]." + done);
      return true;
    } catch (const ScheduleError&) {
      return false;  // Each way refuses before it changes anything, or leaves what is still right.
    }
  }

  std::vector<te::IterVar> plain_loops(const NotedStage& stage) const {
    std::vector<te::IterVar> loops;
    for (const te::IterVar& leaf : stage.leaf_iter_vars())
      if (is_plain(stage, leaf)) loops.push_back(leaf);
    return loops;
  }

  /// Binds one loop. A stage that is computed at one of the loops runs with it or is bound itself.
  std::string bind_one(const NotedStage& stage) {
    const std::vector<te::IterVar> loops = plain_loops(stage);
    if (loops.empty()) return "";
    const te::IterVar& loop = random_.one_in(2) ? loops.front() : random_.pick(loops);
    static const std::vector<const char*> kTags = {"blockIdx.x", "blockIdx.x", "blockIdx.z",
                                                   "threadIdx.x", "threadIdx.z"};
    const char* tag = random_.pick(kTags);
    stage.bind(loop, te::thread_axis(tag));
    return "bind(" + loop.name() + ", " + tag + ")";
  }

  /// Neighbouring loops as one, over blocks and their threads.
  std::string bind_all(const NotedStage& stage) {
    std::vector<te::IterVar> loops;
    for (const te::IterVar& leaf : stage.leaf_iter_vars()) {
      if (!is_plain(stage, leaf) || is_place(leaf)) break;
      loops.push_back(leaf);
    }
    if (loops.empty()) return "";
    const te::IterVar fused = loops.size() > 1 ? stage.fuse(loops) : loops.front();
    const int count = random_.one_in(3) ? random_.between(2, 33) : 4 << random_.between(0, 3);
    const auto [outer, inner] =
        random_.one_in(4) ? stage.split_by_nparts(fused, count) : stage.split(fused, count);
    stage.bind(outer, te::thread_axis("blockIdx.x")).bind(inner, te::thread_axis("threadIdx.x"));
    return "all data fused, split by " + std::to_string(count) + " over blocks and threads";
  }

  /// Up to three loops, each to an index of its own.
  std::string bind_some(const NotedStage& stage) {
    std::vector<te::IterVar> loops = plain_loops(stage);
    if (loops.size() < 2) return "";
    static constexpr std::array kTags = {"blockIdx.y", "threadIdx.x", "threadIdx.y", "threadIdx.z"};
    std::string text;
    const auto most = static_cast<std::size_t>(random_.between(2, 4));
    for (std::size_t n = 0; n < std::min(loops.size(), most); ++n) {
      stage.bind(loops[n], te::thread_axis(kTags[n]));
      text += (text.empty() ? "bind(" : ", bind(") + loops[n].name() + ", " + kTags[n] + ")";
    }
    return text;
  }

  /// Binds a loop of a reduction, for a stage without other loops.
  std::string bind_reduction(const NotedStage& stage) {
    std::vector<te::IterVar> loops;
    for (const te::IterVar& leaf : stage.leaf_iter_vars()) {
      const te::AxisAttributes* attributes = stage.data().attributes_of(leaf);
      const bool is_free = !attributes || (!attributes->run && !attributes->thread);
      if (leaf.kind() == tir::IterKind::Reduce && is_free) loops.push_back(leaf);
    }
    if (loops.empty() || !random_.one_in(2)) return "";
    const te::IterVar& loop = random_.pick(loops);
    stage.bind(loop, te::thread_axis("threadIdx.x"));
    return "bind(" + loop.name() + ", threadIdx.x)";
  }

  /// A loop of one iteration around all others.
  std::string bind_nothing(const NotedStage& stage) {
    const te::IterVar one = stage.fuse({});
    const char* tag = random_.one_in(2) ? "threadIdx.x" : "blockIdx.x";
    stage.bind(one, te::thread_axis(tag));
    return "fuse({}), bind it to " + std::string(tag);
  }

  std::string bind_steps(const NotedStage& stage) {
    const int count = random_.one_in(2) ? 1 : random_.between(2, 5);
    const char* tag = random_.one_in(2) ? "threadIdx.x" : "blockIdx.x";
    stage.env_threads({te::thread_axis({0, count}, tag)});
    return "env_threads(" + std::string(tag) + " of " + std::to_string(count) + ")";
  }

  /// Whether another stage is computed there.
  bool is_place(const te::IterVar& axis) const {
    return std::ranges::any_of(schedule_.stages(), [&](const NotedStage& stage) {
      const auto* at = std::get_if<te::AttachAt>(&stage.data().attach);
      return at && at->axis.same_as(axis);
    });
  }

  // ---- memory

  /// Moves memory inside of a launch to the launch's own, and memory outside to the device's.
  void place_memory(const NotedStage& stage, bool in_launch) {
    const std::optional<tir::StorageScope> scope = stage.data().scope;
    if (!scope || stage.data().is_output || in_launch == (scope != tir::StorageScope::Global))
      return;
    static const std::vector<const char*> kOwn = {"shared", "shared", "shared.dyn", "local"};
    const char* other = in_launch ? random_.pick(kOwn) : "global";
    attempt(stage, [&](const NotedStage& own) {
      own.set_scope(other);
      return "set_scope(" + std::string(other) + ")";
    });
  }

  const NotedSchedule& schedule_;
  Random random_;
  std::vector<std::string> text_;
};

}  // namespace

std::vector<std::string> fit_for_device(const NotedSchedule& schedule, Random random) {
  return Fitter(schedule, random).run();
}

}  // namespace tenon::fuzz
