// The module that an artifact becomes when it is loaded into this process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tenon/codegen/artifact.h"
#include "tenon/runtime/module_impl.h"

namespace tenon::codegen {

class LoadedArtifact : public runtime::ModuleImpl {
 public:
  /// Returns the code of a function, and keeps the code loaded.
  using Lookup = std::function<runtime::PackedCall(const runtime::FunctionSpec&)>;

  /// `profiler` is null if the functions do not report to one.
  LoadedArtifact(std::string kind, std::shared_ptr<const ArtifactImpl> artifact, Lookup lookup,
                 std::shared_ptr<runtime::Profiler> profiler = nullptr)
      : kind_(std::move(kind)),
        artifact_(std::move(artifact)),
        lookup_(std::move(lookup)),
        profiler_(std::move(profiler)) {}

  std::string kind() const override { return kind_; }
  const std::vector<runtime::FunctionSpec>& functions() const override {
    return artifact_->functions();
  }
  runtime::PackedCall lookup(const runtime::FunctionSpec& function) override {
    return lookup_(function);
  }
  std::vector<std::string> source_kinds() const override { return artifact_->source_kinds(); }
  std::string source(std::string_view kind) const override { return artifact_->source(kind); }
  void save(const std::string& path, const runtime::SaveOptions& options) const override {
    artifact_->save(path, options);
  }
  std::shared_ptr<runtime::Profiler> profiler() const override { return profiler_; }

 private:
  std::string kind_;
  std::shared_ptr<const ArtifactImpl> artifact_;
  Lookup lookup_;
  std::shared_ptr<runtime::Profiler> profiler_;
};

}  // namespace tenon::codegen
