// The stages that statements compute, for comments in the text. A statement belongs to a stage if
// all its stores are to that stage's buffers or to buffers of no stage.
//
//   StageComments comments(func);
//   comments.line(0)                // "C, matmul.cpp:14"
//   comments.stored_by(loop)        // {0}: the loop computes C and nothing else
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

class StageComments {
 public:
  explicit StageComments(const tir::PrimFunc& func);

  /// Returns the numbers of the stages that the statement stores to. A call takes time linear in
  /// the statement's size if outer statements are queried before inner ones.
  std::set<int> stored_by(const tir::Stmt& s);
  const std::string& line(int stage) const { return lines_[static_cast<std::size_t>(stage)]; }

 private:
  /// Keys are buffer names. Stages of the same name share an entry, with all their locations.
  std::unordered_map<std::string, int> stages_;
  std::vector<std::string> lines_;
  /// Memoized results. The statements are kept alive, so that their addresses are not reused.
  std::unordered_map<const tir::StmtNode*, std::pair<tir::Stmt, std::set<int>>> known_;
};

}  // namespace tenon::codegen
