// Random scans of which a part is read, under random schedules, compute what they compute under the
// plain one.
#include <gtest/gtest.h>

#include <random>

#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
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
