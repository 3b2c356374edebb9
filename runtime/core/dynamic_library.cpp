#include "runtime/core/dynamic_library.h"

#include <dlfcn.h>

#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

/// Loads a file, which messages call `name`. RuntimeError with the loader's reason.
void* load(const std::string& path, const std::string& name) {
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* const error = dlerror();
  std::string reason = error == nullptr ? "" : error;
  if (reason.starts_with(path)) reason.replace(0, path.size(), name);
  throw RuntimeError(name + " cannot be loaded" + (reason.empty() ? "" : " (" + reason + ")"));
}

}  // namespace

DynamicLibrary::DynamicLibrary(const std::filesystem::path& path, Lifetime lifetime)
    : path_(path.string()), lifetime_(lifetime), handle_(load(path_, path_)) {}

DynamicLibrary::DynamicLibrary(const std::string& path, const std::string& name)
    : path_(name), lifetime_(Lifetime::UntilDestroyed), handle_(load(path, name)) {}

DynamicLibrary::~DynamicLibrary() {
  if (lifetime_ == Lifetime::UntilDestroyed) dlclose(handle_);
}

void* DynamicLibrary::find(const std::string& symbol) const {
  return dlsym(handle_, symbol.c_str());
}

PrivateLibrary::PrivateLibrary(const std::filesystem::path& path) : file_(path) {
  library_.emplace(file_.private_path(), path.string());
}

PrivateLibrary::~PrivateLibrary() {
  library_.reset();
  // The loader keeps libraries with certain symbols until the process ends; then the name must stay
  // reserved.
  if (void* handle = dlopen(file_.private_path().c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    dlclose(handle);
    file_.keep_for_good();
  }
}

std::shared_ptr<const void> hold_library_of(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* const handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  return std::shared_ptr<const void>(handle, [](const void* h) { dlclose(const_cast<void*>(h)); });
}

void* DynamicLibrary::find_or_throw(const std::string& symbol) const {
  void* address = find(symbol);
  if (address == nullptr) throw RuntimeError(path_ + " has no `" + symbol + "`");
  return address;
}

}  // namespace tenon::runtime
