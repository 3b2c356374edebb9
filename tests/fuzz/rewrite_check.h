// Folding and simplification keep the values of expressions: the bodies of operations, some of
// their elements and axes replaced by constants, are folded and simplified, and the results
// evaluated by definition (tests/definition).
#pragma once

#include "tests/common/ways_to_run.h"
#include "tests/fuzz/random.h"

namespace tenon::fuzz {

struct RewriteCheckOptions {
  testing::Data data = testing::Data::Special;
  testing::Zeros zeros = testing::Zeros::Alike;
  double tolerance = 0;
};

/// "" if all values are kept; else the expression, its rewritten form and both values. Every size
/// among the arguments is 7.
std::string check_rewrites(const std::vector<LowerArgument>& args,
                           const std::vector<te::Tensor>& stages, Random random,
                           const RewriteCheckOptions& options);

}  // namespace tenon::fuzz
