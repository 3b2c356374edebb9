// What an Artifact holds.
#pragma once

#include "tenon/codegen/llvm/compile.h"

namespace tenon::codegen {

struct Artifact::State {
  std::vector<runtime::FunctionSpec> functions;
  tir::TargetFacts target;
  CompileOptions options;
  /// The optimised module; its texts are made when they are asked for.
  std::string bitcode;
  /// What runs, and what is saved.
  std::string object;
  /// Compiled sources of other languages that the functions call.
  std::vector<std::string> imported_objects;
};

}  // namespace tenon::codegen
