#include "bindings/driver.h"

#include "tenon/tir/print.h"

namespace tenon::python {

Target to_target(const TargetLike& target) {
  if (const auto* made = std::get_if<Target>(&target)) return *made;
  return Target(std::get<std::string>(target), here());
}

namespace {

/// Reports a warning of the schedule as a Python warning of the user's line.
void warn(const std::string& message) {
  const nb::gil_scoped_acquire gil;
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) throw nb::python_error();
}

/// Fills the options from keyword arguments.
BuildOptions build_options(const nb::kwargs& kwargs) {
  BuildOptions options;
  options.on_warning = warn;
  auto refuse = [](const std::string& key, const char* expected, nb::handle given) {
    throw nb::type_error(
        ("option `" + key + "` must be " + expected + ", got " + nb::inst_name(given).c_str())
            .c_str());
  };
  auto take = [&]<class T>(const std::string& key, nb::handle value, const char* expected,
                           T& into) {
    if (!nb::try_cast(value, into)) refuse(key, expected, value);
  };
  for (auto [name, value] : kwargs) {
    const auto key = nb::cast<std::string>(name);
    if (key == "simple_mode") {
      take(key, value, "a bool", options.simple_mode);
    } else if (key == "name") {
      std::string text;
      take(key, value, "a str", text);
      options.name = Name(text);
    } else if (key == "binds") {
      nb::object pairs =
          PyDict_Check(value.ptr()) ? nb::steal(PyMapping_Items(value.ptr())) : nb::borrow(value);
      std::vector<std::pair<te::Tensor, tir::Buffer>> binds;
      if (!nb::try_cast(pairs, binds)) refuse(key, "a dict of tensors to buffers", value);
      options.binds = std::move(binds);
    } else if (key == "link") {
      take(key, value, "a list of paths", options.link);
    } else if (key == "fast_math") {
      take(key, value, "a bool", options.fast_math);
    } else if (key == "instrument_bounds") {
      take(key, value, "a bool", options.instrument_bounds);
    } else if (key == "check_intrinsics") {
      take(key, value, "a bool", options.check_intrinsics);
    } else if (key == "allow_parallel_reduction_race") {
      take(key, value, "a bool", options.allow_parallel_reduction_race);
    } else if (key == "argument_alignment") {
      take(key, value, "an int", options.argument_alignment);
    } else if (key == "autotune_loops") {
      take(key, value, "a bool or None", options.autotune_loops);
    } else if (key == "opt_level") {
      take(key, value, "an int", options.opt_level);
    } else if (key == "stage_comments") {
      take(key, value, "a bool", options.stage_comments);
    } else if (key == "disable_cse") {
      take(key, value, "a bool", options.passes.disable_cse);
    } else if (key == "disable_storage_rewrite") {
      take(key, value, "a bool", options.passes.disable_storage_rewrite);
    } else if (key == "disable_vectorize") {
      take(key, value, "a bool", options.passes.disable_vectorize);
    } else if (key == "partition_constant_loops") {
      take(key, value, "a bool", options.passes.partition.constant_loops);
    } else if (key == "legacy_prefetch_index") {
      take(key, value, "a bool", options.passes.legacy_prefetch_index);
    } else if (key == "profile") {
      take(key, value, "a bool", options.profile);
    } else {
      throw nb::type_error(("unknown option `" + key + "`").c_str());
    }
  }
  return options;
}

}  // namespace

void bind_driver(nb::module_& m) {
  nb::class_<Target>(m, "Target", "What to compile for: a kind and options.")
      .def(
          "__init__",
          [](Target* self, const std::string& text) { new (self) Target(text, here()); }, "text"_a)
      .def("describe", &Target::describe)
      .def("__str__", &Target::str)
      .def("__repr__", [](const Target& t) { return "Target(\"" + t.str() + "\")"; });
  m.def(
      "lower",
      [](const te::Schedule& s, const std::vector<LowerArgument>& args, const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs);
        return lower(s, args, options, here());
      },
      "schedule"_a, "args"_a, "options"_a, "Lowers a schedule to a loop program.");
  m.def(
      "lower",
      [](const tir::PrimFunc& func, const nb::kwargs& kwargs) {
        return lower(func, build_options(kwargs), here());
      },
      "func"_a, "options"_a);
  m.def(
      "build",
      [](const te::Schedule& s, const std::vector<LowerArgument>& args, const TargetLike& target,
         const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs);
        const SourceLocation where = here();
        const Target made = to_target(target);
        const te::Schedule copy = s.copy();
        const nb::gil_scoped_release release;
        return build(copy, args, made, options, where);
      },
      "schedule"_a, "args"_a, "target"_a = "llvm", "options"_a,
      "Compiles a schedule to a module.");
  m.def(
      "build",
      [](const tir::IRModule& module, const TargetLike& target, const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs);
        const SourceLocation where = here();
        const Target made = to_target(target);
        const nb::gil_scoped_release release;
        return build(module, made, options, where);
      },
      "module"_a, "target"_a = "llvm", "options"_a);
}

}  // namespace tenon::python
