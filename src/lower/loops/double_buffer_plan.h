// Which buffers of a loop can be filled one iteration ahead.
#pragma once

#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Buffers that one statement of a loop's body fills.
struct DoubleBufferGroup {
  struct Member {
    tir::Var data;
    /// The size of one copy, in elements; free of variables that the loop defines.
    tir::Expr size;
  };
  std::vector<Member> members;
};

/// The groups marked in the body of the loop (not in loops inside it) whose filling can run ahead
/// of their use.
std::vector<DoubleBufferGroup> plan_double_buffers(const tir::For& loop);

/// The data pointers that an attribute and those directly inside it mark, and the statement that
/// fills them.
struct MarkedFilling {
  std::vector<tir::Var> data;
  tir::Stmt filling;
};
MarkedFilling marked_filling(const tir::Attr& mark);

}  // namespace tenon::lowering
