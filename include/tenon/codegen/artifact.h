// Compiled functions, independent of the code generator. A code generator implements ArtifactImpl;
// all other code uses Artifact.
//
//   codegen::Artifact artifact = codegen::compile(module, facts);   // llvm/compile.h
//   artifact.functions()[0].params[0]                               // the requirements on `A`
//   std::cout << artifact.source("asm");
//   artifact.save("gemv.so");
//   runtime::Module code = artifact.load();
//   code["gemv"](a, b, c);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/module.h"
#include "tenon/support/shared.h"

namespace tenon::codegen {

class ArtifactImpl {
 public:
  virtual ~ArtifactImpl() = default;

  /// Returns the requirements of the functions on their arguments, in compilation order.
  virtual const std::vector<runtime::FunctionSpec>& functions() const = 0;
  /// Returns the kinds that source() accepts, the default first.
  virtual std::vector<std::string> source_kinds() const = 0;
  /// Returns the source text. Precondition: `kind` is one of source_kinds().
  virtual std::string source(std::string_view kind) const = 0;
  /// Writes a file. RuntimeError for an unsupported suffix.
  virtual void save(const std::string& path, const runtime::SaveOptions& options) const = 0;
  /// Returns the artifact as bytes, from which codegen::restore makes it again, also in another
  /// process. Nullopt if the code generator does not support this, or if the code reports to a
  /// profiler of this process.
  virtual std::optional<std::string> stored() const { return std::nullopt; }
  /// Loads the code into this process. The code stays loaded if the artifact is destroyed.
  virtual runtime::Module load() const = 0;
};

/// A cheap handle of an immutable artifact.
class Artifact {
 public:
  explicit Artifact(Shared<const ArtifactImpl> impl) : impl_(std::move(impl)) {}
  // Moves are copies, so that a handle is never empty.
  Artifact(const Artifact&) = default;
  Artifact& operator=(const Artifact&) = default;

  const std::vector<runtime::FunctionSpec>& functions() const { return impl_->functions(); }
  std::vector<std::string> source_kinds() const { return impl_->source_kinds(); }
  /// Returns the source text of this kind. LLVM has "ll", the optimized LLVM IR, and "asm", the
  /// assembly text; C has "c". RuntimeError, listing the available kinds, for any other kind.
  std::string source(std::string_view kind) const;
  /// Writes a file in the format that the suffix selects. All CPU code generators support .so, .o,
  /// .a and .h; each may support more. RuntimeError for an unsupported suffix, or if a format
  /// requires the C compiler (for example to link .so) and the compiler is missing.
  void save(const FilePath& path, const runtime::SaveOptions& options = {}) const {
    impl_->save(path, options);
  }
  std::optional<std::string> stored() const { return impl_->stored(); }
  /// Loads the functions for calling. RuntimeError, naming the functions, if extern functions
  /// cannot be resolved, or if the code is for another kind of processor.
  runtime::Module load() const { return impl_->load(); }

 private:
  Shared<const ArtifactImpl> impl_;
};

}  // namespace tenon::codegen
