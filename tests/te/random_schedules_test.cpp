// Random small programs under random schedules compute what they compute under the plain one.
#include <gtest/gtest.h>
#include <algorithm>
#include <random>

#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"
#include "tests/common/random_intrinsic.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {

namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed), with_threads_(seed % 3 == 0) {}

  void make_program() {
    inputs_.push_back(placeholder({below(7) + 1, below(9) + 1}, "A"));
    tensors_.push_back(inputs_[0]);
    const int count = 2 + below(4);
    for (int n = 0; n < count; ++n) tensors_.push_back(make_stage("T" + std::to_string(n)));
  }

  std::vector<Tensor> arguments() const {
    std::vector<Tensor> all = inputs_;
    all.push_back(tensors_.back());
    return all;
  }

  Schedule make_schedule() {
    Schedule s = create_schedule(tensors_.back());
    const std::size_t last = tensors_.size() - 1;
    if (chance(3)) attempt([&] { s.cache_write(tensors_.back(), "local"); });
    if (chance(3)) attempt([&] { s.cache_read(pick(tensors_), "shared", {}); });
    for (std::size_t n = s.stages().size(); n-- > 0;) {
      Stage stage = s.stages()[n];
      if (stage.op().as<Placeholder>()) continue;
      const bool is_output = stage.origin_op().same_as(tensors_[last].op());
      if (!is_output && chance(5)) {
        attempt([&] { stage.compute_inline(); });
        continue;
      }
      for (int steps = below(6); steps > 0; --steps) change_loops(stage);
      if (chance(6)) factor(s, stage);
      if (with_threads_ && chance(2)) bind(stage);
      if (!is_output && chance(2)) place(s, stage);
    }
    return s;
  }

  /// Intrinsics for some stages, once their loops are as they are to be. How many.
  int tensorize(const Schedule& s) {
    int count = 0;
    // Readers first: what they need decides how long the loops of stages inside of them are.
    for (std::size_t n = s.stages().size(); n-- > 0;) {
      const Stage stage = s.stages()[n];
      if (stage.op().as<Placeholder>() || !chance(2)) continue;
      attempt([&] {
        const std::string done = tenon::testing::tensorize_by_chance(
            freeze(s), stage, [&](int lo, int hi) { return lo + below(hi - lo + 1); });
        if (done.empty()) return;
        log_ += stage.name() + " " + done + "\n";
        ++count;
      });
    }
    return count;
  }

  const std::string& log() const { return log_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

  template <class F>
  void attempt(F f) {
    try {
      f();
    } catch (const ScheduleError&) {
      // Not legal here; the schedule is as it was.
    }
  }

  static int extent(const Tensor& t, int dim) {
    return static_cast<int>(*tir::constant_int(t.shape()[static_cast<std::size_t>(dim)]));
  }

  Tensor make_stage(const std::string& name) {
    const Tensor P = chance(3) ? pick(tensors_) : tensors_.back();
    const int n = extent(P, 0), m = extent(P, 1);
    auto make = [&](int rows, int columns, const std::function<Expr(Var, Var)>& body) {
      return compute(
          {rows, columns}, {"i", "j"}, [&](Var i, Var j) { return body(i, j); }, name);
    };
    switch (below(8)) {
      case 0:
        return make(n, m, [&](Var i, Var j) { return P(i, j) + 1.0f; });
      case 1:
        return make(m, n, [&](Var i, Var j) { return P(j, i) * 2.0f; });
      case 2:
        return make(
            n, m, [&](Var i, Var j) { return if_then_else(i >= 1, P(i - 1, j), 0.0f) + P(i, j); });
      case 3:
        if (m < 3) return make(n, m, [&](Var i, Var j) { return P(i, m - 1 - j); });
        return make(n, m - 2, [&](Var i, Var j) { return P(i, j) + P(i, j + 1) - P(i, j + 2); });
      case 4: {
        IterVar k = reduce_axis({0, m}, "k");
        return make(n, 1, [&](Var i, Var) { return sum(P(i, k), {k}); });
      }
      case 5: {
        IterVar y = reduce_axis({0, 2}, "y"), x = reduce_axis({0, 2}, "x");
        if (n < 2 || m < 2) return make(n, m, [&](Var i, Var j) { return P(i, j) - 3.0f; });
        return make(n - 1, m - 1, [&](Var i, Var j) { return max(P(i + y, j + x), {y, x}); });
      }
      case 6: {
        IterVar k = reduce_axis({0, m}, "k");
        return make(n, n, [&](Var i, Var j) {
          return sum(P(i, k) - P(j, k) * 2.0f, {k}, {.where = k <= i + j});
        });
      }
      default: {
        const Tensor Q = pick(tensors_);
        const int rows = std::min(n, extent(Q, 0)), columns = std::min(m, extent(Q, 1));
        return make(rows, columns, [&](Var i, Var j) {
          return P(i, j) - Q(i, tir::min(j + 1, extent(Q, 1) - 1));
        });
      }
    }
  }

  void change_loops(const Stage& stage) {
    const std::vector<IterVar> leaves = stage.leaf_iter_vars();
    if (leaves.empty()) return;
    const IterVar axis = pick(leaves);
    const std::string where = stage.name() + "." + axis.name();
    switch (below(7)) {
      case 0:
      case 1: {
        const int factor = 1 + below(5);
        log_ += "split " + where + " " + std::to_string(factor) + "\n";
        return attempt([&] { stage.split(axis, factor); });
      }
      case 2: {
        const int parts = 1 + below(5);
        log_ += "split_by_nparts " + where + " " + std::to_string(parts) + "\n";
        return attempt([&] { stage.split_by_nparts(axis, parts); });
      }
      case 3: {
        const std::size_t n = static_cast<std::size_t>(below(static_cast<int>(leaves.size())));
        if (n + 1 == leaves.size() || leaves[n].kind() != leaves[n + 1].kind()) return;
        log_ += "fuse " + stage.name() + " " + leaves[n].name() + " " + leaves[n + 1].name() + "\n";
        return attempt([&] { stage.fuse(leaves[n], leaves[n + 1]); });
      }
      case 4:
      case 5: {
        std::vector<IterVar> order = leaves;
        std::shuffle(order.begin(), order.end(), random_);
        log_ += "reorder " + stage.name();
        for (const IterVar& a : order) log_ += " " + a.name();
        log_ += "\n";
        return attempt([&] { stage.reorder(order); });
      }
      default:
        log_ += "unroll " + where + "\n";
        return attempt([&] { stage.unroll(axis); });
    }
  }

  void factor(const Schedule& s, const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    if (axis.kind() != IterKind::Reduce) return;
    log_ += "rfactor " + stage.name() + "." + axis.name() + "\n";
    attempt([&] { s.rfactor(stage.op().output(0), axis); });
  }

  /// Threads of several stages are the same ones, with whatever extents.
  void bind(const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    if (axis.kind() != IterKind::DataParallel) return;
    const IterVar& thread = chance(3) ? block_ : thread_;
    log_ += "bind " + stage.name() + "." + axis.name() + " " + thread.name() + "\n";
    attempt([&] { stage.bind(axis, thread); });
  }

  void place(const Schedule& s, const Stage& stage) {
    std::vector<Stage> readers;
    for (const Stage& other : s.stages()) {
      for (const Tensor& input : other.op().inputs()) {
        if (input.op().same_as(stage.op())) readers.push_back(other);
      }
    }
    if (readers.empty()) return;
    const Stage reader = pick(readers);
    if (reader.leaf_iter_vars().empty()) return;
    const IterVar axis = pick(reader.leaf_iter_vars());
    log_ += "compute_at " + stage.name() + " in " + reader.name() + " at " + axis.name() + "\n";
    attempt([&] { stage.compute_at(reader, axis); });
    if (!with_threads_ || chance(3)) return;
    const char* scope = chance(2) ? "shared" : "local";
    log_ += std::string("set_scope ") + scope + "\n";
    attempt([&] { stage.set_scope(scope); });
  }

  std::mt19937 random_;
  bool with_threads_;
  IterVar block_ = thread_axis("blockIdx.x"), thread_ = thread_axis("threadIdx.x");
  std::vector<Tensor> inputs_, tensors_;
  std::string log_;
};

