// Checks what a kernel library refuses; the project in tests/consumer/installed shows that it
// works.
#include <filesystem>

#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

/// name(A, B), of any number of floats.
tir::IRModule copies(const std::string& name, int rank = 1) {
  const std::vector<Expr> shape(static_cast<std::size_t>(rank), Expr(te::size_var("n")));
  const te::Tensor A = te::placeholder(shape, "A");
  const te::Tensor B = te::compute(
      shape, [&](std::span<const Var> i) { return A(std::vector<Expr>(i.begin(), i.end())); }, "B");
  return lower(te::create_schedule(B), {A, B}, {.name = name});
}

std::string refusal_of(const KernelMaker& make, std::vector<Target> targets,
                       const std::string& name = "kernels") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("tenon-kernel-library-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::string message;
  try {
    write_kernel_library(make, {.name = name, .folder = folder, .targets = std::move(targets)});
  } catch (const Error& error) {
    message = error.sentence();
  }
  // Nothing is written before all is known to be right.
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  return message;
}

TEST(KernelLibrary, OfOneNameWithItsFunctionIsRefused) {
  EXPECT_EQ(refusal_of([](const Target&) { return std::vector{copies("copy")}; }, {"llvm"}, "copy"),
            "the kernel library `copy` cannot have a function `copy`: that is its own name");
}

TEST(KernelLibrary, FunctionsAreNamedAsInC) {
  EXPECT_EQ(refusal_of([](const Target&) { return std::vector{copies("while")}; }, {"llvm"}),
            "the kernel library `kernels` cannot have a function `while`: that is not a C name");
}

TEST(KernelLibrary, ItsParametersAreThoseOfEveryTarget) {
  const KernelMaker make = [](const Target& target) {
    return std::vector{copies("copy", target.str() == "llvm" ? 1 : 2)};
  };
  EXPECT_EQ(refusal_of(make, {"llvm", "llvm -mattr=+avx2"}),
            "`copy` of the kernel library `kernels` has other parameters for `llvm -mattr=+avx2` "
            "than for `llvm`");
}

TEST(KernelLibrary, ItsFunctionsAreThoseOfEveryTarget) {
  const KernelMaker make = [](const Target& target) {
    return std::vector{copies(target.str() == "llvm" ? "copy" : "other")};
  };
  EXPECT_EQ(refusal_of(make, {"llvm", "llvm -mattr=+avx2"}),
            "the kernel library `kernels` has other functions for `llvm -mattr=+avx2` than for "
            "`llvm`");
}

TEST(KernelLibrary, IsForProcessorsThatLlvmCompilesFor) {
  EXPECT_EQ(refusal_of([](const Target&) { return std::vector{copies("copy")}; }, {"opencl"}),
            "the kernel library `kernels` is compiled by LLVM, not for `opencl`");
}

}  // namespace
}  // namespace tenon::testing
