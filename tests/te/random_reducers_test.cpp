// Reductions by reducers of every kind (associative or not, commutative or not, with identities
// that are not neutral), over ranges that depend on other axes, with integers of the whole range:
// random schedules give what the plain one gives, or are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tenon/interp/evaluate.h"
#include "tenon/te/freeze.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/print.h"

namespace tenon::te {
namespace {

using Args = std::span<const Var>;
using List = std::vector<Expr>;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {
    const std::vector<DataType> types = {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(32)};
    input_ = placeholder({below(6) + 1, below(8) + 1}, "A", pick(types));
    reduction_ = make_reduction();
    output_ = compute(
        {rows(), 2}, {"i", "j"},
        [&](Var i, Var j) { return reduction_[0](i, 0) * cast(reduction_[0].dtype(), j + 1); },
        "C");
  }

  std::vector<Tensor> arguments() const { return {*input_, *output_}; }
  Schedule plain() const { return create_schedule(*output_); }

  Schedule scheduled() {
    Schedule s = plain();
    const Stage stage = s[reduction_[0]];
    if (chance(4)) attempt([&] { s.cache_write(reduction_, "global"); });
    for (int steps = below(5); steps > 0; --steps) change(stage);
    if (chance(2)) {
      const IterVar axis = pick(stage.leaf_iter_vars());
      note("rfactor " + axis.name());
      attempt([&] {
        const Stage parts = s[s.rfactor(reduction_, axis, chance(2) ? 0 : -1)[0]];
        for (int steps = below(3); steps > 0; --steps) change(parts);
        if (chance(2)) parts.compute_at(stage, pick(stage.leaf_iter_vars()));
      });
    }
    if (chance(3)) bind(stage);
    if (chance(2)) stage.compute_at(s[*output_], s[*output_].axis(below(2)));
    return s;
  }

