// The artifact that LLVM produces for a list of functions.
#pragma once

#include "tenon/codegen/llvm/compile.h"

namespace tenon::codegen {

struct LlvmCode {
  std::vector<runtime::FunctionSpec> functions;
  /// The target of each function, and the target that the functions have in common.
  std::vector<tir::TargetFacts> targets;
  tir::TargetFacts common;
  CompileOptions options;
  /// The kernels that the functions launch on devices.
  std::vector<KernelCode> kernels;
  /// The optimized module. Its texts are generated on request.
  std::string bitcode;
  /// The object code that is loaded and saved.
  std::string object;
  /// Compiled sources of other languages that the functions call.
  std::vector<std::string> imported_objects;
  /// One sentence per imported source that states how it was compiled. Printed above the module's
  /// text.
  std::vector<std::string> notes;
};

class LlvmArtifact : public ArtifactImpl, public std::enable_shared_from_this<LlvmArtifact> {
 public:
  explicit LlvmArtifact(LlvmCode code) : code_(std::move(code)) {}

  const std::vector<runtime::FunctionSpec>& functions() const override { return code_.functions; }
  std::vector<std::string> source_kinds() const override;
  std::string source(std::string_view kind) const override;
  void save(const std::string& file, const runtime::SaveOptions& options) const override;
  std::optional<std::string> stored() const override;
  runtime::Module load() const override;

 private:
  LlvmCode code_;
};

}  // namespace tenon::codegen