class RandomSchedule : public ::testing::TestWithParam<unsigned> {
 protected:
  enum class Outcome : std::uint8_t { Ran, Refused };
  using Change = std::function<void(Generator&, const Schedule&)>;

  /// One program under a schedule with this last change.
  static Outcome run(unsigned seed, const Change& change) {
    Generator generator(seed);
    generator.make_program();
    const std::vector<Tensor> arguments = generator.arguments();
    const auto expected = testing::run(create_schedule(arguments.back()), arguments);
    EXPECT_EQ(testing::against_definition(arguments, expected), "") << "seed " << seed;
    std::optional<Schedule> s;
    auto described = [&] {
      return "seed " + std::to_string(seed) + "\n" + generator.log() + "\n" +
             (s ? tir::print_stmt(schedule_ops(*s, infer_bound(*s))) : "");
    };
    try {
      s = generator.make_schedule();
      change(generator, *s);
      EXPECT_EQ(testing::run(*s, arguments), expected) << described();
      return Outcome::Ran;
    } catch (const ScheduleError& error) {
      // A place that some reader cannot see, an inlined reduction: found when the schedule is
      // frozen. A loop may turn out shorter than an intrinsic, but what it computes is what the
      // stage computes.
      EXPECT_EQ(std::string_view(error.what()).find("they differ in"), std::string_view::npos)
          << error.what() << "\n"
          << "seed " << seed << "\n"
          << generator.log();
    } catch (const BoundError&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << described();
    }
    return Outcome::Refused;
  }

  static constexpr unsigned kPerCase = 25;
};

TEST_P(RandomSchedule, ComputesTheSame) {
  for (unsigned n = 0; n < kPerCase; ++n)
    run(GetParam() * kPerCase + n, [](Generator&, const Schedule&) {});
}

