// Tensor cores: schedules whose sums are in fragments, by the interpreter after every pass, as CUDA
// C that NVRTC takes, and what build refuses.
#include <gtest/gtest.h>

#include "tests/common/gpu_programs.h"
#include "tests/common/one_tile.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using te::Tensor;
using topi::gpu::MatrixTile;

const WaysToRun kInterpreted{.compile = false, .run_on_device = false};

std::vector<MatrixTile> all_tiles() {
  std::vector<MatrixTile> tiles;
  for (const auto& [m, n] : {std::pair(16, 16), {32, 8}, {8, 32}})
    for (const auto& [type, sum] : {std::pair(Float(16), Float(32)),
                                    {Float(16), Float(16)},
                                    {BFloat(16), Float(32)},
                                    {Int(8), Int(32)},
                                    {UInt(8), Int(32)}})
      for (const bool transpose : {false, true})
        tiles.push_back({.m = m,
                         .n = n,
                         .k = 16,
                         .type = type,
                         .sum = sum,
                         .transpose_a = transpose,
                         .transpose_b = transpose});
  return tiles;
}

std::string text_of(const MatrixTile& tile) {
  return std::to_string(tile.m) + "x" + std::to_string(tile.n) + " " + tile.type.str() + " " +
         tile.sum.str() + (tile.transpose_a ? " transposed" : "");
}

TEST(TensorCores, TilesOfEveryShapeTypeAndLayoutAreMultiplied) {
  for (const MatrixTile& tile : all_tiles()) {
    const OneTile p(tile);
    WaysToRun ways = kInterpreted;
    // The default schedule rounds each sum.
    if (tile.sum == Float(16)) ways.tolerance = 2e-2;
    EXPECT_EQ(compare_with_default(p.s, p.args(), ways), "") << text_of(tile);
  }
}

TEST(TensorCores, TilesOfEveryShapeTypeAndLayoutAreTakenByNvrtc) {
  for (const MatrixTile& tile : all_tiles()) {
    const OneTile p(tile);
    EXPECT_EQ(refused_by_nvrtc(p.s, p.args()), "") << text_of(tile);
  }
}

TEST(TensorCores, TheLibrarysSchedulesComputeWhatTheDefaultOnesDo) {
  const Target target("cuda -arch=sm_80");
  for (const GpuProgram& program : tensor_core_programs(target.facts()))
    EXPECT_EQ(compare_with_default(program.schedule, program.args, kInterpreted), "")
        << program.name;
}

TEST(TensorCores, TheLibrarysSchedulesAreTakenByNvrtc) {
  const Target target("cuda -arch=sm_80");
  for (const GpuProgram& program : tensor_core_programs(target.facts()))
    EXPECT_EQ(refused_by_nvrtc(program.schedule, program.args), "") << program.name;
}

/// Checks the text that the reference prints for a schedule with the intrinsics of its own
/// tutorial.
TEST(TensorCores, PrintAsCallsOnTheFragments) {
  const OneTile p;
  std::ostringstream out;
  out << lower(p.s, p.args(), {.simple_mode = true});
  const std::string text = out.str(),
                    annotation = "@tir.tvm_access_ptr(@tir.type_annotation(, dtype=";
  for (const std::string& part :
       {std::string("allocate(C.wmma.accumulator: Pointer(wmma.accumulator float32), float32, "
                    "[256]), storage_scope = wmma.accumulator"),
        std::string("allocate(A.shared.wmma.matrix_a: Pointer(wmma.matrix_a float16), float16, "
                    "[256]), storage_scope = wmma.matrix_a"),
        std::string("@tir.tvm_fill_fragment(C.wmma.accumulator, 16, 16, 16, 0, 0f32, "
                    "dtype=handle)"),
        "@tir.tvm_load_matrix_sync(A.shared.wmma.matrix_a, 16, 16, 16, 0, " + annotation +
            "float16), A.shared, (threadIdx.y*256), 256, 1, dtype=handle), 16, \"row_major\", "
            "dtype=handle)",
        "@tir.tvm_load_matrix_sync(B.shared.wmma.matrix_b, 16, 16, 16, 0, " + annotation +
            "float16), B.shared, 0, 256, 1, dtype=handle), 16, \"row_major\", dtype=handle)",
        std::string("@tir.tvm_mma_sync(C.wmma.accumulator, 0, A.shared.wmma.matrix_a, 0, "
                    "B.shared.wmma.matrix_b, 0, C.wmma.accumulator, 0, dtype=handle)"),
        "@tir.tvm_store_matrix_sync(C.wmma.accumulator, 16, 16, 16, 0, " + annotation +
            "float32), C_2, (threadIdx.y*256), 256, 2, dtype=handle), 16, \"row_major\", "
            "dtype=handle)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

/// Returns the error of compiling for the target; "" if it accepts the schedule.
std::string refusal(const te::Schedule& s, const std::vector<LowerArgument>& args,
                    const std::string& target) {
  try {
    static_cast<void>(compile(s, args, Target(target)));
  } catch (const LowerError& error) {
    return error.what();
  }
  return "";
}

TEST(TensorCores, ThatATargetDoesNotHaveAreRefused) {
  const OneTile half;
  EXPECT_NE(refusal(half.s, half.args(), "opencl").find("only CUDA devices have them"),
            std::string::npos);
  EXPECT_NE(refusal(half.s, half.args(), "cuda -arch=sm_61").find("sm_61 has none"),
            std::string::npos);
  EXPECT_EQ(refusal(half.s, half.args(), "cuda -arch=sm_75"), "");
  const OneTile brain({.type = BFloat(16)});
  EXPECT_NE(refusal(brain.s, brain.args(), "cuda -arch=sm_75").find("sm_75 multiplies no bfloat16"),
            std::string::npos);
}

TEST(TensorCores, WantWholeWarps) {
  const OneTile half({}, 16);
  EXPECT_NE(refusal(half.s, half.args(), "cuda").find("`threadIdx.x` has 16 threads"),
            std::string::npos);
}

TEST(TensorCores, WantRowsThatAreMultiplesOf16BytesApart) {
  OneTile p;
  p.s[p.a_shared].storage_align(p.s[p.a_shared].axis(0), 16, 1);
  const std::string why = refusal(p.s, p.args(), "cuda");
  EXPECT_NE(why.find("not provably a multiple of 16 bytes"), std::string::npos) << why;
}

TEST(TensorCores, FragmentsThatAreNotTensorizedAreRefused) {
  Tensor A = te::placeholder({32}, "A", Float(16));
  Tensor B = te::compute(
      {32}, {"i"}, [&](Var i) { return A(i); }, "B");
  te::Schedule s = te::create_schedule(B);
  const Tensor a = s.cache_read(A, "wmma.matrix_a", {B});
  auto [block, thread] = s[B].split(s[B].axis(0), 32);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[a].compute_at(s[B], thread);
  const std::string why = refusal(s, {A, B}, "cuda");
  EXPECT_NE(why.find("tensorize the stage"), std::string::npos) << why;
}

}  // namespace
}  // namespace tenon::testing
