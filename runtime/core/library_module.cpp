#include "runtime/core/library_module.h"

#include <algorithm>
#include <mutex>

#include "runtime/core/dynamic_library.h"
#include "tenon/runtime/module_impl.h"
#include "tenon/runtime/processor.h"
#include "tenon/support/function_ref.h"

namespace tenon::runtime {

namespace {

/// Throws RuntimeError if this processor lacks a feature that the function requires; otherwise the
/// code would end the process with an illegal instruction. `place` is the origin of the code.
void check_processor(const FunctionSpec& function, const std::string& place) {
  const std::vector<std::string> missing = missing_features(function.features);
  if (missing.empty()) return;
  std::string list;
  for (const std::string& feature : missing) list += (list.empty() ? "" : ", ") + feature;
  throw RuntimeError("function `" + function.name + "` of " + place +
                     " was compiled for a processor with " + list +
                     ", which this one does not have");
}

class LibraryModule : public ModuleImpl {
 public:
  explicit LibraryModule(const std::filesystem::path& path) : path_(path), library_(path) {
    const auto* manifest = static_cast<const char*>(library_.find("tenon_module_manifest"));
    if (manifest == nullptr)
      throw RuntimeError(path.string() +
                         " is not a module of Tenon: it has no `tenon_module_manifest`");
    functions_ = parse_manifest(manifest);
    refuse_foreign_code();
    if (auto* list = static_cast<TenonKernels* const*>(library_.find("tenon_module_kernels")))
      for (; *list != nullptr; ++list) kernels_.push_back(*list);
    if (auto* slot = static_cast<const TenonRuntimeApi**>(library_.find("tenon_runtime_api_slot")))
      *slot = tenon_runtime_api();
  }

  ~LibraryModule() override {
    for (TenonKernels* kernels : kernels_) tenon_release_kernels(kernels);
  }

  std::string kind() const override { return "library"; }
  const std::vector<FunctionSpec>& functions() const override { return functions_; }
  Function::PackedCall lookup(const FunctionSpec& function) override {
    check_processor(function, path_.string());
    const TenonPackedFunction code = library_.function(function.symbol);
    return code;
  }

  std::vector<std::string> source_kinds() const override {
    std::vector<std::string> kinds;
    for (const TenonKernels* kernels : kernels_)
      if (const std::string kind = kind_of(*kernels); std::ranges::find(kinds, kind) == kinds.end())
        kinds.push_back(kind);
    return kinds;
  }
  std::string source(std::string_view kind) const override {
    std::string text;
    for (const TenonKernels* kernels : kernels_)
      if (kind == kind_of(*kernels)) text.append(kernels->source, kernels->source_bytes);
    return text;
  }

  void save(const std::string& file, const SaveOptions& options) const override {
    if (options.standalone)
      throw RuntimeError("a module that was loaded is saved as the file that it was: `" + file +
                         "` as standalone where the module is built");
    const std::filesystem::path path = file;
    if (path.extension() != path_.extension())
      throw RuntimeError("a module that was loaded from " + path_.filename().string() +
                         " can only be saved as the same kind of file, not as " +
                         path.filename().string());
    library_.save(path);
  }

 private:
  /// Returns the kind of the kernels' text for get_source.
  static std::string kind_of(const TenonKernels& kernels) {
    return to_string(static_cast<DeviceType>(kernels.device_type));
  }

  /// Throws if this processor can run none of the functions. One that it can run suffices, since a
  /// library may have variants for several processors.
  void refuse_foreign_code() const {
    const bool runs = std::ranges::any_of(functions_, [](const FunctionSpec& function) {
      return missing_features(function.features).empty();
    });
    if (!runs && !functions_.empty()) check_processor(functions_.front(), path_.string());
  }

