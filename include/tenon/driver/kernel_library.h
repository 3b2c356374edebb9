// Kernels that are compiled while a project is built, for several processors at once; of what each
// of them makes, the program runs the best that its processor can.
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

/// What a library holds, for one of its targets. The functions' names and parameters must be the
/// same for all of them.
using KernelMaker = std::function<std::vector<tir::IRModule>(const Target& target)>;

/// What the library is called, and which processors it is for.
struct KernelLibraryOptions {
  /// A name in C: of the files, and in C++ of the namespace.
  std::string name;
  FilePath folder = ".";
  /// For CPUs of one architecture (`llvm`). Where a processor can run several, the last of them is
  /// taken; where it can run none, every call says what it lacks.
  std::vector<Target> targets;
  BuildOptions build = {};
};

/// Writes, into the folder, NAME.o: the code for all targets; NAME.c: the choice among them, to be
/// compiled by the project's C compiler; NAME.h: the functions for C; NAME.hpp: the functions for
/// C++, with types and extents in their signatures (runtime/array_view.h). What links them needs
/// tenon::runtime, or runtime/standalone/standalone.c. Throws TargetError for a target of another
/// kind, LowerError for functions that differ between targets and for names that C cannot have, and
/// what build throws.
void write_kernel_library(const KernelMaker& make, const KernelLibraryOptions& options);

/// The `main` of a generator, which tenon_add_kernels calls: arguments are the name, the folder and
/// the targets. Errors go to stderr; returns the exit status.
int kernel_library_main(int argc, char** argv, const KernelMaker& make);

}  // namespace tenon
