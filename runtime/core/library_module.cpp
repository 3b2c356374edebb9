#include "runtime/core/library_module.h"

#include <algorithm>

#include "runtime/core/dynamic_library.h"
#include "runtime/core/processor_check.h"
#include "tenon/runtime/module_impl.h"
#include "tenon/runtime/processor.h"

namespace tenon::runtime {

namespace {

class LibraryModule : public ModuleImpl {
 public:
  explicit LibraryModule(const std::filesystem::path& path) : path_(path), library_(path) {
    const auto* manifest = static_cast<const char*>(library_.find("tenon_module_manifest"));
    if (manifest == nullptr)
      throw RuntimeError(path.string() +
                         " is not a module of Tenon: it has no `tenon_module_manifest`");
    functions_ = parse_manifest(manifest);
    refuse_foreign_code();
    kernels_ = static_cast<TenonKernels* const*>(library_.find("tenon_module_kernels"));
    if (auto* slot = static_cast<const TenonRuntimeApi**>(library_.find("tenon_runtime_api_slot")))
      *slot = tenon_runtime_api();
  }

  ~LibraryModule() override {
    for (TenonKernels* const* kernels = kernels_; kernels && *kernels; ++kernels)
      tenon_release_kernels(*kernels);
  }

  std::string kind() const override { return "library"; }
  const std::vector<FunctionSpec>& functions() const override { return functions_; }
  Function::PackedCall lookup(const FunctionSpec& function) override {
    check_processor(function, path_.string());
    return library_.function<std::int32_t(const TenonValue*, const std::int32_t*, std::int32_t)>(
        function.symbol);
  }

  std::vector<std::string> source_kinds() const override {
    std::vector<std::string> kinds;
    for (TenonKernels* const* kernels = kernels_; kernels && *kernels; ++kernels)
      if (const std::string kind = kind_of(**kernels);
          std::ranges::find(kinds, kind) == kinds.end())
        kinds.push_back(kind);
    return kinds;
  }
  std::string source(std::string_view kind) const override {
    std::string text;
    for (TenonKernels* const* kernels = kernels_; kernels && *kernels; ++kernels)
      if (kind == kind_of(**kernels)) text.append((*kernels)->source, (*kernels)->source_bytes);
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
    library_.file().save(path);
  }

 private:
  /// Returns the kind of the kernels' text for get_source.
  static std::string kind_of(const TenonKernels& kernels) {
    return to_string(static_cast<DeviceType>(kernels.device_type));
  }

  /// One function that runs here suffices, since a library may have variants for several
  /// processors.
  void refuse_foreign_code() const {
    const bool runs = std::ranges::any_of(functions_, [](const FunctionSpec& function) {
      return missing_features(function.features).empty();
    });
    if (!runs && !functions_.empty()) check_processor(functions_.front(), path_.string());
  }

  std::filesystem::path path_;
  PrivateLibrary library_;
  std::vector<FunctionSpec> functions_;
  /// NULL-terminated; null if there are no kernels.
  TenonKernels* const* kernels_ = nullptr;
};

}  // namespace

std::shared_ptr<ModuleImpl> load_library_module(const std::filesystem::path& path) {
  return std::make_shared<LibraryModule>(path);
}

}  // namespace tenon::runtime
