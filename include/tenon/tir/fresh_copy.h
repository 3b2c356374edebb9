// Copies of code that is to occur more than once in a function. Every variable that the copied
// statement defines is replaced by a new variable of the same name (the printer numbers them), so
// that each variable keeps a single definition.
//
//   for n in 0..3: parts.push_back(fresh_copy(loop.body, {{&loop.var.node(), n}}));
#pragma once

#include "tenon/tir/walk.h"

namespace tenon::tir {

/// Copies the statement with new variables for its loops, lets, allocations, realized buffers and
/// views, and substitutes the free variables in `replaced`, in shapes and strides too. A buffer
/// whose data pointer or sizes change is replaced by its partner in `buffers` (pairs of old and
/// new), or by a copy. Thread axes keep their variables, because the same axis denotes the same
/// thread everywhere.
Stmt fresh_copy(const Stmt& s, VarMap replaced = {},
                const std::vector<std::pair<Buffer, Buffer>>& buffers = {});

/// Gives blocks that are copies of other blocks, with their ids, ids of their own.
Stmt with_own_ids(const Stmt& s);

/// Substitutes variables, including the data pointers of buffers. Keeps all definitions.
Stmt replace_vars(const Stmt& s, VarMap replaced);

}  // namespace tenon::tir
