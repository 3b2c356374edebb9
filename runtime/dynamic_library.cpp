#include "runtime/dynamic_library.h"

#include <dlfcn.h>

#include "tenon/support/error.h"

namespace tenon::runtime {

DynamicLibrary::DynamicLibrary(const std::filesystem::path& path, Lifetime lifetime)
    : path_(path.string()),
      lifetime_(lifetime),
      handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* reason = dlerror();
  throw RuntimeError(path_ + " cannot be loaded" +
                     (reason == nullptr ? "" : " (" + std::string(reason) + ")"));
}

DynamicLibrary::~DynamicLibrary() {
  if (lifetime_ == Lifetime::UntilDestroyed) dlclose(handle_);
}

void* DynamicLibrary::find(const std::string& symbol) const {
  return dlsym(handle_, symbol.c_str());
}

void* DynamicLibrary::find_or_throw(const std::string& symbol) const {
  void* address = find(symbol);
  if (address == nullptr) throw RuntimeError(path_ + " has no `" + symbol + "`");
  return address;
}

}  // namespace tenon::runtime