TEST_P(RandomSchedule, ComputesTheSameWithIntrinsics) {
  int tensorized = 0, ran = 0;
  for (unsigned n = 0; n < 2 * kPerCase; ++n) {
    int count = 0;
    const Outcome outcome =
        run(GetParam() * 2 * kPerCase + n,
            [&](Generator& generator, const Schedule& s) { count = generator.tensorize(s); });
    tensorized += count > 0;
    ran += count > 0 && outcome == Outcome::Ran;
  }
  // Few are refused: by a stage that is computed inside of what an intrinsic would replace, for
  // example.
  EXPECT_GT(ran * 2, tensorized);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSchedule, ::testing::Range(0u, 20u));

}  // namespace

// Random scans of which a part is read, under random schedules, compute what they compute under the
// plain one.

namespace {

class RandomScan {
 public:
  explicit RandomScan(unsigned seed) : random_(seed) {
    init_ = compute(
        {1, kSpace}, {"t", "i"}, [&](Var, Var i) { return x_(0, i); }, "init");
    half_ = compute(
        {kSteps, kSpace}, {"t", "i"},
        [&](Var t, Var i) { return state_(t - 1, neighbour(i)) + x_(t, i); }, "half");
    update_ = compute(
        {kSteps, kSpace}, {"t", "i"},
        [&](Var t, Var i) {
          return half_(t, i) * 2.0f - state_(t - 1, chance(3) ? neighbour(i) : Expr(i));
        },
        "update");
    all_ = scan(init_, update_, state_);
    const int first = below(kSpace - 1), count = 1 + below(kSpace - first);
    out_ = compute(
        {kSteps, count}, {"t", "i"}, [&](Var t, Var i) { return all_(t, i + first) * 3.0f; },
        "out");
  }

  std::vector<Tensor> arguments() const { return {x_, out_}; }
  const Tensor& output() const { return out_; }

  Schedule make_schedule() {
    Schedule s = create_schedule(out_);
    if (chance(3)) attempt([&] { caches_.push_back(s.cache_read(state_, "local", {update_})); });
    if (chance(3)) attempt([&] { caches_.push_back(s.cache_read(x_, "local", {half_})); });
    for (const Tensor& t : {out_, update_, half_, init_}) {
      for (int steps = below(4); steps > 0; --steps) change_loops(s[t]);
    }
    if (chance(2))
      attempt([&] { s[half_].compute_at(s[update_], pick(s[update_].leaf_iter_vars())); });
    for (const Tensor& cache : caches_) {
      const Tensor& reader = chance(2) ? update_ : half_;
      attempt([&] { s[cache].compute_at(s[reader], pick(s[reader].leaf_iter_vars())); });
    }
    if (chance(2)) {
      const IterVar place = pick(s[out_].leaf_iter_vars());
      attempt([&] {
        s[all_].compute_at(s[out_], place);
        s[init_].compute_at(s[out_], place);
      });
    }
    return s;
  }

 private:
  static constexpr int kSteps = 4, kSpace = 13;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  const IterVar& pick(const std::vector<IterVar>& axes) {
    return axes[static_cast<std::size_t>(below(static_cast<int>(axes.size())))];
  }

  /// In place most of the time.
  Expr neighbour(const Var& i) {
    switch (below(5)) {
      case 0:
        return tir::max(i - 1, 0);
      case 1:
        return tir::min(i + 2, kSpace - 1);
      case 2:
        return kSpace - 1 - Expr(i);
      default:
        return i;
    }
  }

  template <class F>
  void attempt(F f) {
    try {
      f();
    } catch (const ScheduleError&) {
      // Not legal here; the schedule is as it was.
    }
  }

  void change_loops(const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    const int number = 1 + below(5);
    switch (below(4)) {
      case 0:
        return attempt([&] { stage.split_by_nparts(axis, number); });
      case 1: {
        std::vector<IterVar> order = stage.leaf_iter_vars();
        std::shuffle(order.begin(), order.end(), random_);
        return attempt([&] { stage.reorder(order); });
      }
      default:
        return attempt([&] { stage.split(axis, number); });
    }
  }

  std::mt19937 random_;
  Tensor x_ = placeholder({kSteps, kSpace}, "x"), state_ = placeholder({kSteps, kSpace}, "state");
  Tensor init_ = x_, half_ = x_, update_ = x_, all_ = x_, out_ = x_;
  std::vector<Tensor> caches_;
};

TEST(RandomScans, ComputeTheSame) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomScan program(seed);
    const auto expected = testing::run(create_schedule(program.output()), program.arguments());
    ASSERT_EQ(testing::against_definition(program.arguments(), expected), "") << "seed " << seed;
    std::optional<Schedule> s;
    try {
      s = program.make_schedule();
      ASSERT_EQ(testing::run(*s, program.arguments()), expected)
          << "seed " << seed << "\n"
          << tir::print_stmt(schedule_ops(*s, infer_bound(*s)));
    } catch (const ScheduleError&) {
      // A place that some reader cannot see: found when the schedule is frozen.
    } catch (const BoundError&) {
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n"
             << tir::print_stmt(schedule_ops(*s, infer_bound(*s)));
    }
  }
}

}  // namespace

}  // namespace tenon::te
