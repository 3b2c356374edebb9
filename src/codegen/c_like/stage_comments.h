// The stages that statements compute, for comments in the text. A statement belongs to a stage if
// all its stores are to that stage's buffers or to buffers of no stage.
//
//   StageComments comments(func);
//   comments.line(0)                // "C, matmul.cpp:14"
//   comments.stored_by(loop)        // OneStage, number 0: the loop computes C and nothing else
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

class StageComments {
 public:
  explicit StageComments(const tir::PrimFunc& func);

  enum class Kind : unsigned char { Nothing, OneStage, Several };
  struct Stored {
    Kind kind = Kind::Nothing;
    /// The number of the stage; valid for Kind::OneStage.
    int stage = 0;
  };
  /// Returns which stages the statement stores to. A call takes time linear in the statement's size
  /// if outer statements are queried before inner ones.
  Stored stored_by(const tir::Stmt& s);
  const std::string& line(int stage) const { return lines_[static_cast<std::size_t>(stage)]; }

 private:
  void add(const std::string& buffer, Stored& stored) const;

  /// Keys are buffer names. Stages of the same name share an entry, with all their locations.
  std::unordered_map<std::string, int> stages_;
  std::vector<std::string> lines_;
  /// Memoized results. The statements are kept alive, so that their addresses are not reused.
  std::unordered_map<const tir::StmtNode*, std::pair<tir::Stmt, Stored>> known_;
};

}  // namespace tenon::codegen
