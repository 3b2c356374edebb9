// Automatic inlining of random graphs: what is left computes what the default schedule computes.
#include <gtest/gtest.h>

#include <random>

#include "matrices.h"
#include "tenon/te/auto_inline.h"
#include "tenon/te/reduce.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
namespace {

class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    const int count = 3 + below(6);
    for (int n = 0; n < count; ++n) add("T" + std::to_string(n));
    outputs_.push_back(tensors_.back());
    if (chance(4)) outputs_.push_back(pick(tensors_));
    if (outputs_.size() == 2 && outputs_[1].op().as<Placeholder>()) outputs_.pop_back();
    if (outputs_.size() == 2 && outputs_[1].op().same_as(outputs_[0].op())) outputs_.pop_back();
  }

  Schedule plain() const { return create_schedule(outputs_); }
  std::vector<Tensor> arguments() const {
    std::vector<Tensor> all{matrix_, row_};
    all.insert(all.end(), outputs_.begin(), outputs_.end());
    return all;
  }

  /// A few primitives, so that stages are touched, attached to and inlined.
  Schedule touched() {
    Schedule s = plain();
    for (int steps = below(4); steps > 0; --steps) {
      try {
        touch(s);
      } catch (const ScheduleError&) {
        // Not legal here; the schedule is as it was.
      }
    }
    return s;
  }

  std::vector<Operation> inline_some(const Schedule& s) {
    switch (below(3)) {
      case 0:
        return auto_inline_elementwise(s);
      case 1:
        return auto_inline_broadcast(s);
      default:
        return auto_inline_injective(s);
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

  void add(const std::string& name) {
    const Tensor P = chance(2) ? pick(tensors_) : tensors_.back(), Q = pick(tensors_);
    const IterVar k = reduce_axis({0, kColumns}, "k");
    switch (below(9)) {
      case 0:
        return keep(plus_one(P, name));
      case 1:
        return keep(matrix(name, [&](Var i, Var j) { return P(i, j) - Q(i, j); }));
      case 2:
        return keep(matrix(name, [&](Var i, Var j) { return P(i, j) + row_(j); }));
      case 3:
        return keep(matrix(name, [&](Var i, Var j) { return P(kRows - 1 - i, j) + Q(i, j); }));
      case 4:
        return keep(matrix(name, [&](Var i, Var j) {
          return if_then_else(j >= 1, P(i, j - 1), 0.0f) + if_then_else(i >= 1, Q(i - 1, j), 1.0f);
        }));
      case 5:
        return keep(
            matrix(name, [&](Var i, Var j) { return sum(P(i, k), {k}, {.where = k <= j}); }));
      case 6: {
        const std::vector<Tensor> both = compute_multi(
            {kRows, kColumns}, {"i", "j"},
            [&](Var i, Var j) {
              return std::vector<Expr>{P(i, j) - 1.0f, Q(i, j) + 2.0f};
            },
            name);
        keep(both[0]);
        return keep(both[1]);
      }
      case 7:
        return keep(over_time(P, Q, name));
      default:
        return keep(doubled(P, name));
    }
  }

  void keep(const Tensor& t) { tensors_.push_back(t); }

  static Tensor over_time(const Tensor& P, const Tensor& Q, const std::string& name) {
    Tensor state = placeholder({kRows, kColumns}, name + ".state");
    Tensor init = compute(
        {1, kColumns}, {"t", "j"}, [&](Var, Var j) { return P(0, j); }, name + ".init");
    Tensor scaled = plus_one(Q, name + ".scaled");
    Tensor half =
        matrix(name + ".half", [&](Var t, Var j) { return state(t - 1, j) + scaled(t, j); });
    Tensor update = matrix(name + ".update", [&](Var t, Var j) { return half(t, j) - P(t, j); });
    return scan(init, update, state, {}, name);
  }

  void touch(Schedule& s) {
    const Tensor T = pick(tensors_);
    const Stage stage = s[T];
    if (stage.leaf_iter_vars().empty()) return;
    const IterVar axis = pick(stage.leaf_iter_vars());
    switch (below(6)) {
      case 0:
        stage.split(axis, 2);
        return;
      case 1:
        stage.set_scope("local");
        return;
      case 2:
        s.cache_read(T, "local", {});
        return;
      case 3:
        s.cache_write(T, "local");
        return;
      case 4:
        stage.compute_inline();
        return;
      default: {
        const Tensor P = pick(tensors_);
        s[P].compute_at(stage, axis);
      }
    }
  }

  std::mt19937 random_;
  Tensor matrix_ = placeholder({kRows, kColumns}, "A"), row_ = placeholder({kColumns}, "Row");
  std::vector<Tensor> tensors_{matrix_};
  std::vector<Tensor> outputs_;
};

TEST(RandomAutoInlineTest, ComputesWhatTheDefaultScheduleComputes) {
  int inlined = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph graph(seed);
    const Schedule s = graph.touched();
    std::vector<testing::Array> before;
    try {
      before = testing::run(s, graph.arguments());
    } catch (const Error&) {
      // A place that some reader cannot see: the primitives by themselves are wrong.
      continue;
    }
    inlined += static_cast<int>(graph.inline_some(s).size());
    EXPECT_EQ(testing::run(s, graph.arguments()), testing::run(graph.plain(), graph.arguments()));
    EXPECT_EQ(before, testing::run(graph.plain(), graph.arguments()));
  }
  EXPECT_GT(inlined, 400);
}

}  // namespace
}  // namespace tenon::te
