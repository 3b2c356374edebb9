#include "runtime/system_library.h"

#include <algorithm>
#include <mutex>

namespace tenon::runtime {

namespace {

/// What one object has registered; its texts and functions are part of the program.
struct Registration {
  std::string_view prefix;
  const char* manifest;
  const TenonPackedFunction* functions;
};

/// Filled before main by objects in any order, and later by libraries that are loaded.
class Registry {
 public:
  static Registry& of_process() {
    static Registry registry;
    return registry;
  }

  void add(const Registration& registration) {
    const std::lock_guard lock(mutex_);
    registrations_.push_back(registration);
  }
  std::vector<Registration> all() const {
    const std::lock_guard lock(mutex_);
    return registrations_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Registration> registrations_;
};

class SystemLibrary : public ModuleImpl {
 public:
  explicit SystemLibrary(const std::string& prefix) {
    for (const Registration& registration : Registry::of_process().all())
      if (registration.prefix == prefix) add(registration);
    if (functions_.empty())
      throw RuntimeError(
          "system_library: no code of this program was compiled for the system library `" + prefix +
          "`; there is " + known_prefixes() +
          ". Code gets there by the target key -system-lib=<prefix>, and by linking its object");
  }

  std::string kind() const override { return "system library"; }
  const std::vector<FunctionSpec>& functions() const override { return functions_; }
  Function::PackedCall lookup(const FunctionSpec& function) override {
    const auto place = std::ranges::find(functions_, function.name, &FunctionSpec::name);
    return addresses_[static_cast<std::size_t>(place - functions_.begin())];
  }

 private:
  void add(const Registration& registration) {
    std::size_t n = 0;
    for (FunctionSpec& function : parse_manifest(registration.manifest)) {
      if (std::ranges::find(functions_, function.name, &FunctionSpec::name) != functions_.end())
        throw RuntimeError("system_library: two objects of this program define function `" +
                           function.name +
                           "`; compile them with different prefixes (-system-lib=<prefix>)");
      functions_.push_back(std::move(function));
      addresses_.push_back(registration.functions[n++]);
    }
  }

  static std::string known_prefixes() {
    std::string text;
    for (const Registration& registration : Registry::of_process().all()) {
      const std::string name = "`" + std::string(registration.prefix) + "`";
      if (text.find(name) == std::string::npos) text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "none" : text;
  }

  std::vector<FunctionSpec> functions_;
  /// Of each of them.
  std::vector<TenonPackedFunction> addresses_;
};

}  // namespace

std::shared_ptr<ModuleImpl> find_system_library(const std::string& prefix) {
  return std::make_shared<SystemLibrary>(prefix);
}

}  // namespace tenon::runtime

void tenon_register_system_library(const char* prefix, const char* manifest,
                                   const TenonPackedFunction* functions) {
  tenon::runtime::Registry::of_process().add({prefix, manifest, functions});
}
