// Target: what to compile for, as a string of a kind and options.
//
//   Target("llvm")                                  // this host's processor and all its features
//   Target("llvm -mcpu=znver4 -mattr=+avx512f")
//   Target("llvm -num-cores=8 -l1-bytes=32768 -l2-bytes=1048576")   // used by topi's schedules
//   Target("llvm -system-lib=conv_")                // linked into a program: Module::system_library
//   Target("cuda -arch=sm_90"), Target("opencl"), Target("c")
//   Target("opencl -extensions=cl_khr_fp16,cl_khr_subgroup_shuffle -subgroup-size=32")
//   Target("opencl -max-threads=256 -shared-bytes=32768")   // the limits of a block of threads
//   Target("cuda -arch=sm_90 -registers=128")       // maximum number of registers per thread
//
// Options may have a second dash, as in TVM's targets. TVM's --keys and --opt-level have no effect
// except a warning on stderr.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "tenon/runtime/device.h"
#include "tenon/support/name.h"
#include "tenon/tir/target.h"

namespace tenon {

class Target {
 public:
  /// Parses a target. TargetError, listing the known ones, for an unknown kind, option, processor
  /// or feature. "-mcpu=native", or no -mcpu with the host's triple, means the host's processor
  /// with its features.
  Target(const std::string& text, SourceLocation where = SourceLocation::current());
  Target(const char* text, SourceLocation where = SourceLocation::current())
      : Target(static_cast<const std::string&>(Name(text, where)), where) {}

  /// Returns the text that the target was made from.
  const std::string& str() const { return text_; }
  const tir::TargetFacts& facts() const& { return facts_; }
  tir::TargetFacts facts() && { return std::move(facts_); }
  /// Returns a description of the resolved target for reports: "llvm, znver5, 512-bit vectors".
  std::string describe() const;

 private:
  std::string text_;
  tir::TargetFacts facts_;
};

/// Prints the text that the target was made from.
std::ostream& operator<<(std::ostream& out, const Target& target);

// The device that executes the programs of a target.

/// Returns the first device of the target's kind, whether or not it exists; the host for CPU
/// targets.
Device first_device(const Target& target);

/// Returns the first device of the target's kind. RuntimeError, naming what is missing, if no
/// device exists.
Device device_of(const Target& target, SourceLocation where = SourceLocation::current());

}  // namespace tenon
