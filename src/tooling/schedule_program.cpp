#include "tenon/tooling/schedule_program.h"

#include <filesystem>
#include <iostream>

#include "tenon/driver/text.h"
#include "tenon/inspect/draw.h"
#include "tenon/runtime/threads.h"
#include "tenon/te/warnings.h"
#include "tenon/tir/expr.h"
#include "tenon/tooling/graphviz.h"
#include "tenon/tooling/on_device.h"

namespace tenon {

namespace {

std::string counted(std::int64_t elements) {
  return std::to_string(elements) + (elements == 1 ? " element" : " elements");
}

ArgumentOptions argument_options(const ShowOptions& options) {
  return {.binds = options.binds,
          .values = options.values,
          .outputs_start_at_zero = options.outputs_start_at_zero};
}

std::string way_of(const CheckReport& report, const Target& target) {
  return report.interpreted ? "interpreted, because it binds GPU threads"
                            : "compiled for " + target.describe();
}

}  // namespace

ScheduleProgram::ScheduleProgram(const CommandLineOptions& options, const ProgramSettings& settings,
                                 bool is_check, std::ostream& out, std::ostream& err)
    : options_(options),
      is_check_(is_check),
      size_(options.size.value_or(is_check ? settings.check_size : settings.size)),
      out_(out),
      err_(err),
      reports_(options, err) {
  const bool prints_profiles = options.profile && options.emit != Emit::Html;
  if (prints_profiles && !is_check) profiles_.emplace(*options.profile, out);
}

void ScheduleProgram::show(const std::string& name, const te::Schedule& schedule,
                           const std::vector<LowerArgument>& args, const ShowOptions& options,
                           SourceLocation where) {
  warn(schedule);
  const Shown shown{name, schedule, args, options, where};
  try {
    if (is_check_) return check(shown);
    if (prints_texts()) emit(shown);
    if (options_.save) save(shown);
    if (profiles_) profile(shown);
    if (options_.time) time(shown);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    fail(name + ": " + error.what());
  }
}

void ScheduleProgram::show_beside(const std::string& name, const te::Schedule& schedule,
                                  const std::vector<LowerArgument>& args,
                                  const ShowOptions& options, SourceLocation where) {
  if (!options_.check) return;
  print("--------- beside it: ", name, " ---------\n");
  show(name, schedule, args, options, where);
}

void ScheduleProgram::emit(const Shown& shown) {
  const auto& [name, schedule, args, options, where] = shown;
  const BuildOptions how = build_options(shown);
  switch (options_.emit.value_or(Emit::Simple)) {
    case Emit::Simple:
      print(reports_.lower(name, schedule, args,
                           {.simple_mode = true, .binds = options.binds, .passes = options.passes},
                           where));
      return;
    case Emit::Loops: {
      const tir::PrimFunc loops =
          lower_to_loops(schedule, args, {.binds = options.binds, .on_step = how.on_step}, where);
      print(tir::IRModule{{{"main", loops}}});
      return;
    }
    case Emit::Outline:
      print(schedule.print_loops(where));
      return;
    case Emit::Final:
      print(reports_.final_loops(name, schedule, args, target(), how, where));
      return;
    case Emit::Dot:
    case Emit::Svg:
      te::all_dots(schedule, where);  // reports errors now, while the name of the schedule is known
      drawings_.push_back({name, schedule});
      return;
    case Emit::Ll:
      print(reports_.compile(name, schedule, args, target(), how, where).source("ll"));
      return;
    case Emit::Asm:
      print(reports_.compile(name, schedule, args, target(), how, where).source("asm"));
      return;
    case Emit::Source: {
      const codegen::Artifact artifact =
          reports_.compile(name, schedule, args, target(), how, where);
      print(artifact.source(artifact.source_kinds().front()));
      return;
    }
    case Emit::Html:
      views_.push_back(view(shown));
      return;
  }
}

void ScheduleProgram::check(const Shown& shown) {
  const auto& [name, schedule, args, options, where] = shown;
  if (options.refused_for) return check_refused(shown);
  const CheckReport report = check_schedule(schedule, args,
                                            {.target = target(),
                                             .passes = reports_.watch(options.passes, name),
                                             .tolerance = options.tolerance,
                                             .arguments = argument_options(options),
                                             .reference = options.reference,
                                             .on_step = reports_.steps()},
                                            where);
  const std::string what = counted(report.worst.elements) + " of " + report.argument +
                           ", largest error " + formatted("%.2g", report.worst.largest_error) +
                           " (" + way_of(report, target()) + ")";
  if (report.fine()) {
    out_ << "check " << name << ": right; " << what << std::endl;
  } else {
    fail("check " + name + ": wrong in " + std::to_string(report.worst.wrong) + " of " + what);
  }
}

void ScheduleProgram::check_refused(const Shown& shown) {
  const auto& [name, schedule, args, options, where] = shown;
  try {
    build(schedule, args, target(), build_options(shown), where);
    fail("check " + name + ": build accepted it, and should not have");
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    const std::string reason = error.what();
    if (reason.find(*options.refused_for) == std::string::npos)
      return fail("check " + name + ": build refused it for another reason than '" +
                  *options.refused_for + "': " + reason);
    out_ << "check " << name << ": refused; " << reason << std::endl;
  }
}

void ScheduleProgram::save(const Shown& shown) {
  const auto& [name, schedule, args, options, where] = shown;
  if (options.refused_for) return;
  std::filesystem::create_directories(*options_.save);
  ++saved_;
  // The number in the file name makes the files sort in the order of the schedules.
  const std::string path = *options_.save + "/" + options_.program + (saved_ < 10 ? "_0" : "_") +
                           std::to_string(saved_) + ".so";
  compile(schedule, args, target(), build_options(shown), where).save(path);
  out_ << "save " << name << ": " << path << std::endl;
}

void ScheduleProgram::time(const Shown& shown) {
  const auto& [name, schedule, args, options, where] = shown;
  if (const std::string reason = why_not_run(shown); !reason.empty()) {
    out_ << "time " << name << ": not timed, because " << reason << std::endl;
    return;
  }
  const runtime::Module module = build(schedule, args, target(), build_options(shown), where);
  const Device device = device_of(target(), where);
  const std::vector<CallArgument> call =
      copied_to(device, make_arguments(args, argument_options(options), where));
  const runtime::Timing timing =
      module["main"]
          .time_evaluator(device, {.number = 1, .repeat = 5, .min_repeat_ms = 10}, where)
          .evaluate(as_call(call));
  out_ << "time " << name << ": " << formatted("%.4g", timing.median * 1e3) << " ms"
       << (options.operations > 0
               ? formatted(", %.1f GFLOPS", options.operations / timing.median / 1e9)
               : "")
       << " (least " << formatted("%.4g", timing.min * 1e3) << " ms, " << runtime::num_threads()
       << " thread" << (runtime::num_threads() == 1 ? "" : "s") << ", " << target().describe()
       << ")" << std::endl;
}

std::string ScheduleProgram::why_not_run(const Shown& shown) const {
  if (shown.options.refused_for) return "build refuses it";
  const bool is_for_gpu = target().facts().is_gpu();
  return binds_threads(shown.schedule, shown.where) && !is_for_gpu ? "it binds threads of a GPU"
                                                                   : "";
}

Profile ScheduleProgram::profiled(const Shown& shown) {
  const auto& [name, schedule, args, options, where] = shown;
  return profile_run(schedule, args, target(), build_options(shown),
                     make_arguments(args, argument_options(options), where), where);
}

void ScheduleProgram::profile(const Shown& shown) {
  if (const std::string reason = why_not_run(shown); !reason.empty()) {
    err_ << "profile " << shown.name << ": not measured, because " << reason << std::endl;
    return;
  }
  profiles_->add(shown.name, profiled(shown));
}

LoopView ScheduleProgram::view(const Shown& shown) {
  std::optional<Profile> profile;
  if (options_.profile && why_not_run(shown).empty()) profile = profiled(shown);
  LoopView view =
      view_loops(shown.schedule, shown.args, target(), build_options(shown), profile, shown.where);
  view.name = shown.name;
  return view;
}

BuildOptions ScheduleProgram::build_options(const Shown& shown) {
  return {.binds = shown.options.binds,
          .passes = reports_.watch(shown.options.passes, shown.name),
          .on_step = reports_.steps()};
}

void ScheduleProgram::warn(const te::Schedule& schedule) {
  // The run that checks creates the schedules again. Only the first run prints warnings.
  for (const std::string& warning : te::pending_warnings(schedule))
    if (!is_check_ && warned_.insert(warning).second) err_ << "warning: " << warning << std::endl;
}

void ScheduleProgram::finish() {
  if (profiles_) profiles_->finish();
  if (!drawings_.empty()) {
    const std::string graphs = te::all_dots(drawings_);
    out_ << (options_.emit == Emit::Svg ? drawn(graphs) : graphs) << std::flush;
  }
  if (!views_.empty()) out_ << loop_page(options_.program, views_) << std::flush;
  reports_.finish();
}

void ScheduleProgram::fail(const std::string& message) {
  failed_ = true;
  err_ << message << std::endl;
}

int run_schedule_program(int argc, char** argv, const ProgramSettings& settings,
                         const std::function<void(ScheduleProgram&)>& body) {
  return run_command_line(argc, argv, settings, [&](const CommandLineOptions& options) {
    bool failed = false;
    auto run = [&](bool is_check) {
      ScheduleProgram program(options, settings, is_check, std::cout, std::cerr);
      body(program);
      program.finish();
      failed |= program.failed();
    };
    run(false);
    if (options.check) run(true);
    return failed ? 1 : 0;
  });
}

}  // namespace tenon
