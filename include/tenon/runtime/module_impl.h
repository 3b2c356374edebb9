// What makes modules: code generators, and what loads libraries. Who calls functions needs module.h
// alone.
#pragma once

#include <functional>

#include "tenon/runtime/module.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// Code that is called by the convention of TenonPackedFunction.
struct PackedCall
    : std::function<std::int32_t(const TenonValue*, const std::int32_t*, std::int32_t)> {
  using function::function;
};

class Profiler;

/// What is behind a Module: code compiled in this process, a loaded library, the kernels of a
/// device.
class ModuleImpl {
 public:
  virtual ~ModuleImpl() = default;

  /// For messages: "llvm", "library", "cuda".
  virtual std::string kind() const = 0;
  /// In the order in which they were built.
  virtual const std::vector<FunctionSpec>& functions() const = 0;
  /// The compiled code of one of functions(); valid as long as this lives.
  virtual PackedCall lookup(const FunctionSpec& function) = 0;

  /// What source() can give, the default first.
  virtual std::vector<std::string> source_kinds() const { return {}; }
  /// Asked only for one of source_kinds().
  virtual std::string source(std::string_view kind) const;
  /// Throws RuntimeError for a suffix that it cannot write.
  virtual void save(const std::string& path, const SaveOptions& options) const;
  /// What the functions here use: the kernels of a device.
  virtual std::vector<Module> imported_modules() const;
  /// What the functions report their times to; null if they do not.
  virtual std::shared_ptr<Profiler> profiler() const;
};

}  // namespace tenon::runtime
