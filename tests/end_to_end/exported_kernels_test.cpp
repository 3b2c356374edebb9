// A module with kernels that is saved, and used by another process: the library carries them.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/common/compile_program.h"

namespace tenon::testing {
namespace {

// Knows only the runtime.
constexpr const char* kProgram = R"(
#include "tenon/runtime/module.h"
using namespace tenon;
using namespace tenon::runtime;
int main(int, char** argv) {
  const Module mod = Module::load(argv[1]);
  const NDArray a = NDArray::from(std::vector<float>{1, 2, 3}, {3}).copy_to(opencl(0));
  const NDArray b = NDArray::zeros({3}, Float(32), opencl(0));
  mod["turned"](a, b);
  return b.to_vector<float>() == std::vector<float>{6, 4, 2} ? 0 : 1;
}
)";

TEST(ExportedKernelsTest, AreLaunchedByAnotherProcess) {
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  const Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(n - 1 - i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [block, thread] = s[B].split(s[B].axis(0), 2);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon-kernels-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name) { return (folder / name).string(); };
  build(s, {A, B}, Target("opencl"), {.name = "turned"}).save(file("turned.so"));
  std::ofstream(file("program.cpp")) << kProgram;
  EXPECT_TRUE(compile_program({file("program.cpp")}, file("program")));
  EXPECT_EQ(std::system((file("program") + " " + file("turned.so")).c_str()), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tenon::testing
