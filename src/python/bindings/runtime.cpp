// The bindings of compiled functions and modules.
#include "bindings/callback.h"
#include "bindings/rooms.h"

#include <nanobind/stl/filesystem.h>

#include <filesystem>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "bindings/packed.h"
#include "tenon/runtime/bound_call.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/spec.h"
#include "tenon/runtime/threads.h"

namespace tenon::python {

using runtime::Device;
using runtime::Function;
using runtime::Module;
using runtime::TimeEvaluator;
using runtime::Timing;

namespace {

void call(const Function& function, PyObject* args) {
  const CallArguments arguments(function, args);
  const RunningCall running;
  try {
    const ReleasedGil release;
    function.call(arguments.list(), std::nullopt);
  } catch (const RuntimeError& error) {
    rethrow_raised(error.what());
    // The user's line is only determined here, because finding it takes time and only errors need
    // it.
    throw RuntimeError(error.what(), here());
  }
}

/// Implements `function(*arguments)`. Does not use nanobind's dispatch, which is slower.
PyObject* call_function(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (kwargs != nullptr && PyDict_Size(kwargs) != 0) {
    PyErr_SetString(PyExc_TypeError, "a compiled function takes no keyword arguments");
    return nullptr;
  }
  try {
    call(instance<Function>(self), args);
  } catch (...) {
    set_python_error(std::current_exception());
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyType_Slot function_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_function)}, {0, nullptr}};

/// A function, and the evaluator that measures its calls.
struct Evaluator {
  Function function;
  TimeEvaluator evaluator;
};

}  // namespace

void bind_runtime(PyModule& m, PyModule& runtime) {
  bind_arrays(m, runtime);
  bind_packed(m, runtime);
  PyClass<Timing>(runtime, "Timing", "Timing results of a function, in seconds per call.")
      .def_ro("mean", &Timing::mean)
      .def_ro("median", &Timing::median)
      .def_ro("min", &Timing::min)
      .def_ro("max", &Timing::max)
      .def_ro("stdev", &Timing::stdev)
      .def_ro("results", &Timing::results)
      .def("__repr__", [](const Timing& t) {
        return "Timing(mean=" + std::to_string(t.mean * 1e3) +
               " ms, repeat=" + std::to_string(t.results.size()) + ")";
      });
  PyClass<Evaluator>(runtime, "TimeEvaluator")
      .def("__call__", [](const Evaluator& e, const nb::args& args) {
        const SourceLocation where = here();
        const CallArguments arguments(e.function, args.ptr());
        const ReleasedGil release;
        return e.evaluator.evaluate(arguments.list(), where);
      });
  PyClass<Function>(runtime, "Function", nb::type_slots(function_slots),
                    "A compiled function. The arguments, arrays and scalars, are checked before "
                    "each call.")
      .def_prop_ro("name", &Function::name)
      .def_prop_ro(
          "params",
          [](const Function& f) {
            std::vector<std::pair<std::string, std::string>> params;
            for (const runtime::ParamSpec& each : f.spec().params)
              params.emplace_back(each.name, describe(each));
            return params;
          },
          "The name and type of each parameter.")
      .def(
          "time_evaluator",
          [](const Function& f, Device device, int number, int repeat, double min_repeat_ms) {
            return Evaluator{
                f, f.time_evaluator(
                       device, {.number = number, .repeat = repeat, .min_repeat_ms = min_repeat_ms},
                       here())};
          },
          "device"_a = cpu(0), "number"_a = 10, "repeat"_a = 1, "min_repeat_ms"_a = 0.0)
      .def("__repr__", [](const Function& f) {
        std::string text = f.name() + "(";
        const auto& params = f.spec().params;
        for (std::size_t n = 0; n < params.size(); ++n)
          text += (n ? ", " : "") + params[n].name + ": " + describe(params[n]);
        return text + ")";
      });
  PyClass<Module>(runtime, "Module", "Compiled functions.")
      .def(
          "__getitem__",
          [](const Module& module, const std::string& name) {
            return module[runtime::FunctionName(name, here())];
          },
          "name"_a)
      .def(
          "__call__",
          [](const Module& module, const nb::args& args) {
            const Function entry = module[runtime::FunctionName(module.entry_name(), here())];
            call(entry, args.ptr());
          },
          "Calls the first function.")
      .def_prop_ro("function_names", &Module::function_names)
      .def_prop_ro("entry_name", &Module::entry_name)
      .def("get_source", with_line(&Module::get_source), "kind"_a = "",
           "Returns the generated text: \"ll\", \"asm\", \"c\", \"cuda\", ...")
      .def_prop_ro("imported_modules", &Module::imported_modules)
      .def(
          "save",
          [](const Module& module, const std::filesystem::path& path, bool standalone) {
            module.save(path, {.standalone = standalone}, here());
          },
          "path"_a, nb::kw_only(), "standalone"_a = false)
      .def_static(
          "load", [](const std::filesystem::path& path) { return Module::load(path, here()); },
          "path"_a)
      .def("__repr__", [](const Module& module) {
        std::string text = "Module(";
        for (const std::string& name : module.function_names())
          text += (text.size() > 7 ? ", " : "") + name;
        return text + ")";
      });
  runtime.def("set_num_threads", with_line(runtime::set_num_threads), "n"_a);
  runtime.def("num_threads", &runtime::num_threads);
}

}  // namespace tenon::python
