// Compiled functions, whatever they were compiled by: what driver and runtime know of them. A code
// generator makes an ArtifactImpl; everybody else sees an Artifact.
//
//   codegen::Artifact artifact = codegen::compile(module, facts);   // llvm/compile.h
//   artifact.functions()[0].params[0]                               // what it demands of `A`
//   std::cout << artifact.source("asm");
//   artifact.save("gemv.so");
//   runtime::Module code = codegen::load(artifact);
//   code["gemv"](a, b, c);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/module.h"
#include "tenon/support/shared.h"

namespace tenon::codegen {

class ArtifactImpl {
 public:
  virtual ~ArtifactImpl() = default;

  /// What the functions demand of their arguments, in the order in which they were compiled.
  virtual const std::vector<runtime::FunctionSpec>& functions() const = 0;
  /// What source() can give, the default first.
  virtual std::vector<std::string> source_kinds() const = 0;
  /// Asked only for one of source_kinds().
  virtual std::string source(std::string_view kind) const = 0;
  /// Throws RuntimeError for a suffix that it cannot write.
  virtual void save(const std::string& path, const runtime::SaveOptions& options) const = 0;
  /// The code in this process; it lives on without the artifact's other handles.
  virtual std::shared_ptr<runtime::ModuleImpl> load() const = 0;
};

/// A cheap handle of an immutable thing.
class Artifact {
 public:
  explicit Artifact(Shared<const ArtifactImpl> impl) : impl_(std::move(impl)) {}

  const std::vector<runtime::FunctionSpec>& functions() const { return impl_->functions(); }
  std::vector<std::string> source_kinds() const { return impl_->source_kinds(); }
  /// LLVM's code has "ll", the optimised LLVM IR, and "asm", the machine code as text; C has "c".
  /// Throws RuntimeError, listing the kinds there are, for another one.
  std::string source(std::string_view kind) const;
  /// By suffix, of which each code generator has its own; .so, .o, .a and .h are common to those
  /// for CPUs. Throws RuntimeError for other suffixes, or where the C compiler that links is
  /// missing.
  void save(const FilePath& path, const runtime::SaveOptions& options = {}) const {
    impl_->save(path, options);
  }

 private:
  friend runtime::Module load(const Artifact& artifact);
  Shared<const ArtifactImpl> impl_;
};

/// The functions, ready to be called. Throws RuntimeError naming the extern functions that are
/// found nowhere, or if the code is for another kind of processor than this one.
runtime::Module load(const Artifact& artifact);

}  // namespace tenon::codegen
