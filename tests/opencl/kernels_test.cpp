// Checks the parts of kernels, each in a small program, against the interpreter on OpenCL's device.
#include "add_one.h"
#include "tenon/runtime/device_api.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// Runs nothing but the interpreter and the device.
const WaysToRun kOnDevice = {.compile = false, .interpret = false};

te::Schedule bound(const te::Tensor& C, int threads = 32) {
  te::Schedule s = te::create_schedule(C);
  auto [block, thread] = s[C].split(s[C].axis(0), threads);
  s[C].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  return s;
}

TEST_F(OpenCl, EveryTypeIsAdded) {
  for (const DataType t : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64),
                           Float(16), BFloat(16), Float(32), Float(64)}) {
    const Add add(100, t);
    EXPECT_EQ(compare_with_default(add.s, {add.A, add.B, add.C}, kOnDevice), "") << t.str();
  }
}

TEST_F(OpenCl, TilesAreSharedByTheThreadsOfABlock) {
  const int n = 96;
  te::Tensor A = te::placeholder({n, n}, "A"), B = te::placeholder({n, n}, "B");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor CL = s.cache_write(C, "local");
  te::Tensor AS = s.cache_read(A, "shared", {CL}), BS = s.cache_read(B, "shared", {CL});
  auto [by, bx, ty, tx] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 8);
  s[C].bind(by, te::thread_axis("blockIdx.y")).bind(bx, te::thread_axis("blockIdx.x"));
  s[C].bind(ty, te::thread_axis("threadIdx.y")).bind(tx, te::thread_axis("threadIdx.x"));
  s[CL].compute_at(s[C], tx);
  auto [ko, ki] = s[CL].split(s[CL].reduce_axis(0), 8);
  s[CL].reorder({ko, ki, s[CL].axis(0), s[CL].axis(1)});
  for (const te::Tensor& tile : {AS, BS}) {
    s[tile].compute_at(s[CL], ko);
    s[tile].bind(s[tile].axis(0), te::thread_axis("threadIdx.y"));
    s[tile].bind(s[tile].axis(1), te::thread_axis("threadIdx.x"));
  }
  EXPECT_EQ(compare_with_default(s, {A, B, C}, kOnDevice), "");
  const std::string source = build(s, {A, B, C}, Target("opencl")).get_source("opencl");
  EXPECT_NE(source.find("\n  __local float A_shared[64];\n"), std::string::npos) << source;
  EXPECT_NE(source.find("barrier(CLK_LOCAL_MEM_FENCE"), std::string::npos) << source;
}

// Eight threads add up each factor of a sum that seven threads add up, of which three have one.
TEST_F(OpenCl, AReductionInsideOfOneOfFewerThreadsHasAllOfItsThreads) {
  te::Tensor A = te::placeholder({3, 16}, "A");
  te::IterVar j = te::reduce_axis({0, 3}, "j"), k = te::reduce_axis({0, 16}, "k");
  te::Tensor B = te::compute(
      {16}, {"i"},
      [&](Var i) {
        return te::sum(A(j, k) + i, {j, k});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor BF = s.rfactor(B, j, 1);
  auto [outer, seven] = s[B].split(s[B].reduce_axis(0), 7);
  auto [ko, eight] = s[BF].split(s[BF].reduce_axis(0), 8);
  s[BF].bind(eight, te::thread_axis("threadIdx.x")).compute_at(s[B], outer);
  s[B].bind(seven, te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, B}, kOnDevice), "");
}

// A loop of one iteration bound to the threads that reduce: each of them reads a factor of its own.
TEST_F(OpenCl, EveryThreadOfAReductionComputesWhatItHasForItself) {
  te::Tensor A = te::placeholder({8, 8}, "A");
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor BF = s.rfactor(B, k);
  auto [outer, inner] = s[B].split(s[B].reduce_axis(0), 4);
  s[B].bind(inner, te::thread_axis("threadIdx.x"));
  s[BF].compute_at(s[B], outer).bind(s[BF].axis(1), te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, B}, kOnDevice), "");
}

TEST_F(OpenCl, PiecesOfDynamicSharedMemoryStayApart) {
  te::Tensor A = te::placeholder({60}, "A", Int(8)), B = te::placeholder({60}, "B", Int(32));
  te::Tensor C = te::compute(
      {60}, {"i"}, [&](Var i) { return cast(Int(32), A(59 - i)) * 1000 + B(59 - i); }, "C");
  te::Schedule s = te::create_schedule(C);
  auto [block, thread] = s[C].split_by_nparts(s[C].axis(0), 1);
  s[C].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  for (const te::Tensor& input : {A, B}) {
    te::Tensor cache = s.cache_read(input, "shared.dyn", {C});
    s[cache].compute_at(s[C], block).bind(s[cache].axis(0), te::thread_axis("threadIdx.x"));
  }
  EXPECT_EQ(compare_with_default(s, {A, B, C}, kOnDevice), "");
  const std::string source = build(s, {A, B, C}, Target("opencl")).get_source("opencl");
  // Memory for bytes begins at any address: with NVIDIA's driver at 0x401.
  EXPECT_NE(source.find("__local ulong16* shared_vectors"), std::string::npos) << source;
}

