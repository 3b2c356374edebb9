// The serial loops that the compiler may jam and vectorize although the schedule does not mark
// them.
#pragma once

#include <algorithm>

#include "tenon/lower/pass.h"
#include "tenon/tir/stored_stages.h"

namespace tenon::lowering {

class AutotunedLoops {
 public:
  AutotunedLoops(const tir::PrimFunc& func, const PassOptions& options)
      : stages_(func), choice_(options.autotune_loops) {}

  /// Whether every stage that `s` computes has no schedule. Callers query enclosing statements
  /// before inner ones, and before they are rewritten.
  bool contains(const tir::Stmt& s) {
    if (choice_) return *choice_;
    return std::ranges::none_of(stages_.of(s), [&](int stage) {
      return stages_.stages()[static_cast<std::size_t>(stage)].is_scheduled;
    });
  }

 private:
  tir::StoredStages stages_;
  std::optional<bool> choice_;
};

}  // namespace tenon::lowering
