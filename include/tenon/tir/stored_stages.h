// The stages that the statements of a function compute, derived from the buffers that they store
// to.
//
//   StoredStages stored(func);
//   stored.of(loop)                    // {0, 1}: it stores to stages 0 and 1, last to 1
//
// Stages come from the function's notes (stage_lines.h). In a function without notes, each stored
// buffer is one stage. A store to any other buffer, such as an accumulator in registers, belongs to
// no stage.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/tir/stage_lines.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {

class StoredStages {
 public:
  explicit StoredStages(const PrimFunc& func);

  /// Returns the stages that the function computes. `buffer` is the first of a stage's buffers. If
  /// several stages store to it, `line` has all their locations, and `is_scheduled` is true if any
  /// of them is scheduled.
  const std::vector<StageLine>& stages() const { return stages_; }
  std::optional<int> stage_of(const std::string& buffer) const;
  /// Returns the indices of the stages that `s` computes, without duplicates, ordered by their last
  /// store in `s`. Results are memoized, also for the statements inside `s`, so query outer
  /// statements first. The reference is valid for the lifetime of this object.
  const std::vector<int>& of(const Stmt& s);

 private:
  std::vector<StageLine> stages_;
  std::unordered_map<std::string, int> by_buffer_;
  std::unordered_map<const StmtNode*, std::vector<int>> known_;
};

/// Returns the names of the data pointers that a call may write through its arguments.
std::vector<std::string> written_by_calls(const Evaluate& n);

}  // namespace tenon::tir
