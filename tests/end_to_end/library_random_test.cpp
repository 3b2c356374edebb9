// Random small graphs of the library's operations, inlined by what they are: every way to run them
// agrees with the default schedule run by the interpreter.
#include <gtest/gtest.h>

#include <random>

#include "tenon/tir/expr.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

class RandomLibraryGraph {
 public:
  explicit RandomLibraryGraph(unsigned seed) : random_(seed) {
    keep(te::placeholder({below(3) + 1, below(4) + 2}, "A"));
    keep(te::placeholder({below(3) + 1, below(3) + 1, 4}, "B"));
    keep(te::placeholder({6}, "C"));
    args_.assign(tensors_.begin(), tensors_.end());
    args_.emplace_back(places_);
    for (int count = 2 + below(5); count > 0; --count) {
      try {
        add();
      } catch (const TypeError&) {
        // Shapes that do not go together.
      }
    }
    result_ = topi::negative(tensors_.back());
    args_.emplace_back(*result_);
  }

  te::Schedule inlined() {
    te::Schedule s = te::create_schedule(*result_);
    count_ = (below(2) == 0 ? te::auto_inline_injective(s) : te::auto_inline_broadcast(s)).size();
    return s;
  }
  std::size_t inlined_count() const { return count_; }
  const std::vector<LowerArgument>& args() const { return args_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  const te::Tensor& pick() {
    return tensors_[static_cast<std::size_t>(below(static_cast<int>(tensors_.size())))];
  }
  int axis_of(const te::Tensor& x) { return below(std::max(x.ndim(), 1)); }
  static int extent(const te::Tensor& x, int n) {
    return static_cast<int>(*tir::constant_int(x.shape()[static_cast<std::size_t>(n)]));
  }
  static int elements(const te::Tensor& x) {
    int count = 1;
    for (int n = 0; n < x.ndim(); ++n) count *= extent(x, n);
    return count;
  }
  void keep(te::Tensor x) {
    // Tensors that grow with every step would soon take all of the time.
    if (elements(x) <= 600) tensors_.push_back(std::move(x));
  }

  /// In two or three dimensions, of any extents that give as many elements.
  std::vector<Expr> shape_of(int count) {
    std::vector<Expr> shape;
    for (int dimensions = 1 + below(2); dimensions > 0; --dimensions) {
      std::vector<int> divisors;
      for (int d = 1; d <= count; ++d)
        if (count % d == 0) divisors.push_back(d);
      const int extent =
          divisors[static_cast<std::size_t>(below(static_cast<int>(divisors.size())))];
      shape.emplace_back(extent);
      count /= extent;
    }
    shape.emplace_back(count);
    return shape;
  }

  void add() {
    const te::Tensor x = pick(), y = pick();
    const int axis = axis_of(x);
    // A tensor of rank 0 has no dimension to be parted.
    switch (below(x.ndim() == 0 ? 9 : 15)) {
      case 0:
        return keep(x + y);
      case 1:
        return keep(x * 0.5f - y);
      case 2:
        return keep(topi::maximum(x, y));
      case 3:
        return keep(topi::relu(x));
      case 4:
        return keep(topi::transpose(x));
      case 5:
        return keep(topi::reshape(x, shape_of(elements(x))));
      case 6:
        return keep(topi::expand_dims(x, axis));
      case 7:
        return keep(topi::concatenate({x, y, x}, axis));
      case 8:
        return keep(topi::stack({x, y}, axis));
      case 9:
        return keep(topi::split(x, {extent(x, axis) / 2}, axis)[1]);
      case 10:
        return keep(topi::strided_slice(x, {-1}, {-99}, {-1}));
      case 11:
        return keep(topi::take(x, places_, axis));
      case 12:
        return keep(topi::pad(x, {1}, {0, 2}, 0.25f));
      case 13:
        return keep(topi::sum(x, {axis}, {.keepdims = below(2) == 0}));
      default:
        return keep(topi::cast(topi::argmax(x, {axis}), Float(32)));
    }
  }

  std::mt19937 random_;
  te::Tensor places_ = te::placeholder({2}, "Places", Int(32));
  std::vector<te::Tensor> tensors_;
  std::optional<te::Tensor> result_;
  std::vector<LowerArgument> args_;
  std::size_t count_ = 0;
};

TEST(LibraryRandomTest, InlinedGraphsComputeWhatTheDefaultScheduleComputes) {
  std::size_t inlined = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomLibraryGraph graph(seed);
    const te::Schedule s = graph.inlined();
    EXPECT_EQ(compare_with_default(s, graph.args(), {.compile = seed < 30}), "") << "seed " << seed;
    inlined += graph.inlined_count();
  }
  EXPECT_GT(inlined, 200u);
}

}  // namespace
}  // namespace tenon::testing
