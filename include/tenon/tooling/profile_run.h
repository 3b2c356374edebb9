// Runs of a schedule that are profiled, and how they are printed: of several schedules one after
// the other, as a table each, or together as one file of JSON.
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

/// Builds with `profile`, and runs for about a fifth of a second, at least once. A first run, which
/// finds caches empty, does not count unless it takes longer than that. Throws what build throws.
Profile profile_run(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const Target& target, BuildOptions options,
                    const std::vector<CallArgument>& call,
                    SourceLocation where = SourceLocation::current());
/// The same of a module of one function, such as a block program.
Profile profile_run(const tir::IRModule& program, const Target& target, BuildOptions options,
                    std::span<const runtime::Argument> call,
                    SourceLocation where = SourceLocation::current());

/// The table of each, an object of all in JSON, or a trace of all (driver/profile.h).
enum class ProfileForm : std::uint8_t { Table, Json, Trace };

/// Prints profiles in one of the forms.
class ProfilePrinter {
 public:
  ProfilePrinter(ProfileForm form, std::ostream& out) : form_(form), out_(out) {}

  void add(const std::string& name, const Profile& profile);
  /// What is printed of all together.
  void finish();

 private:
  void add_to_trace(const std::string& name, const Profile& profile);

  ProfileForm form_;
  std::ostream& out_;
  /// What JSON is made of.
  std::string json_;
  Profile trace_;
  /// The times at which the next profile's compiler and program begin.
  double compiled_ = 0, ran_ = 0;
};

}  // namespace tenon
