#include "bindings/driver.h"

#include <nanobind/stl/filesystem.h>

#include <algorithm>
#include <filesystem>

#include "bindings/callback.h"
#include "bindings/tir.h"
#include "tenon/tir/print.h"

namespace tenon::python {

Target to_target(const TargetLike& target) {
  if (const auto* made = std::get_if<Target>(&target)) return *made;
  return Target(std::get<std::string>(target), here());
}

namespace {

/// Issues a warning of the compiler as a Python warning for the user's line.
void warn(const std::string& message) {
  const HeldGil gil;
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) throw nb::python_error();
}

/// Converts keyword arguments to the fields of an options structure. Each supported keyword is
/// taken once. finish() then rejects all other keywords, and its message lists the supported names.
class Keywords {
 public:
  Keywords(const nb::kwargs& kwargs, const char* what) : kwargs_(kwargs), what_(what) {}

  /// If the keyword `name` was given, sets `field` to its value.
  template <class T>
  void take(const char* name, const char* expected, T& field) {
    if (nb::handle value = find(name); value.is_valid() && !nb::try_cast(value, field))
      refuse(name, expected, describe_refused<T>(value));
  }
  /// Returns the value of the keyword `name`. Invalid handle if it was not given.
  nb::handle find(const char* name) {
    names_.emplace_back(name);
    return PyDict_GetItemString(kwargs_.ptr(), name);
  }
  /// Returns the function that was given for the keyword `name`. Null for None, or if it was not
  /// given.
  Callback function(const char* name) {
    nb::handle value = find(name);
    if (!value.is_valid() || value.is_none()) return nullptr;
    if (!PyCallable_Check(value.ptr())) refuse(name, "a function", class_name(value));
    return make_callback(nb::borrow<nb::callable>(value));
  }
  /// Throws Python's TypeError if a keyword was given that has not been taken.
  void finish() const {
    for (auto [name, value] : kwargs_) {
      const auto key =
          argument_as<std::string>(name, std::string(what_) + ": expected names of options");
      if (std::ranges::find(names_, key) != names_.end()) continue;
      std::string known;
      for (const std::string& each : names_) known += (known.empty() ? "" : ", ") + each;
      throw type_error(std::string(what_) + ": unknown option `" + key + "`; known: " + known);
    }
  }

 private:
  [[noreturn]] void refuse(const char* name, const char* expected, const std::string& given) const {
    throw type_error(std::string(what_) + ": `" + name + "` must be " + expected + ", got " +
                     given);
  }

  const nb::kwargs& kwargs_;
  const char* what_;
  std::vector<std::string> names_ = {};
};

lowering::PassOptions pass_options(nb::handle given) {
  nb::kwargs kwargs;
  if (given.is_valid()) {
    if (!PyDict_Check(given.ptr()))
      throw nb::type_error("option `passes` must be a dict of pass options");
    for (auto [key, value] : nb::borrow<nb::dict>(given)) kwargs[key] = value;
  }
  Keywords keywords(kwargs, "passes");
  lowering::PassOptions options;
  keywords.take("disable_vectorize", "a bool", options.disable_vectorize);
  keywords.take("disable_storage_rewrite", "a bool", options.disable_storage_rewrite);
  keywords.take("disable_cse", "a bool", options.disable_cse);
  keywords.take("noalias", "a bool", options.noalias);
  keywords.take("legacy_prefetch_index", "a bool", options.legacy_prefetch_index);
  keywords.take("double_buffer_split", "an int", options.double_buffer_split);
  keywords.take("unroll_auto_max_step", "an int", options.unroll.auto_max_step);
  keywords.take("unroll_auto_max_depth", "an int", options.unroll.auto_max_depth);
  keywords.take("unroll_auto_max_extent", "an int", options.unroll.auto_max_extent);
  keywords.take("unroll_explicit", "a bool", options.unroll.explicit_unroll);
  keywords.take("unroll_max_statements", "an int", options.unroll.max_statements);
  keywords.take("partition_constant_loops", "a bool", options.partition.constant_loops);
  keywords.take("partition_max_growth", "an int", options.partition.max_growth);
  keywords.take("verify", "a bool", options.verify);
  keywords.take("verify_each_pass", "a bool", options.verify_each_pass);
  if (const Callback call = keywords.function("on_pass")) {
    options.on_pass = [call](const lowering::PassOptions::PassReport& report) {
      const HeldGil gil;
      (*call)(std::string(report.pass), report.before, report.after, report.seconds);
    };
  }
  keywords.finish();
  return options;
}

}  // namespace