  const std::string& log() const { return log_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  void note(const std::string& text) { log_ += text + "\n"; }
  template <class F>
  void attempt(F f) {
    try {
      f();
    } catch (const ScheduleError& error) {
      note("  refused: " + std::string(error.what()));
    }
  }

  int rows() const { return static_cast<int>(*tir::constant_int(input_->shape()[0])); }
  int columns() const { return static_cast<int>(*tir::constant_int(input_->shape()[1])); }
  Expr constant(std::int64_t value) const { return tir::make_int(input_->dtype(), value); }

  /// A reducer of one component.
  Reducer reducer(const std::function<Expr(Expr, Expr)>& combine, std::int64_t identity) const {
    return reducer(combine, constant(identity));
  }
  static Reducer reducer(const std::function<Expr(Expr, Expr)>& combine, const Expr& identity) {
    return comm_reducer([=](Args x, Args y) { return List{combine(x[0], y[0])}; },
                        [=](std::span<const DataType>) { return List{identity}; }, "r");
  }

  /// A reducer that may use an axis.
  Reducer any_reducer(const Var& row) {
    const Expr none = constant(0), limit = constant(100);
    const Expr is_even = tir::floormod(row, 2) == 0, own = tir::cast(none.dtype(), row);
    const int kind = below(10);
    note("reducer " + std::to_string(kind));
    switch (kind) {
      case 0:
        return reducer([](Expr x, Expr y) { return x + y; }, 0);
      case 1:
        return reducer([](Expr x, Expr y) { return x + y; }, 1);
      case 2:
        return reducer([](Expr x, Expr y) { return x - y; }, 0);
      case 3:
        return reducer([](Expr x, Expr y) { return tir::max(x, y); }, 5);
      case 4:
        return reducer([=](Expr x, Expr y) { return tir::min(x + y, limit); }, 0);
      case 5:
        return reducer([=](Expr x, Expr y) { return tir::select(x != none, x, y); }, 0);
      case 6:
        return reducer([=](Expr x, Expr y) { return tir::select(y != none, y, x); }, 0);
      case 7:
        return reducer([=](Expr x, Expr y) { return tir::select(is_even, x + y, tir::max(x, y)); },
                       tir::select(is_even, none, tir::min_value(none.dtype())));
      case 8:
        return reducer([=](Expr x, Expr y) { return tir::max(x + y, own); }, own);
      default:
        return reducer([](Expr x, Expr y) { return x * 3 + y; }, 0);
    }
  }

  std::vector<Tensor> make_reduction() {
    const Tensor& A = *input_;
    const int n = rows(), m = columns(), kind = below(5);
    note(A.dtype().str() + ", reduction " + std::to_string(kind));
    IterVar k = reduce_axis({0, m}, "k"), r = reduce_axis({0, n}, "r");
    if (kind == 0) {
      // x -> a * x + b: composed in order.
      const Reducer affine = comm_reducer(
          [](Args x, Args y) {
            return List{x[0] * y[0], x[1] * y[0] + y[1]};
          },
          [this](std::span<const DataType>) {
            return List{constant(1), constant(0)};
          });
      return compute_multi(
          {n, 1}, {"i", "j"},
          [&](Var i, Var) {
            return affine({A(r, k), A(r, k) + cast(A.dtype(), i)}, {r, k});
          },
          "R");
    }
    if (kind == 1) {
      const Reducer first_largest = comm_reducer(
          [](Args x, Args y) -> List {
            return {tir::select(x[1] >= y[1], x[0], y[0]), tir::select(x[1] >= y[1], x[1], y[1])};
          },
          [](std::span<const DataType> t) -> List {
            return {tir::make_const(t[0], -1), tir::min_value(t[1])};
          });
      return compute_multi(
          {n, 1}, {"i", "j"},
          [&](Var i, Var) {
            return first_largest({k, A(i, k)}, {k});
          },
          "R");
    }
    ReduceOptions options;
    if (chance(3)) options.init = {Expr(3)};
    const auto make = [&](const std::function<Expr(Var)>& body) {
      return std::vector<Tensor>{compute(
          {n, 1}, {"i", "j"}, [&](Var i, Var) { return body(i); }, "R")};
    };
    if (kind == 2) {
      return make([&](Var i) {
        IterVar limited = reduce_axis({0, tir::min(i + 1, m)}, "limited");
        return any_reducer(i)(A(i, limited), {limited}, options);
      });
    }
    if (kind == 3) {
      IterVar inner = reduce_axis({0, k + 1}, "inner");
      return make([&](Var i) {
        return any_reducer(i)(A(i, k) * A(i, inner), {k, inner}, options);
      });
    }
    return make([&](Var i) {
      if (chance(2)) options.where = k <= i;
      return any_reducer(i)(A(r, k) + cast(A.dtype(), i), {r, k}, options);
    });
  }

  void change(const Stage& stage) {
    std::vector<IterVar> loops = stage.leaf_iter_vars();
    const IterVar axis = pick(loops);
    switch (below(4)) {
      case 0:
        note("split " + axis.name());
        return attempt([&] { stage.split(axis, 1 + below(4)); });
      case 1:
        note("split_by_nparts " + axis.name());
        return attempt([&] { stage.split_by_nparts(axis, 1 + below(4)); });
      case 2: {
        const std::size_t n = static_cast<std::size_t>(below(static_cast<int>(loops.size())));
        if (n + 1 == loops.size()) return;
        note("fuse " + loops[n].name() + " " + loops[n + 1].name());
        return attempt([&] { stage.fuse(loops[n], loops[n + 1]); });
      }
      default:
        std::shuffle(loops.begin(), loops.end(), random_);
        note("reorder");
        for (const IterVar& loop : loops) log_ += " " + loop.name();
        return attempt([&] { stage.reorder(loops); });
    }
  }

  void bind(const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    note("bind " + axis.name());
    attempt([&] { stage.bind(axis, thread_axis("threadIdx.x")); });
  }

  std::mt19937 random_;
  std::optional<Tensor> input_, output_;
  std::vector<Tensor> reduction_;
  std::string log_;
};

using Bytes = std::vector<unsigned char>;

/// Zeros, ends of the type, small and arbitrary numbers.
Bytes values_of(const Tensor& tensor, unsigned seed) {
  std::size_t count = 1;
  for (const Expr& extent : tensor.shape())
    count *= static_cast<std::size_t>(*tir::constant_int(extent));
  const std::size_t width = static_cast<std::size_t>(tensor.dtype().bits) / 8;
  Bytes bytes(count * width);
  std::mt19937_64 random(seed);
  const std::uint64_t lowest = std::uint64_t{1} << (tensor.dtype().bits - 1);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint64_t choices[] = {random(), lowest, lowest - 1, random() % 3,
                                     random() % 200 - 100};
    std::memcpy(&bytes[n * width], &choices[random() % 5], width);
  }
  return bytes;
}

Bytes run(const Schedule& s, const std::vector<Tensor>& arguments, unsigned seed) {
  const StageGraph graph = freeze(s);
  const tir::PrimFunc func = schedule_ops(
      graph, infer_bound(graph), std::vector<FunctionArgument>(arguments.begin(), arguments.end()));
  std::vector<Bytes> memory;
  std::vector<tir::HostValue> values;
  for (const Tensor& tensor : arguments) memory.push_back(values_of(tensor, seed));
  for (std::size_t n = 0; n < memory.size(); ++n) {
    std::vector<std::int64_t> shape;
    for (const Expr& extent : arguments[n].shape()) shape.push_back(*tir::constant_int(extent));
    values.push_back(tir::HostArray{memory[n].data(), arguments[n].dtype(), shape});
  }
  tir::evaluate(func, values, {.check_uninitialized = true});
  return memory.back();
}

class RandomReducer : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomReducer, GivesTheSameUnderEverySchedule) {
  constexpr unsigned kPerCase = 200;
  int ran = 0;
  for (unsigned seed = GetParam() * kPerCase; seed < (GetParam() + 1) * kPerCase; ++seed) {
    Generator generator(seed);
    const Bytes expected = run(generator.plain(), generator.arguments(), seed);
    try {
      EXPECT_EQ(run(generator.scheduled(), generator.arguments(), seed), expected)
          << "seed " << seed << "\n"
          << generator.log();
      ++ran;
    } catch (const ScheduleError&) {
    } catch (const BoundError&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\nseed " << seed << "\n" << generator.log();
    }
  }
  EXPECT_GT(ran, static_cast<int>(kPerCase) / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomReducer, ::testing::Range(0u, 10u));

}  // namespace
}  // namespace tenon::te
