// Which stage statements compute, for comments in the text. A statement is of a stage if all that
// it stores is the stage's, or nobody's.
//
//   StageComments comments(func);
//   comments.of(loop)               // "C, matmul.cpp:14": the loop computes C and nothing else
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
    /// Of OneStage: a number of its own.
    int stage = 0;
  };
  /// Asked for the outermost statements first, each costs no more than its own length.
  Stored stored_by(const tir::Stmt& s);
  const std::string& line(int stage) const { return lines_[static_cast<std::size_t>(stage)]; }

 private:
  void add(const std::string& buffer, Stored& stored) const;

  /// By the names of buffers. Stages of one name are one here, with all their places.
  std::unordered_map<std::string, int> stages_;
  std::vector<std::string> lines_;
  std::unordered_map<const tir::StmtNode*, Stored> known_;
};

}  // namespace tenon::codegen
