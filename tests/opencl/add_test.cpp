// The whole way of a function for a device: built, called, read, saved, loaded.
#include <csignal>
#include <cstdio>

#include "add_one.h"
#include "tenon/codegen/llvm/compile.h"

namespace tenon::testing {
namespace {

using runtime::NDArray;

std::vector<float> sums(const NDArray& a, const NDArray& b) {
  std::vector<float> x = a.to_vector<float>();
  const std::vector<float> y = b.to_vector<float>();
  for (std::size_t n = 0; n < x.size(); ++n) x[n] += y[n];
  return x;
}

std::vector<float> added_by(const runtime::Function& function, std::int64_t n) {
  const NDArray a = NDArray::random({n}, Float(32), {.seed = 1}).copy_to(opencl(0));
  const NDArray b = NDArray::random({n}, Float(32), {.seed = 2}).copy_to(opencl(0));
  const NDArray c = NDArray::zeros({n}, Float(32), opencl(0));
  function(a, b, c);
  EXPECT_EQ(c.to_vector<float>(), sums(a, b));
  return c.to_vector<float>();
}

TEST_F(OpenCl, AnAddOfArraysOnTheDeviceGivesTheirSum) {
  added_by(Add(1024).build_for("opencl")["add"], 1024);
}

/// The handler of Ctrl-C.
void (*handler())(int) {
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  return now.sa_handler;
}

/// Read before any device is opened.
void (*const kHandlerOfTheProgram)(int) = handler();

TEST_F(OpenCl, DriversDoNotReplaceTheProgramsSignalHandlers) {
  added_by(Add(1024).build_for("opencl")["add"], 1024);
  EXPECT_EQ(handler(), kHandlerOfTheProgram);
}

codegen::Artifact compiled(const Add& add) {
  return compile(add.s, {add.A, add.B, add.C}, Target("opencl"), {.name = "add"});
}

std::optional<codegen::Artifact> restored(std::string_view bytes) {
  return codegen::restore(bytes, {Target("llvm").facts()}, {});
}

TEST(StoredCode, HasItsKernels) {
  const codegen::Artifact made = compiled(Add(1024));
  const std::string bytes = made.stored().value();
  const std::optional<codegen::Artifact> again = restored(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->source("opencl"), made.source("opencl"));
  EXPECT_EQ(again->stored(), bytes);
  for (std::size_t size = 0; size < bytes.size(); size += 97)
    EXPECT_FALSE(restored(std::string_view(bytes).substr(0, size))) << size;
}

TEST_F(OpenCl, RestoredCodeLaunchesItsKernels) {
  const std::string bytes = compiled(Add(1024)).stored().value();
  added_by(restored(bytes)->load()["add"], 1024);
}

TEST_F(OpenCl, ASizeThatNoBlockDividesIsGuarded) {
  added_by(Add(1000).build_for("opencl")["add"], 1000);
}

TEST_F(OpenCl, SizesMayBeSymbolic) {
  const Var n = te::size_var("n");
  const runtime::Module module = Add(n).build_for("opencl");
  for (std::int64_t size : {1, 63, 64, 65, 1000}) added_by(module["add"], size);
}

TEST_F(OpenCl, AnEmptyArrayNeedsNoLaunch) {
  const Var n = te::size_var("n");
  EXPECT_TRUE(added_by(Add(n).build_for("opencl")["add"], 0).empty());
}

TEST_F(OpenCl, TheSameArrayMayBeReadTwice) {
  const runtime::Module module = Add(64).build_for("opencl");
  const NDArray a = NDArray::random({64}, Float(32)).copy_to(opencl(0));
  const NDArray c = NDArray::zeros({64}, Float(32), opencl(0));
  module["add"](a, a, c);
  EXPECT_EQ(c.to_vector<float>(), sums(a, a));
}

TEST_F(OpenCl, ArraysOfTheHostAreRefusedBeforeTheLaunch) {
  const runtime::Module module = Add(64).build_for("opencl");
  const NDArray here = NDArray::zeros({64}, Float(32), cpu(0));
  try {
    module["add"](here, here, here);
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("expected an array on opencl, got one on cpu(0)"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(OpenCl, AnArrayThatIsWrittenIsNoOther) {
  const runtime::Module module = Add(64).build_for("opencl");
  const NDArray a = NDArray::zeros({64}, Float(32), opencl(0));
  try {
    module["add"](a, NDArray::zeros({64}, Float(32), opencl(0)), a);
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(
        std::string(error.what()).find("expected memory disjoint from that of argument 1 `A`"),
        std::string::npos)
        << error.what();
  }
}

TEST_F(OpenCl, TheSourceIsWhatAPersonWouldWrite) {
  EXPECT_EQ(Add(1024).build_for("opencl").get_source("opencl"), R"(// Made by Tenon.

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void add_kernel0(
    __global const float* restrict A,
    __global const float* restrict B,
    __global float* restrict C) {
  const int blockIdx_x = get_group_id(0);
  const int threadIdx_x = get_local_id(0);
  C[blockIdx_x * 64 + threadIdx_x] = A[blockIdx_x * 64 + threadIdx_x] + B[blockIdx_x * 64 + threadIdx_x];
}

)");
}

TEST_F(OpenCl, TimesAreThoseOfFinishedLaunches) {
  const runtime::Module module = Add(1 << 20).build_for("opencl");
  const NDArray a = NDArray::zeros({1 << 20}, Float(32), opencl(0));
  const NDArray c = NDArray::zeros({1 << 20}, Float(32), opencl(0));
  const runtime::Timing t =
      module["add"].time_evaluator(opencl(0), {.number = 3, .repeat = 2})(a, a, c);
  // 12 MiB are moved: no memory does that in a microsecond.
  EXPECT_GT(t.min, 1e-6);
}

TEST_F(OpenCl, ASavedLibraryCarriesItsKernels) {
  const std::string path = ::testing::TempDir() + "opencl_add.so";
  { Add(1024).build_for("opencl").save(path); }
  const runtime::Module loaded = runtime::Module::load(path);
  added_by(loaded["add"], 1024);
  EXPECT_EQ(loaded.get_source("opencl"), Add(1024).build_for("opencl").get_source("opencl"));
  std::remove(path.c_str());
}

TEST_F(OpenCl, AKernelThatTheDriverCannotCompileIsASentence) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return call_pure_extern(Float(32), "no_such_function", A(i)); },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  const runtime::Module module = build(s, {A, B}, Target("opencl"));
  const NDArray a = NDArray::zeros({64}, Float(32), opencl(0));
  try {
    module["main"](a, NDArray::zeros({64}, Float(32), opencl(0)));
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("OpenCL: compiling kernels failed"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tenon::testing