  std::filesystem::path path_;
  PrivateLibrary library_;
  std::vector<FunctionSpec> functions_;
  std::vector<TenonKernels*> kernels_;
};

}  // namespace

std::shared_ptr<ModuleImpl> load_library_module(const std::filesystem::path& path) {
  // The library's references to the runtime are resolved while it is loaded.
  export_library_of(reinterpret_cast<const void*>(&tenon_runtime_api));
  return std::make_shared<LibraryModule>(path);
}

// ---- modules that are linked into the program ---------------------------------------------------

namespace {

/// The registration of one object. The names and functions that it points to are in the object's
/// code.
struct Registration {
  std::string prefix;
  const char* manifest;
  const TenonPackedFunction* functions;
};

/// Calls `use` with the registrations under a lock. Objects add themselves before main, in any
/// order. Libraries that are loaded later add themselves too, and remove themselves when they are
/// closed.
void with_registrations(FunctionRef<void(std::vector<Registration>&)> use) {
  static std::mutex mutex;
  // Never destroyed: objects unregister after main, in any order.
  static auto& registrations = *new std::vector<Registration>;
  const std::lock_guard lock(mutex);
  use(registrations);
}

std::vector<Registration> all_registrations() {
  std::vector<Registration> result;
  with_registrations([&](const std::vector<Registration>& all) { result = all; });
  return result;
}

/// Whether the functions belong to a registration that still exists.
bool are_registered(const TenonPackedFunction* functions) {
  return std::ranges::any_of(all_registrations(), [&](const Registration& registration) {
    return registration.functions == functions;
  });
}

class SystemLibrary : public ModuleImpl {
 public:
  explicit SystemLibrary(const std::string& prefix) {
    for (const Registration& registration : all_registrations()) {
      if (registration.prefix != prefix) continue;
      // Another thread may be closing the library. Therefore the library is first held open, and
      // only then is it checked whether the registration still exists.
      std::shared_ptr<const void> held = hold_library_of(registration.functions);
      if (!are_registered(registration.functions)) continue;
      add(registration);
      libraries_.push_back(std::move(held));
    }
    if (functions_.empty())
      throw RuntimeError(
          "system_library: no code of this program was compiled for the system library `" + prefix +
          "`; there is " + known_prefixes() +
          ". Code gets there by the target key -system-lib=<prefix>, and by linking its object");
  }

  std::string kind() const override { return "system library"; }
  const std::vector<FunctionSpec>& functions() const override { return functions_; }
  Function::PackedCall lookup(const FunctionSpec& function) override {
    check_processor(function, "the system library");
    const auto place = std::ranges::find(functions_, function.name, &FunctionSpec::name);
    return addresses_[static_cast<std::size_t>(place - functions_.begin())];
  }

 private:
  void add(const Registration& registration) {
    if (registration.manifest == nullptr || registration.functions == nullptr)
      throw RuntimeError("system_library: an object was registered for `" + registration.prefix +
                         "` without a manifest or without functions");
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
    for (const Registration& registration : all_registrations()) {
      const std::string name = "`" + registration.prefix + "`";
      if (text.find(name) == std::string::npos) text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "none" : text;
  }

  std::vector<FunctionSpec> functions_;
  /// The address of each function.
  std::vector<TenonPackedFunction> addresses_;
  /// Keeps the libraries that contain the functions loaded.
  std::vector<std::shared_ptr<const void>> libraries_;
};

}  // namespace

std::shared_ptr<ModuleImpl> find_system_library(const std::string& prefix) {
  return std::make_shared<SystemLibrary>(prefix);
}

}  // namespace tenon::runtime

void tenon_register_system_library(const char* prefix, const char* manifest,
                                   const TenonPackedFunction* functions) {
  using tenon::runtime::Registration;
  tenon::runtime::with_registrations([&](std::vector<Registration>& all) {
    all.push_back({prefix == nullptr ? "" : prefix, manifest, functions});
  });
}

void tenon_unregister_system_library(const TenonPackedFunction* functions) {
  using tenon::runtime::Registration;
  tenon::runtime::with_registrations([&](std::vector<Registration>& all) {
    std::erase_if(all, [&](const Registration& r) { return r.functions == functions; });
  });
}
