#include "runtime/library_module.h"

#include "runtime/dynamic_library.h"

namespace tenon::runtime {

namespace {

/// A path that the loader takes as one: a bare name would be searched in the system's folders.
std::filesystem::path with_folder(const std::filesystem::path& path) {
  return path.has_parent_path() ? path : "." / path;
}

class LibraryModule : public ModuleImpl {
 public:
  explicit LibraryModule(const std::filesystem::path& path)
      : library_(with_folder(path)), path_(path) {
    const auto* manifest = static_cast<const char*>(library_.find("tenon_module_manifest"));
    if (manifest == nullptr)
      throw RuntimeError(path.string() +
                         " is no module of Tenon: it has no `tenon_module_manifest`");
    functions_ = parse_manifest(manifest);
    if (auto* slot = static_cast<const TenonRuntimeApi**>(library_.find("tenon_runtime_api_slot")))
      *slot = tenon_runtime_api();
  }

  std::string kind() const override { return "library"; }
  const std::vector<FunctionSpec>& functions() const override { return functions_; }
  Function::PackedCall lookup(const FunctionSpec& function) override {
    return library_.function<std::int32_t(const TenonValue*, const std::int32_t*, std::int32_t)>(
        function.symbol);
  }

  void save(const std::filesystem::path& path) const override {
    if (path.extension() != path_.extension())
      throw RuntimeError("a module that was loaded from " + path_.filename().string() +
                         " can be saved as the same kind of file only, not as " +
                         path.filename().string());
    std::error_code error;
    std::filesystem::copy_file(path_, path, std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error) throw RuntimeError(path.string() + " cannot be written: " + error.message());
  }

 private:
  DynamicLibrary library_;
  std::filesystem::path path_;
  std::vector<FunctionSpec> functions_;
};

}  // namespace

std::shared_ptr<ModuleImpl> load_library_module(const std::filesystem::path& path) {
  return std::make_shared<LibraryModule>(path);
}

}  // namespace tenon::runtime