BuildOptions build_options(const nb::kwargs& kwargs, const char* what) {
  Keywords keywords(kwargs, what);
  BuildOptions options;
  options.on_warning = warn;
  keywords.take("simple_mode", "a bool", options.simple_mode);
  std::optional<std::string> name;
  keywords.take("name", "a str", name);
  if (name) options.name = Name(*name);
  if (nb::handle binds = keywords.find("binds"); binds.is_valid())
    options.binds = pairs_from<te::Tensor, tir::Buffer>(
        binds, "option `binds` must be a dict of tensors to buffers");
  keywords.take("link", "a list of paths", options.link);
  keywords.take("fast_math", "a bool", options.fast_math);
  keywords.take("instrument_bounds", "a bool", options.instrument_bounds);
  std::string bounds = "default";
  keywords.take("bounds", "a str", bounds);
  if (bounds != "default" && bounds != "exact")
    throw TypeError(
        std::string(what) + ": bounds must be \"default\" or \"exact\", got \"" + bounds + "\"",
        here());
  options.bounds = bounds == "exact" ? Bounds::Exact : Bounds::Default;
  keywords.take("check_intrinsics", "a bool", options.check_intrinsics);
  keywords.take("allow_parallel_reduction_race", "a bool", options.allow_parallel_reduction_race);
  keywords.take("argument_alignment", "an int", options.argument_alignment);
  keywords.take("autotune_loops", "a bool or None", options.autotune_loops);
  keywords.take("separate_constants", "a bool", options.separate_constants);
  keywords.take("opt_level", "an int", options.opt_level);
  keywords.take("tiered", "a bool", options.tiered);
  keywords.take("stage_comments", "a bool", options.stage_comments);
  keywords.take("profile", "a bool", options.profile);
  keywords.take("cache", "a bool", options.cache);
  options.passes = pass_options(keywords.find("passes"));
  if (const Callback call = keywords.function("on_step")) {
    options.on_step = [call](std::string_view step, double seconds) {
      const HeldGil gil;
      (*call)(std::string(step), seconds);
    };
  }
  if (const Callback call = keywords.function("on_warning")) {
    options.on_warning = [call](const std::string& message) {
      const HeldGil gil;
      (*call)(message);
    };
  }
  keywords.finish();
  return options;
}

namespace {

constexpr const char* kOptions =
    "\n\nOptions, as keywords: simple_mode, name, binds, link, fast_math, instrument_bounds, bounds "
    "(\"default\" or \"exact\"), check_intrinsics, allow_parallel_reduction_race, "
    "argument_alignment, autotune_loops, separate_constants, opt_level, tiered, stage_comments, profile, cache, passes (a dict), "
    "on_step, on_warning.";

/// The functions of a build: a module, a list of modules, or a list of modules with their targets.
using Modules = std::variant<tir::IRModule, std::vector<tir::IRModule>,
                             std::vector<std::pair<tir::IRModule, TargetLike>>>;

std::vector<TargetedModule> targeted(
    const std::vector<std::pair<tir::IRModule, TargetLike>>& modules) {
  std::vector<TargetedModule> list;
  for (const auto& [module, target] : modules) list.push_back({module, to_target(target)});
  return list;
}

/// Returns the options for a build of functions that already have names. Throws TypeError if the
/// option `name` is given.
BuildOptions module_options(const nb::kwargs& kwargs, const std::string& what) {
  BuildOptions options = build_options(kwargs, what.c_str());
  if (options.name.is_given())
    throw TypeError(what +
                        ": the functions of a module keep their names; `name` is for a schedule "
                        "or one function",
                    here());
  return options;
}

}  // namespace