TEST_F(OpenCl, BlocksLongerThanTheDeviceAllowsAreASentence) {
  const std::vector<runtime::KernelSpec> specs{{.name = "f"}};
  const auto kernels =
      runtime::device_api(DeviceType::OpenCL)
          .load_kernels(0, {.kernels = specs, .source = "__kernel void f() {}", .binary = {}});
  try {
    kernels->launch(0, {}, {{1, 1, 1}, {1, 1, std::size_t{1} << 30}, 0});
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("has blocks of 1 x 1 x 1073741824 threads; `"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(OpenCl, AnArrayLargerThanTheMemoryOfTheDeviceIsASentence) {
  try {
    static_cast<void>(runtime::NDArray::empty({std::int64_t{1} << 50}, Int(8), opencl(0)));
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot allocate 1125899906842624 bytes; the device"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(OpenCl, KernelsHandOnWhatTheyComputeInMemoryOfTheDevice) {
  const Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A", Int(32));
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 3; }, "B");
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return B(n - 1 - i) + B(i); }, "C");
  te::Schedule s = te::create_schedule(C);
  for (const te::Tensor& stage : {B, C}) {
    auto [block, thread] = s[stage].split(s[stage].axis(0), 16);
    s[stage].bind(block, te::thread_axis("blockIdx.x"));
    s[stage].bind(thread, te::thread_axis("threadIdx.x"));
  }
  WaysToRun ways = kOnDevice;
  ways.symbols = {1, 15, 16, 100};
  EXPECT_EQ(compare_with_default(s, {A, C}, ways), "");
  const std::string source = build(s, {A, C}, Target("opencl"), {.name = "f"}).get_source("opencl");
  EXPECT_NE(source.find("f_kernel1("), std::string::npos) << source;
}

TEST_F(OpenCl, ARegionOfThreadsOfTheHostLaunchesKernelsInOrder) {
  te::Tensor A = te::placeholder({6, 16}, "A");
  te::Tensor B = te::compute(
      {6, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::IterVar i = s[B].axis(0), outermost = s[B].split_by_nparts(i, 1).outer;
  s[B].pragma(outermost, "parallel_launch_point");
  s[B].parallel(s[B].leaf_iter_vars()[1]).bind(s[B].axis(1), te::thread_axis("blockIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, B}, kOnDevice), "");
}

TEST_F(OpenCl, FunctionsOfMathematics) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor C = te::compute(
      {64}, {"i"},
      [&](Var i) {
        const Expr x = abs(A(i)) + 0.25f;
        return exp(-x) + log(x) + sqrt(x) + rsqrt(x) + pow(x, 1.5f) + sin(x) + cos(x) + tan(x) +
               tanh(x) + sinh(x) + cosh(x) + atan(x) + atan2(x, 2.0f) + erf(x) + sigmoid(x) +
               floor(x) + ceil(x) + round(x) + trunc(x) + nearbyint(x) + fma(x, x, x) +
               fmod(x, 0.3f) + exp2(x) + log2(x) + log10(x) + exp10(x * 0.1f);
      },
      "C");
  EXPECT_EQ(compare_with_default(bound(C), {A, C}, kOnDevice), "");
}

TEST_F(OpenCl, NumbersArePassedAsTheyAre) {
  const Var scale("scale", Float(32)), shift("shift", Int(64));
  te::Tensor A = te::placeholder({40}, "A", Int(64));
  te::Tensor C = te::compute(
      {40}, {"i"}, [&](Var i) { return A(i) + shift + cast(Int(64), scale); }, "C");
  const runtime::Module module =
      build(bound(C), {A, C, scale, shift}, Target("opencl"), {.name = "f"});
  const auto a = runtime::NDArray::zeros({40}, Int(64), opencl(0));
  const auto c = runtime::NDArray::zeros({40}, Int(64), opencl(0));
  module["f"](a, c, 2.5, std::int64_t{1} << 40);
  EXPECT_EQ(c.to_vector<std::int64_t>(),
            std::vector<std::int64_t>(40, (std::int64_t{1} << 40) + 2));
}

}  // namespace
}  // namespace tenon::testing
