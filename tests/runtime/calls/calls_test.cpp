// A call of a function that one holds costs no memory and no lock. A program of its own, because it
// counts both for the whole process.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tenon/runtime/module_impl.h"
#include "tenon/runtime/threads.h"

namespace {

std::atomic<int> allocations = 0;
std::atomic<int> locks = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// The library's would be the sanitizer's, which asks for a delete of its own.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return lock(mutex);
}

namespace tenon::runtime {
namespace {

struct Cost {
  int allocations = 0;
  int locks = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Cost& cost) {
    return out << cost.allocations << " allocations, " << cost.locks << " locks";
  }
};

/// The cost of one call, after the first.
template <class F>
Cost cost_of(F run) {
  run();
  const Cost before{allocations, locks};
  run();
  return {allocations - before.allocations, locks - before.locks};
}

ParamSpec array(const char* name, std::vector<Size> shape, Access access) {
  return {name, ArraySpec{.dtype = Float(32), .shape = std::move(shape), .access = access}};
}

std::int32_t nothing(const TenonValue*, const std::int32_t*, std::int32_t) { return kTenonOk; }

class NoModule : public ModuleImpl {
 public:
  std::string kind() const override { return "example"; }
  const std::vector<FunctionSpec>& functions() const override { return functions_; }
  Function::PackedCall lookup(const FunctionSpec&) override { return nothing; }

 private:
  std::vector<FunctionSpec> functions_ = {
      {.name = "a function whose name is long enough to need memory of its own",
       .symbol = "f",
       .params = {array("A", {Symbol{"n"}}, Access::Read)}},
      {.name = "g", .symbol = "g"}};
};

// The counting counts.
TEST(Counting, SeesWhatIsAllocatedAndLocked) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const Cost cost = cost_of([&] {
    delete new int(1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  EXPECT_GE(cost.allocations, 1);
  EXPECT_GE(cost.locks, 1);
}

TEST(Call, OfThreeArraysCostsNoMemoryAndNoLock) {
  const Function f({.name = "f",
                    .symbol = "f",
                    .params = {array("A", {8, 4}, Access::Read), array("B", {8, 4}, Access::Read),
                               array("C", {8, 4}, Access::Write)}},
                   nothing);
  const NDArray a = NDArray::zeros({8, 4}, Float(32)), b = NDArray::zeros({8, 4}, Float(32)),
                c = NDArray::zeros({8, 4}, Float(32));
  EXPECT_EQ(cost_of([&] { f(a, b, c); }), Cost());
}

TEST(Call, OfEightArgumentsWithSymbolsCostsNoMemoryAndNoLock) {
  const Symbol n{"n"}, m{"m"};
  std::vector<ParamSpec> params;
  for (const char* name : {"A", "B", "C", "D", "E", "F"})
    params.push_back(array(name, {n, m}, *name == 'F' ? Access::Write : Access::Read));
  params.push_back({"n", ScalarSpec{Int(32)}});
  params.push_back({"x", ScalarSpec{Float(32)}});
  const Function f({.name = "f", .symbol = "f", .params = params}, nothing);
  const NDArray in = NDArray::zeros({5, 7}, Float(32)), out = NDArray::zeros({5, 7}, Float(32));
  EXPECT_EQ(cost_of([&] { f(in, in, in, in, in, out, 5, 1.5); }), Cost());
}

TEST(Call, OfStridedArraysAndOfTensorsWithoutStridesCostsNoMemoryAndNoLock) {
  ParamSpec strided = array("A", {4, 4}, Access::Write);
  std::get<ArraySpec>(strided.type).strides = {Symbol{"s"}, 1};
  const Function f(
      {.name = "f", .symbol = "f", .params = {strided, array("B", {4, 4}, Access::Read)}}, nothing);
  const NDArray memory = NDArray::zeros({4, 8}, Float(32)), b = NDArray::zeros({4, 4}, Float(32));
  const NDArray every_second = memory.view({4, 4}, {8, 1}, 4);
  DLTensor without_strides = b.dl_tensor();
  without_strides.strides = nullptr;
  EXPECT_EQ(cost_of([&] { f(every_second, &without_strides); }), Cost());
}

TEST(Call, OfAFunctionLookedUpByNameCostsNoMemoryAndNoLock) {
  const Module mod(std::make_shared<NoModule>());
  const NDArray a = NDArray::zeros({3}, Float(32));
  EXPECT_EQ(
      cost_of([&] { mod["a function whose name is long enough to need memory of its own"](a); }),
      Cost());
}

TEST(ParallelLoop, OnOneThreadTakesNoLock) {
  set_num_threads(1);
  const TenonLoopBody body = [](void*, std::int64_t, std::int64_t) -> std::int32_t {
    return kTenonOk;
  };
  EXPECT_EQ(cost_of([&] { tenon_parallel_for(body, nullptr, 0, 100); }), Cost());
  set_num_threads(0);
}

TEST(NumberOfThreads, IsReadWithoutALock) {
  EXPECT_EQ(cost_of([] { (void)num_threads(); }), Cost());
}

}  // namespace
}  // namespace tenon::runtime