void bind_driver(PyModule& m) {
  using Arguments = const std::vector<LowerArgument>&;
  const std::string lower_doc = std::string("Lowers a schedule to a loop program.") + kOptions;
  const std::string build_doc = std::string("Compiles a schedule to a module.") + kOptions;
  PyClass<Target>(m, "Target", "What to compile for: a kind and options.")
      .def(
          "__init__",
          [](Target* self, const std::string& text) { new (self) Target(text, here()); }, "text"_a)
      .def("describe", &Target::describe)
      .def("__str__", &Target::str)
      .def("__repr__", [](const Target& t) { return "Target(\"" + t.str() + "\")"; });
  m.def(
      "lower",
      [](const te::Schedule& s, Arguments args, const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs, "lower");
        const SourceLocation where = here();
        // Lowers a copy, because other threads may change the schedule when the GIL is released.
        const te::Schedule copy = s.copy();
        const ReleasedGil release;
        return lower(copy, args, options, where);
      },
      "schedule"_a, "args"_a, "options"_a, lower_doc.c_str());
  m.def(
      "lower",
      [](const tir::PrimFunc& func, const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs, "lower");
        const SourceLocation where = here();
        const ReleasedGil release;
        return lower(func, options, where);
      },
      "func"_a, "options"_a);
  m.def(
      "lower_to_loops",
      [](const te::Schedule& s, Arguments args, const nb::kwargs& kwargs) {
        return lower_to_loops(s, args, build_options(kwargs, "lower_to_loops"), here());
      },
      "schedule"_a, "args"_a, "options"_a);
  m.def(
      "build",
      [](const te::Schedule& s, Arguments args, const TargetLike& target,
         const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs, "build");
        const SourceLocation where = here();
        const Target made = to_target(target);
        const te::Schedule copy = s.copy();
        const ReleasedGil release;
        return build(copy, args, made, options, where);
      },
      "schedule"_a, "args"_a, "target"_a = "llvm", "options"_a, build_doc.c_str());
  m.def(
      "build",
      [](const Modules& modules, const TargetLike& target, const nb::kwargs& kwargs) {
        const BuildOptions options = module_options(kwargs, "build");
        const SourceLocation where = here();
        if (const auto* list = std::get_if<2>(&modules)) {
          const std::vector<TargetedModule> made = targeted(*list);
          const ReleasedGil release;
          return build(made, options, where);
        }
        const Target made = to_target(target);
        const ReleasedGil release;
        if (const auto* module = std::get_if<0>(&modules))
          return build(*module, made, options, where);
        return build(std::get<1>(modules), made, options, where);
      },
      "modules"_a, "target"_a = "llvm", "options"_a,
      "Compiles a module, several modules, or a list of (module, target) to choose from.");
  m.def(
      "build",
      [](const tir::PrimFunc& func, const TargetLike& target, const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs, "build");
        const SourceLocation where = here();
        const Target made = to_target(target);
        tir::PrimFunc named = func;
        if (options.name.is_given() || named.attrs.global_symbol.empty())
          named.attrs.global_symbol = options.name;
        const tir::IRModule module{{{named.attrs.global_symbol, named}}};
        const ReleasedGil release;
        return build(module, made, options, where);
      },
      "func"_a, "target"_a = "llvm", "options"_a);
  PyClass<codegen::Artifact>(m, "Artifact", "Compiled functions, to read, save or load.")
      .def_prop_ro("source_kinds", &codegen::Artifact::source_kinds)
      .def(
          "source",
          [](const codegen::Artifact& a, const std::string& kind) { return a.source(kind); },
          "kind"_a, "Returns the source text of this kind, such as \"ll\" or \"asm\".")
      .def(
          "save",
          [](const codegen::Artifact& a, const std::filesystem::path& path, bool standalone) {
            a.save(path.string(), {.standalone = standalone});
          },
          "path"_a, nb::kw_only(), "standalone"_a = false)
      .def("load", &codegen::Artifact::load, "Loads the functions for calling.");
  m.def(
      "compile",
      [](const te::Schedule& s, Arguments args, const TargetLike& target,
         const nb::kwargs& kwargs) {
        const BuildOptions options = build_options(kwargs, "compile");
        const SourceLocation where = here();
        const Target made = to_target(target);
        const te::Schedule copy = s.copy();
        const ReleasedGil release;
        return compile(copy, args, made, options, where);
      },
      "schedule"_a, "args"_a, "target"_a = "llvm", "options"_a,
      "Compiles without loading: for reading or saving code, also for another processor.");
  m.def(
      "compile",
      [](const tir::IRModule& module, const TargetLike& target, const nb::kwargs& kwargs) {
        const BuildOptions options = module_options(kwargs, "compile");
        const SourceLocation where = here();
        const Target made = to_target(target);
        const ReleasedGil release;
        return compile(module, made, options, where);
      },
      "module"_a, "target"_a = "llvm", "options"_a);
}

}  // namespace tenon::python
