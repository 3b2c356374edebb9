// Random programs of the IR builder: stores behind conditions, in loops whose iterations may depend
// on each other, of every kind. What is built computes the result of the loops run one iteration
// after the other; a parallel loop whose iterations conflict is refused.
#pragma once

#include "tests/fuzz/coverage.h"
#include "tests/fuzz/random_case.h"

namespace tenon::fuzz {

struct BuilderCase {
  unsigned seed;
  te::Schedule schedule;
  std::vector<LowerArgument> args;
  /// The buffers of the arguments in `body`, in their order.
  std::vector<tir::Buffer> buffers;
  tir::Stmt body;
  Target target;
  testing::Data data;
  /// The statements that may be left out.
  int parts;
  std::vector<Note> notes;

  std::string describe() const;
};

/// A statement for which keep[n] is false is left out.
BuilderCase make_builder_case(unsigned seed, const std::vector<bool>& keep = {});
/// Whether two iterations of a parallel loop conflict.
bool is_racing(const BuilderCase& c);

/// Checks the case; a justified refusal by lower or build is `refused`.
Verdict check(const BuilderCase& c, const CheckOptions& options);

}  // namespace tenon::fuzz
