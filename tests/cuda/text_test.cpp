// Kernels as CUDA C, which needs no device: their text, and what NVRTC makes of it.
#include "tenon/runtime/spec.h"
#include "tests/common/one_tile.h"
#include "tests/common/run_on_device.h"
#include "tests/opencl/add_one.h"

namespace tenon::testing {
namespace {

std::string source_of(const te::Schedule& s, const std::vector<LowerArgument>& args,
                      const std::string& kind = "cuda", const std::string& arch = "sm_90") {
  return compile(s, args, Target("cuda -arch=" + arch), {.name = "f"}).source(kind);
}

/// Whether NVRTC is found here.
bool has_compiler() {
  const Add add(64);
  try {
    return !source_of(add.s, {add.A, add.B, add.C}, "ptx").empty();
  } catch (const RuntimeError&) {
    return false;
  }
}

/// NVRTC 13.0 deletes the store of 0 before `B[t] = c ? A[t] : B[t]` if both arrays are
/// __restrict__.
TEST(CudaText, LoadsOfReadOnlyArraysAreOpaqueInAKernelThatReadsWhatItWrites) {
  te::Tensor A = te::placeholder({32, 32}, "A");
  const auto bound = [](const te::Schedule& s, const te::Tensor& t) {
    s[t].bind(s[t].axis(0), te::thread_axis("threadIdx.x"));
    return s;
  };
  te::IterVar k = te::reduce_axis({0, 32}, "k");
  const te::Tensor B = te::compute(
      {32}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  const std::string one = source_of(bound(te::create_schedule(B), B), {A, B});
  EXPECT_NE(one.find("B[threadIdx_x] = B[threadIdx_x] + opaque_float32(A[threadIdx_x * 32 + k]);"),
            std::string::npos)
      << one;
  EXPECT_NE(one.find("float* __restrict__ B"), std::string::npos);
  // No updated array is __restrict__ if there are several.
  const std::vector<te::Tensor> both = te::compute_multi(
      {32}, {"i"},
      [&](Var i) {
        return te::comm_reducer(
            [](std::span<const Var> x, std::span<const Var> y) {
              return std::vector<Expr>{select(x[1] >= y[1], x[0], y[0]), max(x[1], y[1])};
            },
            [](std::span<const DataType> types) {
              return std::vector<Expr>{tir::make_int(types[0], -1), min_value(types[1])};
            })({k, A(i, k)}, {k});
      },
      "C");
  const std::string two =
      source_of(bound(te::create_schedule(both[0]), both[0]), {A, both[0], both[1]});
  EXPECT_NE(two.find("const float* __restrict__ A"), std::string::npos) << two;
  EXPECT_EQ(two.find("* __restrict__ C"), std::string::npos) << two;
  // Loads are plain in a kernel that updates no array.
  te::Schedule s = te::create_schedule(B);
  const te::Tensor sums = s.cache_write(B, "local");
  s[sums].compute_at(s[B], s[B].axis(0));
  const std::string none = source_of(bound(s, B), {A, B});
  EXPECT_NE(none.find("const float* __restrict__ A"), std::string::npos);
  EXPECT_EQ(none.find("opaque"), std::string::npos);
}

/// The corrected schedules of the seed programs 05_compute_at, 14_bind and 20_set_store_predicate.
TEST(CudaText, SumsByTheThreadsOfABlockCompile) {
  te::Tensor A = te::placeholder({1024}, "A");
  te::IterVar k = te::reduce_axis({0, 1024}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");
  for (const int factor : {32, 16, 0}) {
    te::Schedule s = te::create_schedule(B);
    const te::IterVar tx = te::thread_axis("threadIdx.x");
    const te::IterVar inner = s[B].split(s[B].reduce_axis(0), factor > 0 ? factor : 32).inner;
    if (factor == 0) {
      s[B].bind(inner, tx);
    } else {
      te::Tensor BF = s.rfactor(B, inner);
      s[B].bind(s[B].reduce_axis(0), tx).set_store_predicate(tx.var() == 0);
      s[BF].compute_at(s[B], s[B].reduce_axis(0));
    }
    EXPECT_EQ(refused_by_nvrtc(s, {A, B}), "");
    EXPECT_NE(source_of(s, {A, B}).find("__global__ void"), std::string::npos);
  }
}

TEST(CudaText, AnAddIsWhatAPersonWouldWrite) {
  const Add add(1024);
  EXPECT_EQ(source_of(add.s, {add.A, add.B, add.C}), R"(// Made by Tenon.

extern "C" __global__ void __launch_bounds__(64)
f_kernel0(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C) {
  const int blockIdx_x = blockIdx.x;
  const int threadIdx_x = threadIdx.x;
  C[blockIdx_x * 64 + threadIdx_x] = A[blockIdx_x * 64 + threadIdx_x] + B[blockIdx_x * 64 + threadIdx_x];
}

)");
}

/// Behind the barrier that stands before the shared tiles are read.
TEST(CudaText, FragmentsAreThoseOfTheLibraryOfTensorCores) {
  const OneTile p;
  const std::string text = source_of(p.s, p.args());
  EXPECT_NE(text.find("#include <mma.h>\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  __align__(32) __shared__ unsigned short A_shared[512];\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, "
                      "nvcuda::wmma::row_major> A_shared_wmma_matrix_a[1];\n"
                      "  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, "
                      "nvcuda::wmma::row_major> B_shared_wmma_matrix_b[1];\n"
                      "  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> "
                      "C_wmma_accumulator[1];\n"),
            std::string::npos)
      << text;
  const std::size_t barrier = text.find("__syncthreads();");
  ASSERT_NE(barrier, std::string::npos);
  const std::string a = "A_shared_wmma_matrix_a[0]", b = "B_shared_wmma_matrix_b[0]",
                    c = "C_wmma_accumulator[0]", call = "  nvcuda::wmma::";
  EXPECT_EQ(text.substr(barrier),
            "__syncthreads();\n" + call + "load_matrix_sync(" + a +
                ", (const half*)(A_shared + threadIdx_y * 256), 16);\n" + call +
                "load_matrix_sync(" + b + ", (const half*)B_shared, 16);\n" + call +
                "fill_fragment(" + c + ", 0.0f);\n" + call + "mma_sync(" + c + ", " + a + ", " + b +
                ", " + c + ");\n" + call + "store_matrix_sync(C + threadIdx_y * 256, " + c +
                ", 16, nvcuda::wmma::mem_row_major);\n}\n\n");
}

/// A + B by four elements at a time.
te::Schedule vectorized(const Add& add) {
  te::Schedule s = te::create_schedule(add.C);
  auto [rest, lanes] = s[add.C].split(s[add.C].axis(0), 4);
  auto [block, thread] = s[add.C].split(rest, 32);
  s[add.C].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[add.C].vectorize(lanes);
  return s;
}

TEST(CudaText, VectorsAreReadAndWrittenWhole) {
  const Add add(1024);
  const std::string text = source_of(vectorized(add), {add.A, add.B, add.C});
  EXPECT_NE(text.find("const float4 A_lanes = *(const float4*)(A + "), std::string::npos) << text;
  EXPECT_NE(text.find(" = make_float4(A_lanes.x + B_lanes.x, A_lanes.y + B_lanes.y, "
                      "A_lanes.z + B_lanes.z, A_lanes.w + B_lanes.w);"),
            std::string::npos)
      << text;
}

// Shared memory that is only touched by vectors is memory of vectors.
TEST(CudaText, MemoryOfVectorsIsReadAndWrittenWhole) {
  const Add add(1024);
  te::Schedule s = te::create_schedule(add.C);
  const te::Tensor a = s.cache_read(add.A, "shared", {add.C});
  const te::IterVar thread = te::thread_axis("threadIdx.x");
  auto [block, inside] = s[add.C].split(s[add.C].axis(0), 128);
  auto [t, lanes] = s[add.C].split(inside, 4);
  s[add.C].bind(block, te::thread_axis("blockIdx.x")).bind(t, thread).vectorize(lanes);
  s[a].compute_at(s[add.C], block);
  auto [fetching, together] = s[a].split(s[a].axis(0), 4);
  s[a].bind(fetching, thread).vectorize(together);
  const std::string text = source_of(s, {add.A, add.B, add.C});
  EXPECT_NE(text.find("*(float4*)(A_shared + threadIdx_x * 4) = A_lanes;"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("const float4 A_shared_lanes = *(const float4*)(A_shared + threadIdx_x * 4);"),
      std::string::npos)
      << text;
}

/// B = A by way of shared memory, eight elements at a time.
std::string copy_of(DataType t, const std::string& kind, const std::string& arch) {
  te::Tensor A = te::placeholder({1024}, "A", t);
  te::Tensor B = te::compute(
      {1024}, {"i"}, [&](Var i) { return A(i); }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [rest, lanes] = s[B].split(s[B].axis(0), 8);
  auto [block, thread] = s[B].split(rest, 32);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[B].vectorize(lanes);
  return source_of(s, {A, B}, kind, arch);
}

TEST(CudaText, ElementsOf16BitsAreCopiedByVectorsOf128) {
  for (const DataType t : {Float(16), BFloat(16), Int(16)}) {
    const std::string text = copy_of(t, "cuda", "sm_90");
    EXPECT_NE(text.find("*(uint4*)(B + (blockIdx_x * 256 + threadIdx_x * 8)) = *(const uint4*)(A + "
                        "(blockIdx_x * 256 + threadIdx_x * 8));"),
              std::string::npos)
        << text;
  }
  if (!has_compiler()) GTEST_SKIP() << "libnvrtc.so is not here";
  const std::string ptx = copy_of(Float(16), "ptx", "sm_80");
  EXPECT_NE(ptx.find("st.global.v4."), std::string::npos) << ptx;
}

TEST(CudaText, FloatsOf16BitsAreConvertedByInstructions) {
  if (!has_compiler()) GTEST_SKIP() << "libnvrtc.so is not here";
  for (const DataType t : {Float(16), BFloat(16)}) {
    const Add add(64, t);
    const std::string ptx = source_of(add.s, {add.A, add.B, add.C}, "ptx", "sm_80");
    EXPECT_NE(ptx.find(t.is_bfloat() ? "cvt.rn.bf16.f32" : "cvt.rn.f16.f32"), std::string::npos)
        << ptx;
  }
}

/// ptxas 13.0 stores the low byte of such a register as the number converted to an integer.
TEST(CudaText, ConvertedHalvesDoNotUse16BitRegisters) {
  for (const DataType t : {Float(16), BFloat(16)}) {
    const Add add(64, t);
    const std::string text = source_of(add.s, {add.A, add.B, add.C});
    EXPECT_NE(text.find("mov.b32 %0, {half, zero}"), std::string::npos) << text;
    EXPECT_EQ(text.find("=h"), std::string::npos) << text;
  }
}

TEST(CudaText, LoopsThatTheCompilerIsToUnrollAndBoundsOfRegistersAreSaid) {
  const Add add(1024);
  te::Schedule s = te::create_schedule(add.C);
  auto [block, inside] = s[add.C].split(s[add.C].axis(0), 128);
  auto [thread, each] = s[add.C].split(inside, 4);
  s[add.C].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[add.C].unroll(each).pragma(each, "unroll_explicit", 0);
  s[add.C].pragma(each, "blocks_per_multiprocessor", 3);
  const std::string text = source_of(s, {add.A, add.B, add.C});
  EXPECT_NE(text.find("__launch_bounds__(32, 3)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#pragma unroll\n  for (int i_inner_inner = 0;"), std::string::npos) << text;
}

TEST(CudaText, VectorsDemandAlignedArrays) {
  const Add add(1024);
  const codegen::Artifact artifact =
      compile(vectorized(add), {add.A, add.B, add.C}, Target("cuda -arch=sm_90"));
  for (const runtime::ParamSpec& param : artifact.functions()[0].params)
    EXPECT_EQ(std::get<runtime::ArraySpec>(param.type).alignment, 16) << param.name;
}

TEST(CudaText, MachineCodeMovesVectorsAtOnce) {
  if (!has_compiler()) GTEST_SKIP() << "libnvrtc.so is not here";
  const Add add(1024);
  for (const char* arch : {"sm_80", "sm_90"}) {
    const std::string ptx = source_of(vectorized(add), {add.A, add.B, add.C}, "ptx", arch);
    EXPECT_NE(ptx.find(std::string(".target ") + arch), std::string::npos);
    EXPECT_NE(ptx.find("ld.global.nc.v4."), std::string::npos) << ptx;
    EXPECT_NE(ptx.find("st.global.v4."), std::string::npos) << ptx;
  }
}

TEST(CudaText, AnArchitectureThatTheCompilerDoesNotKnowIsASentence) {
  if (!has_compiler()) GTEST_SKIP() << "libnvrtc.so is not here";
  const Add add(64);
  try {
    source_of(add.s, {add.A, add.B, add.C}, "ptx", "sm_999");
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("does not compile for sm_999"), std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(source_of(add.s, {add.A, add.B, add.C}, "cuda", "sm_999").empty());
}

TEST(Gpu, AnAddOfArraysOnTheDeviceGivesTheirSum) {
  if (!cuda(0).exists()) GTEST_SKIP() << cuda(0).why_missing();
  const Var n = te::size_var("n");
  const runtime::Module module = Add(n).build_for("cuda -arch=sm_80");
  for (std::int64_t size : {0, 1, 63, 64, 65, 1000}) {
    const auto a = runtime::NDArray::random({size}, Float(32), {.seed = 1});
    const auto b = runtime::NDArray::random({size}, Float(32), {.seed = 2});
    const auto c = runtime::NDArray::zeros({size}, Float(32), cuda(0));
    module["add"](a.copy_to(cuda(0)), b.copy_to(cuda(0)), c);
    std::vector<float> sum = a.to_vector<float>();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b.to_vector<float>()[i];
    EXPECT_EQ(c.to_vector<float>(), sum);
  }
}

}  // namespace
}  // namespace tenon::testing
