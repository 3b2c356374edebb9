// Libraries of kernels that are compiled for several processors when a project is built. The
// program runs the best variant that its processor supports.
//
//   // matmul_kernels.cpp: the generator
//   int main(int argc, char** argv) {
//     return tenon::kernel_library_main(argc, argv, [](const tenon::Target& target) {
//       ...                                            // the schedule may look at the target
//       return std::vector{tenon::lower(s, {A, B, C}, {.name = "matmul"})};
//     });
//   }
//
//   # CMakeLists.txt
//   add_executable(matmul_kernels matmul_kernels.cpp)
//   target_link_libraries(matmul_kernels PRIVATE tenon::tenon)
//   tenon_add_kernels(kernels GENERATOR matmul_kernels
//                     TARGETS "llvm -mcpu=x86-64" "llvm -mcpu=x86-64-v3" "llvm -mcpu=x86-64-v4")
//   target_link_libraries(program PRIVATE kernels)     # #include "kernels.h", "kernels.hpp"
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/driver/build.h"

namespace tenon {

/// Returns the functions of the library for one target. Names and parameters must be the same for
/// all targets.
using KernelMaker = std::function<std::vector<tir::IRModule>(const Target& target)>;

/// The name and targets of the library.
struct KernelLibraryOptions {
  /// The base name of the files and the C++ namespace; must be a C name.
  std::string name;
  FilePath folder = ".";
  /// CPU targets (`llvm`) of one architecture. The last one that the processor supports is used. If
  /// it supports none, every call fails with a message that names the missing features.
  std::vector<Target> targets;
  BuildOptions build = {};
};

/// Writes into the folder: NAME.o, the code for all targets; NAME.c, the dispatch among them, to be
/// compiled by the project's C compiler; NAME.h, the functions for C; NAME.hpp, the functions for
/// C++ with types and extents in their signatures (runtime/array_view.h). Programs link them with
/// tenon::runtime or runtime/standalone/standalone.c. TargetError for an unsupported kind of
/// target; LowerError for functions that differ between targets and for names that are not valid in
/// C. Throws the errors of build.
void write_kernel_library(const KernelMaker& make, const KernelLibraryOptions& options);

/// The `main` of a generator, which tenon_add_kernels calls with the name, the folder and the
/// targets. Reports errors on stderr and returns the exit status.
int kernel_library_main(int argc, char** argv, const KernelMaker& make);

}  // namespace tenon
