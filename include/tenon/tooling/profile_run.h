// Profiling runs of schedules, and their output: a table per schedule, or one JSON file for all.
//
//   ProfilePrinter printer(ProfileForm::Table, std::cout);
//   printer.add("tiled", profile_run(s, {A, B, C}, Target("llvm"), {}, make_arguments({A, B, C})));
//   printer.finish();
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "tenon/driver/arguments.h"
#include "tenon/driver/build.h"
#include "tenon/driver/profile.h"

namespace tenon {

/// Builds with `profile` and runs for about 0.2 seconds, at least once. Discards a warm-up run,
/// unless it takes longer than 0.2 seconds. Throws the errors of build.
Profile profile_run(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const Target& target, BuildOptions options,
                    const std::vector<CallArgument>& call,
                    SourceLocation where = SourceLocation::current());
/// Profiles a module of one function, such as a block program.
Profile profile_run(const tir::IRModule& program, const Target& target, BuildOptions options,
                    std::span<const runtime::Argument> call,
                    SourceLocation where = SourceLocation::current());

/// The output: a table per schedule, one JSON object, or one trace (driver/profile.h).
enum class ProfileForm : std::uint8_t { Table, Json, Trace };

/// Prints profiles in one of the forms.
class ProfilePrinter {
 public:
  ProfilePrinter(ProfileForm form, std::ostream& out) : form_(form), out_(out) {}

  void add(const std::string& name, const Profile& profile);
  /// Prints the combined output of the JSON and trace forms.
  void finish();

 private:
  void add_to_trace(const std::string& name, const Profile& profile);

  ProfileForm form_;
  std::ostream& out_;
  /// The JSON text so far.
  std::string json_;
  Profile trace_;
  /// Start times of the next profile's compile steps and events in the combined trace.
  double compiled_ = 0, ran_ = 0;
};

}  // namespace tenon
