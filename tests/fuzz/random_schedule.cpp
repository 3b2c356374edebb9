#include "tests/fuzz/random_schedule.h"

#include "tenon/te/freeze.h"
#include "tests/common/random_intrinsic.h"

namespace tenon::fuzz {

namespace {

/// One primitive on one stage of a schedule.
class Step {
 public:
  Step(te::Schedule schedule, Random random) : schedule_(std::move(schedule)), random_(random) {}

  std::string run() {
    const te::Stage stage = random_.pick(computed_stages());
    return named(stage, apply(stage));
  }

  /// An intrinsic for a box of iterations of some stage.
  std::string tensorize() {
    const te::Stage stage = random_.pick(computed_stages());
    return named(stage, testing::tensorize_by_chance(schedule_, stage, [&](int lo, int hi) {
                   return random_.between(lo, hi);
                 }));
  }

 private:
  te::Schedule schedule_;
  Random random_;

  static std::string named(const te::Stage& stage, const std::string& done) {
    return done.empty() ? "" : "s[" + stage.name() + "]." + done;
  }

  std::vector<te::Stage> computed_stages() const {
    std::vector<te::Stage> stages;
    for (const te::Stage& s : schedule_.stages())
      if (s.op().as<te::Compute>()) stages.push_back(s);
    return stages;
  }

  te::IterVar leaf(const te::Stage& stage) { return random_.pick(stage.leaf_iter_vars()); }

  std::string apply(const te::Stage& stage) {
    switch (random_.between(0, 20)) {
      case 0:
      case 1:
      case 2:
        return split(stage);
      case 3:
        return fuse(stage);
      case 4:
        return reorder(stage);
      case 5:
      case 6:
      case 7:
        return compute_at(stage);
      case 8:
        stage.compute_inline();
        return "compute_inline()";
      case 9:
        return vectorize(stage);
      case 10:
        return mark(stage);
      case 11:
        return cache_read(stage);
      case 12:
        return cache_write(stage);
      case 13:
        return rfactor(stage);
      case 14:
        return align(stage);
      case 15:
        return tile(stage);
      case 16:
        return split_and_vectorize(stage);
      case 17:
        return prefetch(stage);
      case 18:
        return transform_layout(stage);
      default:
        return storage(stage);
    }
  }

  std::string split(const te::Stage& stage) {
    const te::IterVar axis = leaf(stage);
    const int factor = random_.between(1, 9);
    if (random_.one_in(3)) {
      stage.split_by_nparts(axis, factor);
      return "split_by_nparts(" + axis.name() + ", " + std::to_string(factor) + ")";
    }
    stage.split(axis, factor);
    return "split(" + axis.name() + ", " + std::to_string(factor) + ")";
  }

  std::string tile(const te::Stage& stage) {
    if (stage.leaf_iter_vars().size() < 2) return "";
    const te::IterVar x = leaf(stage), y = leaf(stage);
    const int xf = random_.between(1, 6), yf = random_.between(1, 6);
    if (x.same_as(y)) return "";
    stage.tile(x, y, xf, yf);
    return "tile(" + x.name() + ", " + y.name() + ", " + std::to_string(xf) + ", " +
           std::to_string(yf) + ")";
  }

  std::string fuse(const te::Stage& stage) {
    const auto& leaves = stage.leaf_iter_vars();
    if (leaves.size() < 2) return "";
    const auto n =
        static_cast<std::size_t>(random_.between(0, static_cast<int>(leaves.size()) - 2));
    const te::IterVar a = leaves[n], b = leaves[n + 1];
    stage.fuse(a, b);
    return "fuse(" + a.name() + ", " + b.name() + ")";
  }

  std::string reorder(const te::Stage& stage) {
    std::vector<te::IterVar> order = stage.leaf_iter_vars();
    for (std::size_t n = order.size(); n > 1; --n)
      std::swap(order[n - 1],
                order[static_cast<std::size_t>(random_.between(0, static_cast<int>(n) - 1))]);
    stage.reorder(order);
    std::string names;
    for (const te::IterVar& axis : order) names += (names.empty() ? "" : ", ") + axis.name();
    return "reorder({" + names + "})";
  }

  std::string compute_at(const te::Stage& stage) {
    const te::Stage parent = random_.pick(computed_stages());
    const te::IterVar axis = leaf(parent);
    stage.compute_at(parent, axis);
    return "compute_at(s[" + parent.name() + "], " + axis.name() + ")";
  }

  std::string vectorize(const te::Stage& stage) {
    const te::IterVar axis = stage.leaf_iter_vars().back();
    stage.vectorize(axis);
    return "vectorize(" + axis.name() + ")";
  }

  std::string mark(const te::Stage& stage) {
    const te::IterVar axis = leaf(stage);
    switch (random_.between(0, 2)) {
      case 0:
        stage.unroll(axis);
        return "unroll(" + axis.name() + ")";
      case 1:
        stage.pragma(axis, "auto_unroll_max_step", 8);
        return "pragma(" + axis.name() + ", auto_unroll_max_step, 8)";
      default:
        break;
    }
    if (axis.kind() == tir::IterKind::Reduce) return "";
    stage.parallel(axis);
    return "parallel(" + axis.name() + ")";
  }

