// What an Artifact holds.
#pragma once

#include "tenon/codegen/llvm/compile.h"

namespace tenon::codegen {

struct Artifact::State {
  std::vector<runtime::FunctionSpec> functions;
  /// Of each part, and what all of them have in common.
  std::vector<tir::TargetFacts> targets;
  tir::TargetFacts common;
  CompileOptions options;
  /// The optimised module; its texts are made when they are asked for.
  std::string bitcode;
  /// What runs, and what is saved.
  std::string object;
  /// Compiled sources of other languages that the functions call.
  std::vector<std::string> imported_objects;
  /// How imported sources were compiled, a sentence each; they stand above the text of the module.
  std::vector<std::string> notes;
};

}  // namespace tenon::codegen
