// Legality of double buffering: the buffers of a loop that can be filled one iteration ahead.
#pragma once

#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Buffers that one statement of a loop body fills.
struct DoubleBufferGroup {
  struct Member {
    tir::Var data;
    /// The size of one copy, in elements; it does not depend on variables that the loop defines.
    tir::Expr size;
  };
  std::vector<Member> members;
};

/// Returns the groups marked directly in the body of the loop (not in inner loops) that can be
/// filled ahead of their use.
std::vector<DoubleBufferGroup> plan_double_buffers(const tir::For& loop);

/// The data pointers that an attribute and the attributes directly inside it mark, and the
/// statement that fills them.
struct MarkedFilling {
  std::vector<tir::Var> data;
  tir::Stmt filling;
};
MarkedFilling marked_filling(const tir::Attr& mark);

}  // namespace tenon::lowering
