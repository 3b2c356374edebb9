// Target: what to compile for, as a text of a kind and keys.
//
//   Target("llvm")                                  // this host's processor and all its features
//   Target("llvm -mcpu=znver4 -mattr=+avx512f")
//   Target("llvm -num-cores=8 -l1-bytes=32768 -l2-bytes=1048576")   // what topi's schedules go by
//   Target("llvm -system-lib=conv_")                // to be linked into a program: Module::system_library
//   Target("cuda -arch=sm_90"), Target("opencl"), Target("c")
//   Target("opencl -extensions=cl_khr_fp16,cl_khr_subgroup_shuffle -subgroup-size=32")
//   Target("opencl -max-threads=256 -shared-bytes=32768")   // the limits of a block of threads
//   Target("cuda -arch=sm_90 -registers=128")       // the most that a thread may use
//
// Keys may have a second dash, as in TVM's targets. Of those, -keys and -opt-level say nothing
// here: a line on standard error tells so.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "tenon/support/name.h"
#include "tenon/tir/target.h"

namespace tenon {

class Target {
 public:
  /// Throws TargetError, listing the known ones, for an unknown kind, key, processor or feature.
  /// "-mcpu=native", or no -mcpu at all for this host's triple, means this host's processor with
  /// its features.
  Target(const std::string& text, SourceLocation where = SourceLocation::current());
  Target(const char* text, SourceLocation where = SourceLocation::current())
      : Target(static_cast<const std::string&>(Name(text, where)), where) {}

  /// As given.
  const std::string& str() const { return text_; }
  const tir::TargetFacts& facts() const& { return facts_; }
  tir::TargetFacts facts() && { return std::move(facts_); }
  /// "llvm, znver5, 512-bit vectors": what was resolved, for reports.
  std::string describe() const;

 private:
  std::string text_;
  tir::TargetFacts facts_;
};

/// The text that it was made of.
std::ostream& operator<<(std::ostream& out, const Target& target);

}  // namespace tenon
