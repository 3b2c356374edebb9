#include "bindings/callback.h"
#include "bindings/rooms.h"

#include "bindings/driver.h"
#include "bindings/tir.h"
#include "tenon/driver/profile.h"
#include "tenon/inspect/bounds_report.h"
#include "tenon/inspect/buffer_sizes.h"
#include "tenon/inspect/draw.h"
#include "tenon/inspect/explain.h"
#include "tenon/inspect/loop_page.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/te/operation_kind.h"

namespace tenon::python {

using te::Schedule;

namespace {

using Arguments = const std::vector<LowerArgument>&;

const char* to_text(Explanation::Verdict verdict) {
  static constexpr const char* kVerdicts[] = {"proved", "checked", "not proved", "wrong"};
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

/// Returns the placeholders and the output tensors of a schedule.
std::vector<LowerArgument> arguments_of(const Schedule& s) {
  std::vector<LowerArgument> args;
  for (const te::Operation& op : te::post_dfs_order(s.outputs()))
    if (op.as<te::Placeholder>()) args.emplace_back(op.output(0));
  for (const te::Operation& op : s.outputs())
    for (int n = 0; n < op.num_outputs(); ++n) args.emplace_back(op.output(n));
  return args;
}

/// Returns an HTML element that shows a whole HTML page inside another page.
std::string framed(const std::string& page) {
  std::string text;
  for (const char c : page) {
    if (c == '&') {
      text += "&amp;";
    } else if (c == '"') {
      text += "&quot;";
    } else {
      text += c;
    }
  }
  return "<iframe style=\"width:100%;height:36em;border:0\" srcdoc=\"" + text + "\"></iframe>";
}

std::string page_of(const std::string& title, const Schedule& s, Arguments args,
                    const TargetLike& target, const BuildOptions& options) {
  const SourceLocation where = here();
  const Target made = to_target(target);
  const Schedule copy = s.copy();
  const ReleasedGil release;
  return loop_page(title, {view_loops(copy, args, made, options, std::nullopt, where)});
}

std::string page_of(const std::string& title, const tir::IRModule& module, const TargetLike& target,
                    const BuildOptions& options) {
  const SourceLocation where = here();
  const Target made = to_target(target);
  const ReleasedGil release;
  return loop_page(title, {view_loops(module, made, options, std::nullopt, where)});
}

/// Lets notebooks show values of the type as an HTML page. If a value has no page, they show its
/// text.
template <class T, class Page>
void show_in_notebooks(nb::handle type, Page page) {
  PyClass<T>::existing(type).def("_repr_html_", [=](const T& value) -> std::optional<std::string> {
    try {
      return framed(page(value));
    } catch (const Error&) {
      return std::nullopt;
    }
  });
}

void bind_explanations(PyModule& m) {
  PyClass<Explanation::Access>(m, "ExplainedAccess", "A load or store.")
      .def_ro("stage", &Explanation::Access::stage)
      .def_ro("tensor", &Explanation::Access::tensor)
      .def_ro("is_store", &Explanation::Access::is_store)
      .def_ro("text", &Explanation::Access::text)
      .def_ro("open", &Explanation::Access::open)
      .def_prop_ro("verdict", [](const Explanation::Access& a) { return to_text(a.verdict); });
  PyClass<Explanation::Loop>(m, "ExplainedLoop", "A parallel or vectorized loop.")
      .def_ro("text", &Explanation::Loop::text)
      .def_ro("conflict", &Explanation::Loop::conflict)
      .def_prop_ro("verdict", [](const Explanation::Loop& l) { return to_text(l.verdict); });
  PyClass<Explanation>(m, "Explanation", "What is proved about the program of a schedule.")
      .def_ro("accesses", &Explanation::accesses)
      .def_ro("loops", &Explanation::loops)
      .def_ro("assumed", &Explanation::assumed)
      .def("__repr__", [](const Explanation& e) { return text_of(e); });
  m.def(
      "explain",
      [](const Schedule& s, Arguments args, const nb::kwargs& kwargs) {
        return explain(s, args, build_options(kwargs, "explain"), here());
      },
      "schedule"_a, "args"_a, "options"_a,
      "Reports which accesses are provably in bounds and which loops are provably independent.");
  m.def(
      "explain",
      [](const tir::PrimFunc& func, const nb::kwargs& kwargs) {
        return explain(func, build_options(kwargs, "explain"), here());
      },
      "func"_a, "options"_a);
  m.def(
      "buffer_sizes",
      [](const Schedule& s, Arguments args, const nb::kwargs& kwargs) {
        return text_of(buffer_sizes(s, args, build_options(kwargs, "buffer_sizes"), here()));
      },
      "schedule"_a, "args"_a, "options"_a,
      "Returns a table of the required and allocated size of every intermediate tensor.");
}

void bind_profiles(PyModule& m) {
  PyClass<StageProfile>(m, "StageProfile")
      .def_ro("function", &StageProfile::function)
      .def_ro("name", &StageProfile::name)
      .def_ro("line", &StageProfile::line)
      .def_ro("calls", &StageProfile::calls)
      .def_ro("seconds", &StageProfile::seconds)
      .def_ro("share", &StageProfile::share)
      .def_ro("elapsed", &StageProfile::elapsed)
      .def_ro("waiting", &StageProfile::waiting)
      .def_ro("counted_in", &StageProfile::counted_in);
  PyClass<Profile>(m, "Profile", "The run time of the stages, and the compile time.")
      .def_ro("stages", &Profile::stages)
      .def_ro("peak_workspace", &Profile::peak_workspace)
      .def("json", &Profile::json)
      .def("chrome_trace", &Profile::chrome_trace, "For chrome://tracing, or Perfetto.")
      .def("__repr__", [](const Profile& p) { return text_of(p); });
  m.def("profile_of", with_line(profile_of), "module"_a,
        "Returns the measurements of a module that was built with profile=True.");
  m.def("reset_profile", with_line(reset_profile), "module"_a);
}

}  // namespace

void bind_inspect(PyModule& m, PyModule& te, PyModule& s_tir) {
  bind_explanations(m);
  bind_profiles(m);
  m.def(
      "loop_page",
      [](const Schedule& s, Arguments args, const TargetLike& target, const std::string& title,
         const nb::kwargs& kwargs) {
        return page_of(title, s, args, target, build_options(kwargs, "loop_page"));
      },
      "schedule"_a, "args"_a, "target"_a = "llvm", "title"_a = "schedule", "options"_a,
      "Returns an HTML page with the loops next to the machine code.");
  m.def(
      "loop_page",
      [](const tir::IRModule& module, const TargetLike& target, const std::string& title,
         const nb::kwargs& kwargs) {
        return page_of(title, module, target, build_options(kwargs, "loop_page"));
      },
      "module"_a, "target"_a = "llvm", "title"_a = "module", "options"_a);
  te.def("dataflow_dot", with_line(te::dataflow_dot), "schedule"_a,
         "Returns a Graphviz graph of the stages and their data flow.");
  te.def("attachment_dot", with_line(te::attachment_dot), "schedule"_a,
         "Returns a Graphviz graph of the stages and the loops that they are attached to.");
  te.def(
      "axes_dot",
      [](const Schedule& s, const te::Tensor& stage) {
        return te::axes_dot(s, te::StageKey(stage, here()));
      },
      "schedule"_a, "stage"_a, "Returns a Graphviz graph of the axes of a stage.");
  te.def(
      "bounds_report",
      [](const Schedule& s, nb::handle sizes, std::int64_t most_steps, bool exact) {
        const te::BoundsReportOptions options{
            .sizes = pairs_from<tir::Var, std::int64_t>(
                sizes, "bounds_report: sizes must be a dict of variables to integers"),
            .most_steps = most_steps,
            .exact = exact};
        return text_of(te::bounds_report(s, options, here()));
      },
      "schedule"_a, "sizes"_a = nb::none(), nb::kw_only(), "most_steps"_a = 5'000'000,
      "exact"_a = false, "Returns a table of the required regions and the recomputation.");

  const TargetLike target = std::string("llvm");
  show_in_notebooks<Schedule>(te.attr("Schedule"), [=](const Schedule& s) {
    return page_of("schedule", s, arguments_of(s), target, BuildOptions());
  });
  const auto page_of_module = [=](const tir::IRModule& module) {
    return page_of("module", module, target, BuildOptions());
  };
  show_in_notebooks<tir::IRModule>(m.attr("IRModule"), page_of_module);
  show_in_notebooks<tir::PrimFunc>(m.attr("PrimFunc"), [=](const tir::PrimFunc& func) {
    return page_of_module(tir::IRModule{{{"main", func}}});
  });
  show_in_notebooks<s_tir::Schedule>(
      s_tir.attr("Schedule"), [=](const s_tir::Schedule& s) { return page_of_module(s.mod()); });
}

}  // namespace tenon::python
