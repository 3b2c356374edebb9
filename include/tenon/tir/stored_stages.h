// Which stages the statements of a function compute, by the buffers that they store to.
//
//   StoredStages stored(func);
//   stored.of(loop)                    // {0, 1}: `stages()[0]`, and last `stages()[1]`
//
// Stages are those that the function has notes of (stage_lines.h); of a function without notes,
// each buffer that is stored to is one. What stores to no stage's buffer, as sums in registers do,
// is of no stage by itself.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {

/// A stage that the function computes.
struct NotedStage {
  std::string name;
  /// "matmul.cpp:14"; of several stages of one name, their places. Empty without notes.
  std::string line;
  /// As StageLine has it.
  std::optional<std::int64_t> stores = std::nullopt;
  /// The first of the buffers that it stores.
  std::string buffer;
  /// As StageLine has it; of several stages of one name, whether any is.
  bool is_scheduled = false;
};

class StoredStages {
 public:
  explicit StoredStages(const PrimFunc& func);

  const std::vector<NotedStage>& stages() const { return stages_; }
  std::optional<int> stage_of(const std::string& buffer) const;
  /// Without repetition, in the order of their last stores. Asked for the outermost statements
  /// first, each costs no more than its own length and stages. Valid as long as this lives.
  const std::vector<int>& of(const Stmt& s);

 private:
  std::vector<NotedStage> stages_;
  std::unordered_map<std::string, int> by_buffer_;
  std::unordered_map<const StmtNode*, std::vector<int>> known_;
};

/// What a statement writes through the addresses that it gives to a call: data pointers' names.
std::vector<std::string> written_by_calls(const Evaluate& n);

}  // namespace tenon::tir
