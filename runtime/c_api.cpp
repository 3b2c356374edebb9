#include "tenon/runtime/c_api.h"

#include <string>
#include <vector>

#include "runtime/last_error.h"
#include "runtime/library_module.h"
#include "tenon/runtime/symbols.h"

namespace tenon::runtime {

namespace {

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::span<const CSymbol> c_symbols() {
  static const CSymbol symbols[] = {
      {"tenon_last_error", address(tenon_last_error)},
      {"tenon_set_last_error", address(tenon_set_last_error)},
      {"tenon_parallel_for", address(tenon_parallel_for)},
      {"tenon_parallel_launch", address(tenon_parallel_launch)},
      {"tenon_parallel_barrier", address(tenon_parallel_barrier)},
      {"tenon_workspace_alloc", address(tenon_workspace_alloc)},
      {"tenon_workspace_free", address(tenon_workspace_free)},
      {"tenon_element_differs", address(tenon_element_differs)},
      {"tenon_register_system_library", address(tenon_register_system_library)},
      {"tenon_unregister_system_library", address(tenon_unregister_system_library)},
  };
  return symbols;
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
