#include "tenon/runtime/module.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/library_module.h"
#include "runtime/system_library.h"

namespace tenon::runtime {

namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text.empty() ? "none" : text;
}

}  // namespace

std::string ModuleImpl::source(std::string_view) const {
  internal_error("a " + kind() + " module names a kind of source that it does not give");
}

void ModuleImpl::save(const std::filesystem::path& path) const {
  throw RuntimeError("this module (" + kind() + ") cannot be saved as " + path.filename().string());
}

std::vector<Module> ModuleImpl::imported_modules() const { return {}; }

struct Module::State {
  explicit State(std::shared_ptr<ModuleImpl> made) : impl(std::move(made)) {}

  std::shared_ptr<ModuleImpl> impl;
  std::mutex mutex;
  /// Those that were asked for so far.
  std::vector<Function> functions;
};

Module::Module(std::shared_ptr<ModuleImpl> impl)
    : state_(std::make_shared<State>(std::move(impl))) {}

const std::shared_ptr<ModuleImpl>& Module::impl() const { return state_->impl; }

Function Module::operator[](const FunctionName& name) const {
  std::lock_guard lock(state_->mutex);
  auto known = std::ranges::find(state_->functions, name.name, &Function::name);
  if (known != state_->functions.end()) return *known;

  const std::vector<FunctionSpec>& specs = impl()->functions();
  auto spec = std::ranges::find(specs, name.name, &FunctionSpec::name);
  if (spec == specs.end())
    throw RuntimeError(
        "the module has no function `" + name.name + "`; it has " + list_of(function_names()),
        name.where);
  return state_->functions.emplace_back(*spec, impl()->lookup(*spec), impl());
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

void Module::save(const std::filesystem::path& path, SourceLocation where) const {
  try {
    impl()->save(path);
  } catch (const RuntimeError& error) {
    if (error.where()) throw;
    throw RuntimeError(error.what(), where);
  }
}

Module Module::load(const std::filesystem::path& path, SourceLocation where) {
  try {
    return Module(load_library_module(path));
  } catch (const RuntimeError& error) {
    throw RuntimeError(error.what(), where);
  }
}

Module Module::system_library(const Name& prefix, SourceLocation where) {
  try {
    return Module(find_system_library(prefix));
  } catch (const RuntimeError& error) {
    throw RuntimeError(error.what(), where);
  }
}

}  // namespace tenon::runtime