  std::string cache_read(const te::Stage& stage) {
    const std::vector<te::Tensor>& inputs = stage.op().inputs();
    if (inputs.empty()) return "";
    const te::Tensor read = random_.pick(inputs);
    const char* scope = random_.one_in(2) ? "local" : "global";
    schedule_.cache_read(read, scope, {stage.op()});
    return "cache_read(" + read.name() + ", " + scope + ")";
  }

  static std::vector<te::Tensor> outputs_of(const te::Stage& stage) {
    std::vector<te::Tensor> outputs;
    for (int n = 0; n < stage.op().num_outputs(); ++n) outputs.push_back(stage.op().output(n));
    return outputs;
  }

  std::string cache_write(const te::Stage& stage) {
    const char* scope = random_.one_in(2) ? "local" : "global";
    schedule_.cache_write(outputs_of(stage), scope);
    return std::string("cache_write(") + scope + ")";
  }

  std::string rfactor(const te::Stage& stage) {
    // Most axes are none that can be factored.
    std::vector<te::IterVar> axes;
    for (const te::IterVar& axis : stage.leaf_iter_vars())
      if (axis.kind() == tir::IterKind::Reduce) axes.push_back(axis);
    const te::IterVar axis = axes.empty() ? leaf(stage) : random_.pick(axes);
    const int place = random_.between(0, 1);
    schedule_.rfactor(outputs_of(stage), axis, place);
    return "rfactor(" + axis.name() + ", " + std::to_string(place) + ")";
  }

  std::string split_and_vectorize(const te::Stage& stage) {
    const te::IterVar axis = leaf(stage);
    const int factor = 1 << random_.between(1, 3);
    const auto [outer, inner] = stage.split(axis, factor);
    std::vector<te::IterVar> order = stage.leaf_iter_vars();
    std::erase_if(order, [&](const te::IterVar& leaf) { return leaf.same_as(inner); });
    order.push_back(inner);
    stage.reorder(order).vectorize(inner);
    return "split(" + axis.name() + ", " + std::to_string(factor) + "), inner last and vectorized";
  }

  std::string prefetch(const te::Stage& stage) {
    const std::vector<te::Tensor>& inputs = stage.op().inputs();
    if (inputs.empty()) return "";
    const te::Tensor tensor = random_.pick(inputs);
    const te::IterVar axis = leaf(stage);
    const int offset = random_.between(0, 2);
    stage.prefetch(tensor, axis, offset);
    return "prefetch(" + tensor.name() + ", " + axis.name() + ", " + std::to_string(offset) + ")";
  }

  /// The last dimension in blocks, and the rest turned round.
  std::string transform_layout(const te::Stage& stage) {
    if (stage.data().is_output) return "";  // The caller would have to know.
    const int block = random_.between(2, 4);
    stage.transform_layout([&](std::span<const Var> at) {
      std::vector<Expr> result = {floordiv(at.back(), block)};
      for (std::size_t d = at.size() - 1; d-- > 0;) result.push_back(at[d]);
      result.push_back(floormod(at.back(), block));
      return result;
    });
    return "transform_layout(last // " + std::to_string(block) + ", others, last % " +
           std::to_string(block) + ")";
  }

  std::string align(const te::Stage& stage) {
    const te::IterVar axis = random_.pick(stage.op().axis());
    const int factor = random_.between(1, 8), offset = random_.between(0, factor - 1);
    stage.storage_align(axis, factor, offset);
    return "storage_align(" + axis.name() + ", " + std::to_string(factor) + ", " +
           std::to_string(offset) + ")";
  }

  std::string storage(const te::Stage& stage) {
    switch (random_.between(0, 4)) {
      case 0:
        stage.double_buffer();
        return "double_buffer()";
      case 1:
        stage.rolling_buffer();
        return "rolling_buffer()";
      case 2:
        stage.compute_root();
        return "compute_root()";
      default:
        break;
    }
    const char* scope = random_.one_in(2) ? "local" : "shared";
    stage.set_scope(scope);
    return std::string("set_scope(") + scope + ")";
  }
};

}  // namespace

void RandomSchedule::step(Random random) {
  attempt([&] { return Step(schedule_, random).run(); });
}

void RandomSchedule::tensorize(Random random) {
  attempt([&] { return Step(schedule_, random).tensorize(); });
}

void RandomSchedule::attempt(const std::function<std::string()>& apply) {
  const te::Schedule before = schedule_.copy();
  try {
    const std::string done = apply();
    if (done.empty()) return;
    te::freeze(schedule_);
    steps_.push_back(done);
    return;
  } catch (const ScheduleError& error) {
    refusals_.push_back(error.what());
  } catch (const TypeError& error) {
    refusals_.push_back(error.what());
  }
  schedule_ = before;
}

}  // namespace tenon::fuzz
