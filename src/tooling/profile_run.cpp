#include "tenon/tooling/profile_run.h"

#include <algorithm>
#include <chrono>
#include <ostream>

#include "tenon/tir/expr.h"
#include "tenon/tir/literal_text.h"

namespace tenon {

namespace {

constexpr double kSeconds = 0.2;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Profile profile_calls(const runtime::Module& module, const std::string& name,
                      std::span<const runtime::Argument> call, SourceLocation where) {
  const runtime::Function function = module[name];
  const auto first = std::chrono::steady_clock::now();
  function.call(call);
  if (seconds_since(first) < kSeconds) {
    reset_profile(module, where);
    const auto start = std::chrono::steady_clock::now();
    do {
      function.call(call);
    } while (seconds_since(start) < kSeconds);
  }
  return profile_of(module, where);
}

}  // namespace

Profile profile_run(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const Target& target, BuildOptions options,
                    const std::vector<CallArgument>& call, SourceLocation where) {
  options.profile = true;
  const runtime::Module module = build(schedule, args, target, options, where);
  return profile_calls(module, options.name, as_call(call), where);
}

Profile profile_run(const tir::IRModule& program, const Target& target, BuildOptions options,
                    std::span<const runtime::Argument> call, SourceLocation where) {
  options.profile = true;
  const runtime::Module module = build(program, target, options, where);
  return profile_calls(module, program.functions.begin()->first, call, where);
}

void ProfilePrinter::add(const std::string& name, const Profile& profile) {
  switch (form_) {
    case ProfileForm::Table:
      out_ << "profile " << name << ":\n" << profile << std::endl;
      return;
    case ProfileForm::Json:
      json_ += (json_.empty() ? "" : ",\n") + tir::quoted(name) + ": " + profile.json();
      return;
    case ProfileForm::Trace:
      return add_to_trace(name, profile);
  }
}

void ProfilePrinter::add_to_trace(const std::string& name, const Profile& profile) {
  double compiled = compiled_, ran = ran_;
  for (CompileStep step : profile.compile_steps) {
    step.begin += compiled_;
    compiled = std::max(compiled, step.begin + step.seconds);
    step.name = name + ": " + step.name;
    trace_.compile_steps.push_back(std::move(step));
  }
  for (RunEvent event : profile.events) {
    event.begin += ran_;
    ran = std::max(ran, event.begin + event.seconds);
    event.name = name + ": " + event.name;
    trace_.events.push_back(std::move(event));
  }
  compiled_ = compiled;
  ran_ = ran;
}

void ProfilePrinter::finish() {
  if (form_ == ProfileForm::Json) out_ << "{\n" << json_ << "}\n" << std::flush;
  if (form_ == ProfileForm::Trace) out_ << trace_.chrome_trace() << std::flush;
}

}  // namespace tenon
