#include "tenon/runtime/module.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/core/at_line.h"
#include "runtime/core/library_module.h"
#include "tenon/runtime/module_impl.h"

namespace tenon::runtime {

namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text.empty() ? "none" : text;
}

}  // namespace

std::string ModuleImpl::source(std::string_view) const {
  internal_error("a " + kind() + " module lists a kind of source that it does not provide");
}

void ModuleImpl::save(const std::string& path, const SaveOptions&) const {
  throw RuntimeError("this module (" + kind() + ") cannot be saved as " +
                     std::filesystem::path(path).filename().string());
}

struct Module::State {
  explicit State(std::shared_ptr<ModuleImpl> made) : impl(std::move(made)) {
    for (const FunctionSpec& spec : impl->functions()) functions.try_emplace(spec.name, nullptr);
  }

  /// Returns the function, or null if no function has that name.
  const Function* find(std::string_view name) {
    const auto entry = functions.find(name);
    if (entry == functions.end()) return nullptr;
    if (const Function* function = entry->second.load(std::memory_order_acquire)) return function;
    const std::lock_guard lock(making);
    if (entry->second == nullptr) {
      const auto spec = std::ranges::find(impl->functions(), name, &FunctionSpec::name);
      handles.push_back(std::make_unique<const Function>(*spec, impl->lookup(*spec), impl));
      entry->second.store(handles.back().get(), std::memory_order_release);
    }
    return entry->second;
  }

  std::shared_ptr<ModuleImpl> impl;
  std::mutex making;
  /// The functions by name; null before the first lookup.
  std::map<std::string_view, std::atomic<const Function*>> functions;
  /// Owns the functions that were looked up. Guarded by `making`.
  std::vector<std::unique_ptr<const Function>> handles;
};

Module::Module(std::shared_ptr<ModuleImpl> impl)
    : state_(std::make_shared<State>(std::move(impl))) {}

const std::shared_ptr<ModuleImpl>& Module::impl() const { return state_->impl; }

Function Module::operator[](const FunctionName& name) const {
  if (const Function* function = state_->find(name.name)) return *function;
  throw RuntimeError("the module has no function `" + std::string(name.name) + "`; it has " +
                         list_of(function_names()),
                     name.where);
}

std::vector<std::string> Module::function_names() const {
  std::vector<std::string> names;
  for (const FunctionSpec& spec : impl()->functions()) names.push_back(spec.name);
  return names;
}

std::string Module::entry_name() const {
  if (impl()->functions().empty()) throw RuntimeError("entry_name: the module has no function");
  return impl()->functions().front().name;
}

std::string Module::get_source(const Name& kind, SourceLocation where) const {
  const std::vector<std::string> kinds = impl()->source_kinds();
  if (kind.empty() && !kinds.empty()) return impl()->source(kinds.front());
  if (std::ranges::find(kinds, kind) != kinds.end()) return impl()->source(kind);
  throw RuntimeError("get_source: this module (" + impl()->kind() + ") has no source of kind `" +
                         std::string(kind) + "`; it has " + list_of(kinds),
                     where);
}

std::vector<Module> Module::imported_modules() const { return impl()->imported_modules(); }

void Module::save(const FilePath& path, SaveOptions options, SourceLocation where) const {
  try {
    impl()->save(path, options);
  } catch (const RuntimeError& error) {
    if (error.where()) throw;
    throw RuntimeError(error.what(), where);
  }
}

Module Module::load(const FilePath& path, SourceLocation where) {
  return at_line(
      where, [&] { return Module(load_library_module(static_cast<const std::string&>(path))); });
}

Module Module::system_library(const Name& prefix, SourceLocation where) {
  return at_line(where, [&] { return Module(find_system_library(prefix)); });
}

}  // namespace tenon::runtime
