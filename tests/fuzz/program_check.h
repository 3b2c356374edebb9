// Runs functions on the elements that another one is defined on, and compares what they leave in
// every buffer with its definition (tests/definition/program.h).
//
//   ProgramCheck check(before);
//   EXPECT_EQ(check.interpreted(after), "");
//   EXPECT_EQ(check.compiled(after, Target("llvm")), "");
#pragma once

#include "tests/common/ways_to_run.h"
#include "tests/definition/program.h"

namespace tenon::fuzz {

class ProgramCheck {
 public:
  /// Every size is 7. Throws testing::NoOpinion.
  explicit ProgramCheck(const tir::PrimFunc& definition, testing::Data data = testing::Data::Small);

  /// The first element that differs, or "". For functions of the same parameters.
  std::string interpreted(const tir::PrimFunc& func) const;
  std::string compiled(const tir::PrimFunc& func, const Target& target) const;

 private:
  testing::Arguments arguments() const;
  std::string compare(const testing::Arguments& found) const;

  std::vector<LowerArgument> parameters_;
  testing::Data data_;
  std::vector<std::shared_ptr<testing::BufferMemory>> expected_;
};

}  // namespace tenon::fuzz
