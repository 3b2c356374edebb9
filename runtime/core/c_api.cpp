#include "tenon/runtime/c_api.h"

#include <array>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/core/last_error.h"
#include "runtime/core/library_module.h"
#include "tenon/runtime/profiler.h"
#include "tenon/runtime/symbols.h"
#include "tenon/support/function_ref.h"

namespace tenon::runtime {

namespace {

template <class T>
constexpr DataType c_type() {
  using enum DataType::Code;
  if constexpr (std::is_pointer_v<T>)
    return {.code = Handle, .bits = 64};
  else
    return {.code = std::is_signed_v<T> ? Int : UInt, .bits = 8 * sizeof(T)};
}

template <class... T>
constexpr std::array<DataType, sizeof...(T)> kCTypes = {c_type<T>()...};

/// Describes a function. Its types are derived from the declaration, so that they are not listed
/// twice.
template <class Result, class... Params>
CSymbol symbol(std::string_view name, Result (*function)(Params...)) {
  CSymbol symbol{.name = name,
                 .address = reinterpret_cast<void*>(function),
                 .result = std::nullopt,
                 .params = kCTypes<Params...>};
  if constexpr (!std::is_void_v<Result>) symbol.result = c_type<Result>();
  return symbol;
}

}  // namespace

std::span<const CSymbol> c_symbols() {
  static const CSymbol symbols[] = {
      symbol("tenon_last_error", tenon_last_error),
      symbol("tenon_set_last_error", tenon_set_last_error),
      symbol("tenon_parallel_for", tenon_parallel_for),
      symbol("tenon_parallel_launch", tenon_parallel_launch),
      symbol("tenon_parallel_barrier", tenon_parallel_barrier),
      symbol("tenon_workspace_alloc", tenon_workspace_alloc),
      symbol("tenon_workspace_free", tenon_workspace_free),
      symbol("tenon_launch_kernel", tenon_launch_kernel),
      symbol("tenon_enable_tiles", tenon_enable_tiles),
      symbol("tenon_element_differs", tenon_element_differs),
      symbol("tenon_profile_begin_call", tenon_profile_begin_call),
      symbol("tenon_profile_end_call", tenon_profile_end_call),
      symbol("tenon_profile_enter", tenon_profile_enter),
      symbol("tenon_profile_leave", tenon_profile_leave),
      symbol("tenon_profile_parallel_for", tenon_profile_parallel_for),
      symbol("tenon_profile_parallel_launch", tenon_profile_parallel_launch),
      symbol("tenon_profile_parallel_barrier", tenon_profile_parallel_barrier),
      symbol("tenon_profile_workspace_alloc", tenon_profile_workspace_alloc),
      symbol("tenon_profile_workspace_free", tenon_profile_workspace_free),
      symbol("tenon_index_outside", tenon_index_outside),
      symbol("tenon_register_system_library", tenon_register_system_library),
      symbol("tenon_unregister_system_library", tenon_unregister_system_library),
  };
  return symbols;
}

const CSymbol& c_symbol(std::string_view name) {
  for (const CSymbol& symbol : c_symbols())
    if (symbol.name == name) return symbol;
  internal_error("the runtime has no function `" + std::string(name) + "` for generated code");
}

namespace {

/// Calls `use` with the functions that the program has defined by define_function, under a lock.
void with_defined_functions(FunctionRef<void(std::map<std::string, void*>&)> use) {
  static std::mutex mutex;
  static std::map<std::string, void*> addresses;
  const std::scoped_lock lock(mutex);
  use(addresses);
}

}  // namespace

void define_function(const std::string& name, void* address) {
  with_defined_functions([&](std::map<std::string, void*>& addresses) {
    if (address != nullptr) {
      addresses[name] = address;
    } else {
      addresses.erase(name);
    }
  });
}

std::map<std::string, void*> defined_functions() {
  std::map<std::string, void*> result;
  with_defined_functions(
      [&](const std::map<std::string, void*>& addresses) { result = addresses; });
  return result;
}

}  // namespace tenon::runtime

const TenonRuntimeApi* tenon_runtime_api(void) {
  static const TenonRuntimeApi api = {
      .version = kTenonAbiVersion,
      .set_last_error = tenon_set_last_error,
      .parallel_for = tenon_parallel_for,
      .parallel_launch = tenon_parallel_launch,
      .parallel_barrier = tenon_parallel_barrier,
      .workspace_alloc = tenon_workspace_alloc,
      .workspace_free = tenon_workspace_free,
      .launch_kernel = tenon_launch_kernel,
  };
  return &api;
}

struct TenonModule {
  tenon::runtime::Module module;
};

TenonModule* tenon_module_load(const char* path) {
  TenonModule* result = nullptr;
  tenon::runtime::without_exceptions([&]() -> std::int32_t {
    if (path == nullptr)
      return tenon::runtime::fail(kTenonInvalidArgument, "tenon_module_load: path is NULL");
    result = new TenonModule{tenon::runtime::Module(tenon::runtime::load_library_module(path))};
    return kTenonOk;
  });
  return result;
}

void tenon_module_free(TenonModule* module) { delete module; }

int32_t tenon_module_call(TenonModule* module, const char* function, const TenonValue* args,
                          const int32_t* type_codes, int32_t num_args) {
  return tenon::runtime::without_exceptions([&]() -> std::int32_t {
    const auto refuse = [](const char* what) {
      return tenon::runtime::fail(kTenonInvalidArgument, std::string("tenon_module_call: ") + what);
    };
    if (module == nullptr) return refuse("module is NULL");
    if (function == nullptr) return refuse("function is NULL");
    if (num_args < 0) return refuse("num_args is negative");
    if (num_args > 0 && args == nullptr) return refuse("args is NULL");
    if (num_args > 0 && type_codes == nullptr) return refuse("type_codes is NULL");
    std::vector<tenon::runtime::Argument> list;
    list.reserve(static_cast<std::size_t>(num_args));
    for (int32_t i = 0; i < num_args; ++i) list.emplace_back(args[i], type_codes[i]);
    module->module[function].call(list, std::nullopt);
    return kTenonOk;
  });
}
