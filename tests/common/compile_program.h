// Programs of users, written as text, compiled by the system's compiler and linked with the runtime
// alone.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "tenon_test_paths.h"

namespace tenon::testing {

/// With the sanitizers that the runtime was compiled with, which else miss their own library.
inline constexpr const char* kSanitizers =
#if defined(__SANITIZE_ADDRESS__)
    "-fsanitize=address,undefined -fno-sanitize=vptr ";
#elif defined(__SANITIZE_THREAD__)
    "-fsanitize=thread ";
#else
    "";
#endif

/// Compiles the sources and object files into `program`. True where that went well.
inline bool compile_program(const std::vector<std::string>& files, const std::string& program) {
  std::string command =
      std::string("c++ ") + kSanitizers + "-std=c++20 -I" TENON_SOURCE_DIR "/include";
  for (const std::string& file : files) command += " " + file;
  command +=
      " -o " + program + " " TENON_BINARY_DIR "/libtenon_runtime.so -Wl,-rpath," TENON_BINARY_DIR;
  return std::system(command.c_str()) == 0;
}

}  // namespace tenon::testing
