// What is known of a whole computation before it is emitted, as one function or several.
#pragma once

#include <unordered_map>

#include "tenon/codegen/index_uses.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// How many nodes statements have: what LLVM's time for them grows with.
class StmtSizes {
 public:
  explicit StmtSizes(const tir::Stmt& body) { measure(body); }

  /// Precondition: the statement is the body, or stands in a sequence of it.
  int of(const tir::Stmt& s) const { return sizes_.at(&s.node()).nodes; }
  /// Whether the statement may leave the function it stands in, with @tir.ret.
  bool returns(const tir::Stmt& s) const { return sizes_.at(&s.node()).returns; }

 private:
  struct Size {
    int nodes = 1;
    bool returns = false;
  };
  Size measure(const tir::Stmt& s);

  std::unordered_map<const tir::StmtNode*, Size> sizes_;
};

struct Computation {
  explicit Computation(const tir::Stmt& body) : uses(body), sizes(body) {}

  IndexUses uses;
  StmtSizes sizes;
};

}  // namespace tenon::codegen
