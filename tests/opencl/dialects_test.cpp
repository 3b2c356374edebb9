// OpenCL C with extensions that few devices have: its text, and that clang takes it. What PoCL runs
// is without them.
#include <cmath>

#include "add_one.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/process.h"
#include "tenon/runtime/kernel_spec.h"

namespace tenon::testing {
namespace {

/// The errors of clang for the text as OpenCL C of a device that has all extensions; "" if it
/// accepts the text, and without clang.
std::string refused_by_clang(std::string text) {
  const codegen::TemporaryFolder folder;
  // Its header has no function of Intel's.
  const std::string intel = "intel_sub_group_shuffle(";
  for (std::size_t at; (at = text.find(intel)) != std::string::npos;)
    text.replace(at, intel.size(), "sub_group_shuffle(");
  codegen::write_file(folder.file("kernels.cl"), text);
  for (const char* clang : {"clang-22", "clang-21", "clang-20", "clang-19"})
    if (const auto done = codegen::run_process(
            {clang, "-x", "cl", "-cl-std=CL3.0", "-target", "spir64-unknown-unknown", "-Xclang",
             "-finclude-default-header", "-fsyntax-only", "-Werror", "-Wno-ignored-pragmas",
             folder.file("kernels.cl").string()}))
      return done->status != 0 ? done->output + text : "";
  return "";
}

/// Sums of rows of so many elements, each by as many threads.
std::string text_of_row_sums(const std::string& target, int threads, DataType type = Float(32)) {
  const te::Tensor A = te::placeholder({16, 64}, "A", type);
  const te::IterVar k = te::reduce_axis({0, 64}, "k");
  const te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [ko, ki] = s[B].split(s[B].reduce_axis(0), threads);
  const te::Tensor part = s.rfactor(B, ki);
  s[B].bind(s[B].axis(0), te::thread_axis("blockIdx.x"));
  s[B].bind(s[B].reduce_axis(0), te::thread_axis("threadIdx.x"));
  s[part].compute_at(s[B], s[B].reduce_axis(0));
  return compile(s, {A, B}, Target(target)).source("opencl");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HalfInOpenCl, IsLoadedAndStoredByFunctionsWithoutTheExtension) {
  const std::string text = Add(64, Float(16)).build_for("opencl").get_source("opencl");
  EXPECT_TRUE(has(text, "__global const half* restrict A")) << text;
  EXPECT_TRUE(has(text, "vstore_half(round_to_float16(vload_half(")) << text;
  EXPECT_FALSE(has(text, "cl_khr_fp16")) << text;
}

TEST(HalfInOpenCl, IsComputedWithWhereTheDeviceHasTheExtension) {
  const Add p(64, Float(16));
  const std::string text =
      compile(p.s, {p.A, p.B, p.C}, Target("opencl -extensions=cl_khr_fp16")).source("opencl");
  EXPECT_TRUE(has(text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n")) << text;
  EXPECT_TRUE(has(text, "  C[threadIdx_x] = A[threadIdx_x] + B[threadIdx_x];\n")) << text;
  EXPECT_EQ(refused_by_clang(text), "");
}

TEST(HalfInOpenCl, TakesMathematicsConstantsAndConversionsByFloat32) {
  const te::Tensor A = te::placeholder({64}, "A", Float(16));
  const Var scale("scale", Float(16));
  const te::Tensor B = te::compute(
      {64}, {"i"},
      [&](Var i) {
        const Expr x = tir::max(exp(A(i)) * scale, make_const(Float(16), 1.5));
        const Expr y = if_then_else(isnan(x), infinity(Float(16)), tir::fmod(x, A(i)));
        return y + cast(Float(16), i) + reinterpret(Float(16), reinterpret(UInt(16), x)) +
               cast(Float(16), cast(Int(32), x));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  const std::string text =
      compile(s, {A, B, scale}, Target("opencl -extensions=cl_khr_fp16")).source("opencl");
  EXPECT_TRUE(has(text, "(half)exp((float)A[threadIdx_x])")) << text;
  EXPECT_TRUE(has(text, "(half)1.5f")) << text;
  EXPECT_FALSE(has(text, "float16_bits")) << text;
  EXPECT_EQ(refused_by_clang(text), "");
}

TEST(HalfInOpenCl, LiesInArraysOfItsBitsWithoutTheExtension) {
  Add p(64, Float(16));
  const te::Tensor copy = p.s.cache_read(p.A, "shared", {p.C.op()});
  p.s[copy].compute_at(p.s[p.C], p.s[p.C].leaf_iter_vars()[0]);
  p.s[copy].bind(p.s[copy].axis(0), te::thread_axis("threadIdx.x"));
  const std::string text = compile(p.s, {p.A, p.B, p.C}, Target("opencl")).source("opencl");
  EXPECT_TRUE(has(text, "__local ushort A_shared[64];")) << text;
  EXPECT_TRUE(has(text, "((__local half*)A_shared)")) << text;
}

TEST(SubgroupsInOpenCl, ReduceWithoutSharedMemory) {
  const std::string text =
      text_of_row_sums("opencl -extensions=cl_khr_subgroup_shuffle -subgroup-size=16", 16);
  EXPECT_TRUE(has(text, "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable\n")) << text;
  EXPECT_TRUE(has(text, "shuffle_down_float32(red0[0], 1, 16)")) << text;
  EXPECT_FALSE(has(text, "__local")) << text;
  EXPECT_EQ(refused_by_clang(text), "");
}

TEST(SubgroupsInOpenCl, HaveTheSizeThatIntelsCompilerIsTold) {
  const std::string text =
      text_of_row_sums("opencl -extensions=cl_intel_subgroups -subgroup-size=16", 16);
  EXPECT_TRUE(has(text, "__kernel __attribute__((intel_reqd_sub_group_size(16)))\n")) << text;
  EXPECT_TRUE(has(text, "intel_sub_group_shuffle(")) << text;
  EXPECT_EQ(refused_by_clang(text), "");
}

TEST(SubgroupsInOpenCl, ExchangeHalvesToo) {
  const std::string text = text_of_row_sums(
      "opencl -extensions=cl_khr_fp16,cl_khr_subgroup_shuffle -subgroup-size=16", 32, Float(16));
  EXPECT_TRUE(has(text, "shuffle_down_float16(")) << text;
  EXPECT_EQ(refused_by_clang(text), "");
}

TEST(SubgroupsInOpenCl, AreInTheManifestThatALibraryCarries) {
  const runtime::KernelSpec kernel{
      .name = "sum_kernel0", .params = {Handle(), Int(32)}, .subgroup_size = 16};
  const std::string text = runtime::to_kernel_manifest(std::span(&kernel, 1));
  EXPECT_EQ(text, "tenon-kernels 1\nsum_kernel0 pointer int32 subgroup16\n");
  EXPECT_EQ(runtime::parse_kernel_manifest(text), std::vector<runtime::KernelSpec>{kernel});
  EXPECT_THROW(runtime::parse_kernel_manifest("tenon-kernels 1\na subgroup\n"), RuntimeError);
  EXPECT_THROW(runtime::parse_kernel_manifest("tenon-kernels 1\na subgroup0\n"), RuntimeError);
}

TEST(SubgroupsInOpenCl, AreNotThereUnlessTheTargetSaysSo) {
  EXPECT_FALSE(has(text_of_row_sums("opencl", 16), "sub_group"));
}

TEST(OpenClTarget, SaysWhichExtensionsHaveAUse) {
  for (const auto& [target, part] :
       {std::pair{"opencl -extensions=cl_khr_fp15", "cl_khr_fp16, cl_khr_subgroup_shuffle"},
        std::pair{"opencl -extensions=cl_khr_subgroup_shuffle", "-subgroup-size=32"},
        std::pair{"opencl -subgroup-size=16", "-extensions=cl_khr_subgroup_shuffle"},
        std::pair{"opencl -extensions=cl_intel_subgroups -subgroup-size=12", "power of two"}}) {
    try {
      Target{target};
      FAIL() << target;
    } catch (const TargetError& error) {
      EXPECT_TRUE(has(error.what(), part)) << error.what();
    }
  }
}

TEST_F(OpenCl, AnExtensionThatTheDeviceLacksIsNamed) {
  const Add p(64, Float(16));
  const runtime::Module module =
      build(p.s, {p.A, p.B, p.C}, Target("opencl -extensions=cl_khr_fp16"), {.name = "add"});
  const auto a = runtime::NDArray::zeros({64}, Float(16), opencl(0));
  const auto c = runtime::NDArray::zeros({64}, Float(16), opencl(0));
  try {
    module["add"](a, a, c);
    GTEST_SKIP() << "the device computes with halves";
  } catch (const RuntimeError& error) {
    EXPECT_TRUE(has(error.what(), "need the extension cl_khr_fp16, which `")) << error.what();
  }
}

/// Every float16 there and back, and the sum of each with another.
TEST_F(OpenCl, HalvesAreWhatTheyAreOnOtherTargets) {
  const int n = 1 << 16;
  Add p(n, Float(16));
  std::vector<Float16> a(n), b(n);
  for (int k = 0; k < n; ++k) {
    const auto bits = static_cast<std::uint16_t>(k);
    a[static_cast<std::size_t>(k)] = Float16::from_bits(bits);
    b[static_cast<std::size_t>(k)] =
        Float16::from_bits(static_cast<std::uint16_t>(bits * 40503u >> 3));
  }
  using runtime::NDArray;
  const NDArray x = NDArray::from(std::span<const Float16>(a), {n}).copy_to(opencl(0));
  const NDArray y = NDArray::from(std::span<const Float16>(b), {n}).copy_to(opencl(0));
  const NDArray z = NDArray::zeros({n}, Float(16), opencl(0));
  p.build_for("opencl")["add"](x, y, z);
  const auto sums = z.to_vector<Float16>();
  int wrong = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const Float16 expected(static_cast<double>(a[k]) + static_cast<double>(b[k]));
    const bool is_nan = std::isnan(static_cast<double>(expected));
    wrong += is_nan ? !std::isnan(static_cast<double>(sums[k])) : sums[k].bits != expected.bits;
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tenon::testing
