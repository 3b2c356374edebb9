// The compiler and what it makes, used from many threads at once, and after a fork.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <sstream>
#include <thread>

#include "tests/common/sanitized.h"

namespace tenon {
namespace {

constexpr int kThreads = 16, kRows = 64, kColumns = 48;

/// Runs f(0), ..., f(15) at the same time; the first exception that one of them ends with.
std::string at_once(const std::function<void(int)>& f) {
  std::vector<std::string> errors(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> waiting = kThreads;
  for (int n = 0; n < kThreads; ++n)
    threads.emplace_back([&, n] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      try {
        f(n);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(n)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors)
    if (!error.empty()) return error;
  return "";
}

/// Rows of sums with a temporary that is too large for the stack, in a parallel loop.
struct RowSums {
  te::Tensor A = te::placeholder({kRows, kColumns}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 4096}, "k");
  te::Tensor B = te::compute(
      {kRows, 4096}, {"i", "j"}, [&](Var i, Var j) { return A(i, floormod(j, kColumns)) + j; },
      "B");
  te::Tensor C = te::compute(
      {kRows}, {"i"}, [&](Var i) { return te::sum(B(i, k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);

  RowSums() {
    s[C].parallel(s[C].axis(0));
    s[B].compute_at(s[C], s[C].axis(0));
  }
  std::vector<LowerArgument> args() const { return {A, C}; }

  static std::vector<int> inputs(int seed) {
    std::vector<int> values(kRows * kColumns);
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<int>(n) * 7 % 31 + seed;
    return values;
  }
  static int expected(const std::vector<int>& in, int row) {
    int sum = 0;
    for (int j = 0; j < 4096; ++j)
      sum += in[static_cast<std::size_t>(row * kColumns + j % kColumns)] + j;
    return sum;
  }
  static void check(const runtime::Function& f, int seed) {
    const std::vector<int> in = inputs(seed);
    const auto a = runtime::NDArray::from(in, {kRows, kColumns});
    const auto c = runtime::NDArray::zeros({kRows}, Int(32));
    f(a, c);
    for (int row = 0; row < kRows; ++row)
      if (c.data<int>()[row] != expected(in, row))
        throw std::runtime_error("row " + std::to_string(row) + " of seed " + std::to_string(seed));
  }
};

TEST(SixteenThreads, BuildProgramsOfTheirOwn) {
  EXPECT_EQ(at_once([](int n) {
              for (int round = 0; round < 3; ++round) {
                const RowSums p;
                RowSums::check(build(p.s, p.args())["main"], n);
              }
            }),
            "");
}

TEST(SixteenThreads, BuildOneSchedule) {
  const RowSums p;
  std::ostringstream expected;
  expected << lower(p.s, p.args());
  EXPECT_EQ(at_once([&](int n) {
              std::ostringstream text;
              text << lower(p.s, p.args());
              if (text.str() != expected.str()) throw std::runtime_error("another text");
              RowSums::check(build(p.s, p.args())["main"], n);
            }),
            "");
}

TEST(SixteenThreads, CallOneFunction) {
  const RowSums p;
  const runtime::Module module = build(p.s, p.args());
  EXPECT_EQ(at_once([&](int n) {
              for (int round = 0; round < 20; ++round) RowSums::check(module["main"], n + round);
            }),
            "");
}

TEST(ParallelLoops, ThreeDeepInOneAnother) {
  te::Tensor A = te::placeholder({6, 10, 14}, "A", Int(32));
  te::Tensor B = te::compute(
      {6, 10, 14}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return A(i, j, k) * 2; }, "B");
  te::Schedule s = te::create_schedule(B);
  for (int n = 0; n < 3; ++n) s[B].parallel(s[B].axis(n));
  const runtime::Module module = build(s, {A, B});
  std::vector<int> in(6 * 10 * 14);
  std::iota(in.begin(), in.end(), 1);
  for (const int threads : {1, 2, 7}) {
    runtime::set_num_threads(threads);
    const auto a = runtime::NDArray::from(in, {6, 10, 14});
    const auto b = runtime::NDArray::zeros({6, 10, 14}, Int(32));
    module["main"](a, b);
    for (std::size_t n = 0; n < in.size(); ++n) ASSERT_EQ(b.data<int>()[n], 2 * in[n]);
  }
  runtime::set_num_threads(0);
}

/// B[i] = A[I[i]], checked, in a parallel loop.
TEST(ParallelLoops, ABodyThatFailsStopsTheCallAndHarmsNoOther) {
  te::Tensor A = te::placeholder({10}, "A", Int(32)), I = te::placeholder({500}, "I", Int(32));
  te::Tensor B = te::compute(
      {500}, {"i"}, [&](Var i) { return A(I(i)); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].parallel(s[B].axis(0));
  const runtime::Module module = build(s, {A, I, B}, Target("llvm"), {.instrument_bounds = true});
  std::vector<int> good(500, 3), bad(500, 3);
  bad[377] = 12;
  const auto a = runtime::NDArray::from(std::vector<int>{0, 1, 2, 30, 4, 5, 6, 7, 8, 9}, {10});
  const auto b = runtime::NDArray::zeros({500}, Int(32));
  runtime::set_num_threads(4);
  EXPECT_EQ(at_once([&](int n) {
              const auto out = runtime::NDArray::zeros({500}, Int(32));
              for (int round = 0; round < 20; ++round) {
                const bool fails = (n + round) % 3 == 0;
                const auto indices = runtime::NDArray::from(fails ? bad : good, {500});
                std::string error;
                try {
                  module["main"](a, indices, out);
                } catch (const RuntimeError& e) {
                  error = e.what();
                }
                if (fails != (error.find("12") != error.npos))
                  throw std::runtime_error("not what was expected: '" + error + "'");
                if (!fails && out.data<int>()[499] != 30) throw std::runtime_error("wrong numbers");
              }
            }),
            "");
  runtime::set_num_threads(0);
}

TEST(Fork, AChildCallsAndBuildsWhatItsParentDid) {
  if (testing::kIsThreadSanitized) GTEST_SKIP() << "no threads after a fork";
  const RowSums p;
  const runtime::Module module = build(p.s, p.args());
  runtime::set_num_threads(4);
  RowSums::check(module["main"], 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      RowSums::check(module["main"], 2);
      RowSums::check(build(p.s, p.args())["main"], 3);
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  RowSums::check(module["main"], 4);
  runtime::set_num_threads(0);
}

}  // namespace
}  // namespace tenon
