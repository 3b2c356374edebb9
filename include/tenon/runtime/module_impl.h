// The interface for code that makes modules: code generators and library loaders. module.h suffices
// to call functions.
#pragma once

#include <functional>

#include "tenon/runtime/module.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// Code with the calling convention of TenonPackedFunction.
struct PackedCall
    : std::function<std::int32_t(const TenonValue*, const std::int32_t*, std::int32_t)> {
  using function::function;
};

class Profiler;

/// The implementation of a Module: code compiled in this process, a loaded library, or the kernels
/// of a device.
class ModuleImpl {
 public:
  virtual ~ModuleImpl() = default;

  /// Returns the kind for messages: "llvm", "library", "cuda".
  virtual std::string kind() const = 0;
  /// Returns the functions in the order in which they were built.
  virtual const std::vector<FunctionSpec>& functions() const = 0;
  /// Returns the compiled code of one of functions(). Valid as long as this object lives.
  virtual PackedCall lookup(const FunctionSpec& function) = 0;

  /// Returns the kinds that source() accepts, the default first.
  virtual std::vector<std::string> source_kinds() const { return {}; }
  /// Returns the source text. Precondition: `kind` is one of source_kinds().
  virtual std::string source(std::string_view kind) const;
  /// Writes a file. RuntimeError for an unsupported suffix.
  virtual void save(const std::string& path, const SaveOptions& options) const;
  /// Returns the modules that the functions use, such as the kernels of a device.
  virtual std::vector<Module> imported_modules() const { return {}; }
  /// Returns the profiler that the functions report to; null if they do not report.
  virtual std::shared_ptr<Profiler> profiler() const { return nullptr; }
};

}  // namespace tenon::runtime
