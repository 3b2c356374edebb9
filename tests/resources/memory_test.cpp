// Memory that cannot be had is an error like others, wherever it is asked for, and what is made and
// destroyed leaves nothing behind. The allocator of this program fails when it is told to.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <tenon/tenon.h>

#include <cstdlib>
#include <new>

#include "tenon/codegen/artifact.h"
#include "tenon/tir/print.h"
#include "tests/common/sanitized.h"

namespace {

/// Number of allocations of this thread that succeed before one is refused; negative: all succeed.
thread_local long granted = -1;
thread_local bool has_refused = false;

bool refuses() {
  if (granted < 0 || granted-- > 0) return false;
  has_refused = true;
  return true;
}

void* allocate(std::size_t size) {
  if (!refuses())
    if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
/// Never refused here: callers of this form, such as std::stable_sort, can do without the memory.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

/// Workspaces and arrays.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return refuses() ? nullptr : memalign(alignment, size);
}

namespace tenon {
namespace {

/// Runs `action` with the n-th allocation refused, for n = 0, 1, ... until it needs no more, in
/// ever larger steps; the number of allocations. It must throw whenever one is refused, unless it
/// `may_do_without`.
long refuse_each(const std::function<void()>& action, bool may_do_without = false) {
  long step = 1;
  for (long n = 0;; n += step) {
    if (n > 400) step = 1 + n / 40;
    has_refused = false;
    granted = n;
    std::string outcome = "returned";
    try {
      action();
    } catch (const std::bad_alloc&) {
      outcome = "bad_alloc";
    } catch (const Error&) {
      outcome = "error";
    }
    granted = -1;
    if (!has_refused) return n;
    if (outcome == "returned" && !may_do_without) {
      ADD_FAILURE() << "allocation " << n << " was refused, and nothing said so";
      return n;
    }
  }
}

/// A matrix product in tiles, with a cache and a producer at a loop of it.
struct Tiled {
  te::Tensor A = te::placeholder({33, 20}, "A"), B = te::placeholder({20, 17}, "B");
  te::IterVar k = te::reduce_axis({0, 20}, "k");
  te::Tensor twice = te::compute(
      {33, 20}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "twice");
  te::Tensor C = te::compute(
      {33, 17}, {"i", "j"}, [&](Var i, Var j) { return te::sum(twice(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);

  Tiled() {
    const te::Tensor local = s.cache_write(C, "local");
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 4);
    s[C].parallel(io).vectorize(ji);
    s[local].compute_at(s[C], jo);
    s[twice].compute_at(s[C], io);
  }
  std::vector<LowerArgument> args() const { return {A, B, C}; }
  /// (A stream that gets no memory says so by a flag.)
  std::string text() const { return tir::print_module(lower(s, args())); }
};

/// Sanitizers follow stacks by thread, so that the passes have one of their own there
/// (support/deep_stack.cpp), which is given all that it asks for.
constexpr const char* kOnAnotherStack = "instrumented passes run in another thread";

TEST(RefusedMemory, WhileAProgramIsMadeAndScheduled) {
  EXPECT_GT(refuse_each([] { const Tiled p; }), 100);
}

TEST(RefusedMemory, WhileItIsLowered) {
  if (testing::kIsSanitized) GTEST_SKIP() << kOnAnotherStack;
  const Tiled p;
  const std::string before = p.text();
  EXPECT_GT(refuse_each([&] { p.text(); }), 1000);
  EXPECT_EQ(p.text(), before);
}

TEST(RefusedMemory, WhilePrimitivesChangeACopyOfTheSchedule) {
  const Tiled p;
  const std::string before = p.text();
  EXPECT_GT(refuse_each([&] {
              const te::Schedule s = p.s.copy();
              const te::Stage stage = s[p.C];
              const auto [outer, inner] = stage.split(stage.leaf_iter_vars()[0], 3);
              stage.reorder({inner, outer}).unroll(inner);
              s.cache_read(p.B, "local", {});
              s.normalize();
            }),
            100);
  EXPECT_EQ(p.text(), before);
}

// LLVM itself ends the process when it gets no memory, so that C stands for what is compiled.
TEST(RefusedMemory, WhileItIsWrittenAsC) {
  if (testing::kIsSanitized) GTEST_SKIP() << kOnAnotherStack;
  const Tiled p;
  const Target target("c");
  const auto source = [&] { return compile(p.s, p.args(), target).source("c"); };
  const std::string before = source();
  EXPECT_GT(refuse_each([&] { source(); }), 1000);
  EXPECT_EQ(source(), before);
}

TEST(RefusedMemory, WhileArraysAreMade) {
  EXPECT_GT(refuse_each([] {
              const auto a = runtime::NDArray::zeros({100, 100}, Float(32));
              const auto b = runtime::NDArray::empty({100, 100}, Float(32), cpu(0));
              a.copy_to(b);
            }),
            1);
}

TEST(RefusedMemory, WhileAFunctionRuns) {
  // A workspace in each iteration, of memory that no call before it has left behind.
  te::Tensor A = te::placeholder({4, 30'000}, "A");
  te::IterVar k = te::reduce_axis({0, 30'000}, "k");
  te::Tensor B = te::compute(
      {4, 30'000}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return te::sum(B(i, k) * B(i, 29'999 - k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(0));
  const auto a = runtime::NDArray::zeros({4, 30'000}, Float(32));
  const auto c = runtime::NDArray::zeros({4}, Float(32));
  const runtime::Module module = build(s, {A, C});
  const runtime::Function f = module["main"];
  // Workspaces that are returned need not be kept for the next call.
  EXPECT_GE(refuse_each([&] { f(a, c); }, true), 1);
  EXPECT_EQ(c.data<float>()[3], 30'000.0f);
}

TEST(RefusedMemory, WhileArgumentsAreRefused) {
  const Tiled p;
  const runtime::Module module = build(p.s, p.args());
  const runtime::Function f = module["main"];
  const auto a = runtime::NDArray::zeros({33, 20}, Float(32));
  refuse_each([&] { EXPECT_THROW(f(a, a, a), std::exception); }, true);
}

// ---- nothing is left behind

/// Bytes that are handed out at the moment.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void build_run_destroy() {
  const Tiled p;
  const runtime::Module module = build(p.s, p.args(), Target("llvm"), {.opt_level = 1});
  const auto a = runtime::NDArray::zeros({33, 20}, Float(32));
  const auto b = runtime::NDArray::zeros({20, 17}, Float(32));
  const auto c = runtime::NDArray::zeros({33, 17}, Float(32));
  module["main"](a, b, c);
}

/// Sanitizers have allocators of their own, which find what is lost at the end of the program.
struct Cycles : ::testing::Test {
  void SetUp() override {
    const std::size_t before = bytes_in_use();
    const auto memory = std::make_unique<std::vector<char>>(1 << 16);
    if (bytes_in_use() < before + memory->size()) GTEST_SKIP() << "malloc does not count";
  }
};

template <class F>
std::int64_t growth_over(int cycles, F cycle) {
  const std::size_t before = bytes_in_use();
  for (int n = 0; n < cycles; ++n) cycle();
  return static_cast<std::int64_t>(bytes_in_use()) - static_cast<std::int64_t>(before);
}

// Caches (the threads' free lists, LLVM's tables) grow in steps, ever more rarely, so some
// stretches do not grow at all. A leak of each cycle shows in every stretch.
template <class F>
std::int64_t least_growth_of_ten(int stretches, F cycle) {
  std::int64_t least = growth_over(10, cycle);
  for (int n = 1; n < stretches && least > 0; ++n) least = std::min(least, growth_over(10, cycle));
  return least;
}

TEST_F(Cycles, OfBuildRunAndDestroyLeaveNothingBehind) {
  EXPECT_LE(least_growth_of_ten(60, build_run_destroy), 0);
}

/// The measure detects the smallest block of malloc, lost once in each cycle.
TEST_F(Cycles, TheLeastThatIsLostInEachIsSeen) {
  std::vector<std::unique_ptr<char>> lost;
  lost.reserve(1000);
  const auto cycle = [&] {
    build_run_destroy();
    lost.push_back(std::make_unique<char>());
  };
  // A stretch in which something kept is given back hides it, so the median counts.
  std::vector<std::int64_t> growths;
  for (int n = 0; n < 21; ++n) growths.push_back(growth_over(10, cycle));
  std::ranges::nth_element(growths, growths.begin() + 10);
  EXPECT_GE(growths[10], 10 * 16);
}

/// A function of one store, so that as many take less than a minute.
TEST_F(Cycles, TenThousandKeepNoMoreThanTheFirst) {
  te::Tensor A = te::placeholder({1}, "A");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const te::Schedule s = te::create_schedule(B);
  const auto a = runtime::NDArray::zeros({1}, Float(32));
  const auto b = runtime::NDArray::zeros({1}, Float(32));
  const auto cycle = [&] { build(s, {A, B}, Target("llvm"), {.opt_level = 0})["main"](a, b); };
  growth_over(1'000, cycle);
  EXPECT_LT(growth_over(9'000, cycle), 9'000);  // Not a byte for each.
}

TEST_F(Cycles, OfSchedulesThatAreLoweredLeaveNothingBehind) {
  const auto lower_once = [] { EXPECT_FALSE(Tiled().text().empty()); };
  for (int n = 0; n < 20; ++n) lower_once();
  const std::size_t before = bytes_in_use();
  for (int n = 0; n < 500; ++n) lower_once();
  EXPECT_LT(static_cast<std::int64_t>(bytes_in_use()) - static_cast<std::int64_t>(before), 4 << 10);
}

}  // namespace
}  // namespace tenon
