#include "bindings/rooms.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings/callback.h"
#include "bindings/driver.h"
#include "bindings/errors.h"
#include "tenon/tune/export.h"
#include "tenon/tune/report.h"
#include "tenon/tune/task_table.h"
#include "tenon/tune/tasks.h"
#include "tenon/tune/tune.h"

namespace tenon::python {

using s_tir::Schedule;
using tune::Database;
using tune::Measurement;
using tune::Postprocessor;
using tune::Record;
using tune::ScheduleRule;
using tune::Space;
using tune::Task;

namespace {

/// Converts the result of a Python function to schedules. The result may be a schedule or a list of
/// them. None stands for the schedule `passed` that the function got as its argument.
std::vector<Schedule> schedules_of(nb::handle result, nb::handle passed, const char* what) {
  std::vector<Schedule> list;
  if (result.is_none()) {
    list.push_back(*nb::inst_ptr<Schedule>(passed));
  } else if (const Schedule * one; nb::try_cast(result, one, false) && one) {
    list.push_back(*one);
  } else if (const bool is_list = nb::try_cast(result, list); !is_list || list.empty()) {
    throw type_error(std::string(what) + " must return a Schedule, a list of them or None, got " +
                     (is_list ? "an empty list" : nb::inst_name(result).c_str()));
  }
  return list;
}

/// Returns the search space that a Python function `f(sch)` describes.
Space space_of_function(const nb::callable& function) {
  return Space([call = make_callback(function)](const Schedule& fresh, const Target&) {
    const HeldGil gil;
    nb::object sch = nb::cast(fresh);
    return schedules_of((*call)(sch), sch, "a space");
  });
}

ScheduleRule rule_of_function(const std::string& name, const nb::callable& apply) {
  return {name, [call = make_callback(apply)](const Schedule& sch, s_tir::BlockRV block,
                                              const Target& target) {
            const HeldGil gil;
            nb::object copy = nb::cast(sch);
            return schedules_of((*call)(copy, block, target), copy, "a rule");
          }};
}

Postprocessor postprocessor_of_function(const std::string& name, const nb::callable& apply) {
  return {name, [call = make_callback(apply)](Schedule& sch, const Target& target) {
            const HeldGil gil;
            nb::object copy = nb::cast(sch);
            try {
              (*call)(copy, target);
            } catch (nb::python_error& error) {
              // A ScheduleError only rejects the candidate, as in C++. Any other exception ends
              // tuning.
              if (!error.matches(schedule_error_class())) throw;
              throw ScheduleError(
                  argument_as<std::string>(nb::str(error.value()), "expected UTF-8 text"));
            }
            sch = *nb::inst_ptr<Schedule>(copy);
          }};
}

/// A field of an options structure. It becomes a Python parameter with the same name and default.
template <class Options, class Value>
struct Field {
  const char* name;
  Value Options::*member;
  nb::arg_v arg() const { return nb::arg(name) = Options().*member; }
};

template <class Options, class... Values>
Options options_of(const Field<Options, Values>&... fields, const Values&... values) {
  Options options;
  ((options.*fields.member = values), ...);
  return options;
}

/// Binds an options structure. Python constructs it with its fields as keywords.
template <class Options, class... Values>
void bind_fields(PyModule& tune, const char* name, const char* doc,
                 const Field<Options, Values>&... fields) {
  PyClass<Options>(tune, name, doc)
      .def(
          "__init__",
          [=](Options* self, const Values&... values) {
            new (self) Options(options_of<Options, Values...>(fields..., values...));
          },
          nb::kw_only(), fields.arg()...);
}

/// Binds a function that makes a rule. Python passes the fields of its options as keywords.
template <class Options, class... Values>
void bind_rule(PyModule& tune, const char* name, ScheduleRule (*make)(const Options&),
               const Field<Options, Values>&... fields) {
  tune.def(
      name,
      [=](const Values&... values) {
        return make(options_of<Options, Values...>(fields..., values...));
      },
      fields.arg()...);
}

void bind_records(PyModule& tune) {
  PyClass<Measurement>(tune, "Measurement", "The result of measuring a candidate.")
      .def_prop_ro("outcome",
                   [](const Measurement& m) { return std::string(to_string(m.outcome)); })
      .def_ro("seconds", &Measurement::seconds)
      .def_ro("reason", &Measurement::reason)
      .def_prop_ro("is_valid", &Measurement::is_valid)
      .def_prop_ro(
          "median",
          [](const Measurement& m) {
            return m.is_valid() ? std::optional(m.median()) : std::nullopt;
          },
          "Seconds per call; None unless measured.");
  PyClass<Record>(tune, "Record", "A measured schedule.")
      .def_ro("trace", &Record::trace)
      .def_ro("measurement", &Record::measurement)
      .def_ro("arguments", &Record::arguments)
      .def_ro("predicted", &Record::predicted)
      .def_ro("version", &Record::version)
      .def_prop_ro("target", [](const Record& r) { return r.conditions.target; })
      .def_prop_ro("processor", [](const Record& r) { return r.conditions.processor; })
      .def_prop_ro("threads", [](const Record& r) { return r.conditions.threads; });
  PyClass<Database>(tune, "Database", "Measurements, in memory or in a folder of JSON lines.")
      .def(
          "__init__",
          [](Database* self, const std::optional<std::filesystem::path>& folder) {
            if (folder) {
              new (self) Database(*folder);
            } else {
              new (self) Database();
            }
          },
          "folder"_a = nb::none())
      .def("add", &Database::add, "workload"_a, "record"_a)
      .def("flush", &Database::flush)
      .def_prop_ro("unwritten", &Database::unwritten)
      .def_prop_ro("damaged_lines", &Database::damaged_lines)
      .def(
          "records",
          [](const Database& d, const tir::IRModule& workload,
             const std::optional<TargetLike>& target) {
            return target ? d.records(workload, to_target(*target)) : d.records(workload);
          },
          "workload"_a, "target"_a = nb::none())
      .def_prop_ro("workloads", &Database::workloads)
      .def(
          "best",
          [](const Database& d, const tir::IRModule& workload, const TargetLike& target) {
            return d.best(workload, to_target(target));
          },
          "workload"_a, "target"_a = "llvm", "The record with the smallest median; None if absent.")
      .def(
          "fastest_first",
          [](const Database& d, const tir::IRModule& workload, const TargetLike& target) {
            return d.fastest_first(workload, to_target(target));
          },
          "workload"_a, "target"_a = "llvm");
}

void bind_options(PyModule& tune) {
  using M = tune::MeasureOptions;
  bind_fields(tune, "MeasureOptions", "Compilation, comparison and timing.",
              Field{"build_workers", &M::build_workers}, Field{"number", &M::number},
              Field{"repeat", &M::repeat}, Field{"min_repeat_ms", &M::min_repeat_ms},
              Field{"slow_factor", &M::slow_factor}, Field{"run_timeout_s", &M::run_timeout_s},
              Field{"memory_limit_bytes", &M::memory_limit_bytes},
              Field{"relative_tolerance", &M::relative_tolerance},
              Field{"absolute_tolerance", &M::absolute_tolerance}, Field{"seed", &M::seed});
  using S = tune::SearchOptions;
  bind_fields(tune, "SearchOptions", "The search between measurements.",
              Field{"population", &S::population}, Field{"generations", &S::generations},
              Field{"share_of_best", &S::share_of_best},
              Field{"mutation_probability", &S::mutation_probability},
              Field{"share_of_neighbours", &S::share_of_neighbours}, Field{"epsilon", &S::epsilon},
              Field{"empty_rounds_before_stop", &S::empty_rounds_before_stop},
              Field{"workers", &S::workers});
  PyClass<tune::CostModel>(tune, "CostModel", "Ranks candidates before they are measured.")
      .def_prop_ro("name", &tune::CostModel::name)
      .def("predict", &tune::CostModel::predict, "candidates"_a);
  tune.def(
      "random_model",
      [](std::uint64_t seed) -> std::shared_ptr<tune::CostModel> {
        return tune::random_model(seed);
      },
      "seed"_a = 0);
  tune.def("has_boosted_trees", &tune::has_boosted_trees);
  tune.def(
      "boosted_trees",
      [](const TargetLike& target, std::uint64_t seed, int max_depth, double eta,
         int rounds) -> std::shared_ptr<tune::CostModel> {
        return tune::boosted_trees({.target = to_target(target),
                                    .seed = seed,
                                    .max_depth = max_depth,
                                    .eta = eta,
                                    .rounds = rounds});
      },
      "target"_a = "llvm", "seed"_a = 0, "max_depth"_a = 3, "eta"_a = 0.1, "rounds"_a = 100);
}

void bind_spaces(PyModule& tune) {
  PyClass<ScheduleRule>(tune, "ScheduleRule", "A transformation of a block that is worth trying.")
      .def(
          "__init__",
          [](ScheduleRule* self, const std::string& name, const nb::callable& apply) {
            new (self) ScheduleRule(rule_of_function(name, apply));
          },
          "name"_a, "apply"_a, "`apply(sch, block, target)` returns the designs.")
      .def_ro("name", &ScheduleRule::name);
  PyClass<Postprocessor>(tune, "Postprocessor", "A transformation of every candidate.")
      .def(
          "__init__",
          [](Postprocessor* self, const std::string& name, const nb::callable& apply) {
            new (self) Postprocessor(postprocessor_of_function(name, apply));
          },
          "name"_a, "apply"_a, "`apply(sch, target)` changes the schedule.")
      .def_ro("name", &Postprocessor::name);
  PyClass<Space>(tune, "Space", "A space of schedules, among which a tuner chooses.")
      .def(
          "designs",
          [](const Space& space, const tir::IRModule& mod, const TargetLike& target,
             std::uint64_t seed) { return space.designs(mod, to_target(target), seed); },
          "mod"_a, "target"_a = "llvm", "seed"_a = 0);
  tune.def("schedule_fn", &space_of_function, "function"_a,
           "Makes a space of one design from a function that schedules what it is given.");
  tune.def(
      "post_order_apply",
      [](const std::vector<ScheduleRule>& rules) { return tune::post_order_apply(rules); },
      "rules"_a = nb::tuple(), "Makes a space from rules; without rules, the default ones.");
  tune.def(
      "default_rules", [](const TargetLike& t) { return tune::default_rules(to_target(t)); },
      "target"_a = "llvm");
  tune.def(
      "default_postprocessors",
      [](const TargetLike& t) { return tune::default_postprocessors(to_target(t)); },
      "target"_a = "llvm");
  tune.def("inline_constants", &tune::inline_constants);
  bind_rule(tune, "auto_inline", &tune::auto_inline,
            Field{"into_producer", &tune::AutoInlineOptions::into_producer});
  using R = tune::RFactorOptions;
  bind_rule(tune, "add_rfactor", &tune::add_rfactor,
            Field{"max_jobs_per_core", &R::max_jobs_per_core},
            Field{"max_innermost_factor", &R::max_innermost_factor});
  using T = tune::TilingOptions;
  bind_rule(tune, "multi_level_tiling", &tune::multi_level_tiling,
            Field{"structure", &T::structure},
            Field{"max_innermost_factor", &T::max_innermost_factor},
            Field{"write_reuse_levels", &T::write_reuse_levels},
            Field{"read_reuse_level", &T::read_reuse_level});
  tune.def("tiling_with_intrinsic", &tune::tiling_with_intrinsic, "intrinsic"_a,
           "structure"_a = "SSRSRS", "max_innermost_factor"_a = 64);
  using P = tune::ParallelizeOptions;
  bind_rule(tune, "parallelize_vectorize_unroll", &tune::parallelize_vectorize_unroll,
            Field{"max_jobs_per_core", &P::max_jobs_per_core},
            Field{"max_vectorize_extent", &P::max_vectorize_extent},
            Field{"unroll_max_steps", &P::unroll_max_steps});
  tune.def("random_compute_location", &tune::random_compute_location);
}

/// Binds a function that tunes its first parameter. `subject` is the name of that parameter. The
/// options are passed as keywords.
template <class Subject>
void bind_tuning(PyModule& tune, const char* name, const char* subject,
                 Database (*run)(const Subject&, tune::TuneOptions)) {
  tune.def(
      name,
      [=](const Subject& tuned, const TargetLike& target, int max_trials_global,
          int num_trials_per_iter, const std::optional<std::variant<Space, nb::callable>>& space,
          const std::optional<std::filesystem::path>& work_dir, const std::string& task_name,
          std::uint64_t seed, const tune::MeasureOptions& measure,
          const tune::SearchOptions& search,
          const std::optional<std::vector<Postprocessor>>& postprocessors,
          const std::shared_ptr<tune::CostModel>& cost_model,
          const std::optional<nb::callable>& log, bool stop_on_interrupt) {
        tune::TuneOptions options{.mod = {},
                                  .target = to_target(target),
                                  .max_trials_global = max_trials_global,
                                  .num_trials_per_iter = num_trials_per_iter,
                                  .work_dir = work_dir.value_or(std::filesystem::path()),
                                  .task_name = task_name,
                                  .seed = seed,
                                  .measure = measure,
                                  .search = search,
                                  .postprocessors = postprocessors,
                                  .cost_model = cost_model,
                                  .stop_on_interrupt = stop_on_interrupt};
        if (space) {
          const auto* made = std::get_if<Space>(&*space);
          options.space = made ? *made : space_of_function(std::get<nb::callable>(*space));
        }
        if (log) {
          options.log = [call = make_callback(*log)](tune::LogLevel level,
                                                     const std::string& line) {
            static constexpr const char* kLevels[] = {"debug", "info", "warning"};
            const HeldGil gil;
            (*call)(kLevels[static_cast<std::size_t>(level)], line);
          };
        }
        const auto tune = [&] {
          const ReleasedGil release;
          return run(tuned, std::move(options));
        };
        Database database = tune();
        // Python's handler of SIGINT has only set a flag. This call checks the flag and raises
        // KeyboardInterrupt.
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return database;
      },
      nb::arg(subject), "target"_a = "llvm", nb::kw_only(), "max_trials_global"_a = 64,
      "num_trials_per_iter"_a = 64, "space"_a = nb::none(), "work_dir"_a = nb::none(),
      "task_name"_a = "main", "seed"_a = 0, "measure"_a = tune::MeasureOptions(),
      "search"_a = tune::SearchOptions(), "postprocessors"_a = nb::none(),
      "cost_model"_a = nb::none(), "log"_a = nb::none(), "stop_on_interrupt"_a = true,
      "Measures candidates. Ctrl-C ends the round and raises KeyboardInterrupt; the database in "
      "`work_dir` has all measurements, and tuning can be resumed.");
}

}  // namespace

void bind_tune(PyModule& tune) {
  bind_records(tune);
  bind_options(tune);
  bind_spaces(tune);
  PyClass<Task>(tune, "Task")
      .def(
          "__init__",
          [](Task* self, const std::string& name, const tir::IRModule& mod, int weight) {
            new (self) Task{.name = name, .mod = mod, .weight = weight};
          },
          "name"_a, "mod"_a, "weight"_a = 1)
      .def_ro("name", &Task::name)
      .def_ro("mod", &Task::mod)
      .def_ro("weight", &Task::weight);
  bind_tuning<tir::IRModule>(tune, "tune_tir", "mod",
                             [](const tir::IRModule& mod, tune::TuneOptions options) {
                               options.mod = mod;
                               return tune::tune_tir(options);
                             });
  bind_tuning<std::vector<Task>>(tune, "tune_tasks", "tasks",
                                 [](const std::vector<Task>& tasks, tune::TuneOptions options) {
                                   return tune::tune_tasks(tasks, options);
                                 });
  tune.def(
      "apply_best",
      [](const std::variant<Schedule, tir::IRModule>& mod, const Database& database,
         const TargetLike& target) {
        if (const auto* sch = std::get_if<Schedule>(&mod))
          return tune::apply_best(*sch, database, to_target(target), here());
        return tune::apply_best(std::get<tir::IRModule>(mod), database, to_target(target), here());
      },
      "mod"_a, "database"_a, "target"_a = "llvm",
      "Applies the best recorded trace; None if there is no record.");
  tune.def("report", &tune::report, "database"_a, "Returns an HTML page about a database.");
  tune.def("schedule_text", &tune::schedule_text, "trace"_a,
           "Returns the steps of a trace as C++ statements.");
  tune.def("estimate_flops", &tune::estimate_flops, "mod"_a);
}

}  // namespace tenon::python
