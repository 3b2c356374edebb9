// Copies of code that is to occur more than once in a function. Every variable that the copied
// statement defines is replaced by a new variable of the same name (the printer numbers them), so
// that each variable keeps a single definition.
//
//   for n in 0..3: parts.push_back(fresh_copy(loop.body, {{&loop.var.node(), n}}));
#pragma once

#include "tenon/tir/walk.h"

namespace tenon::tir {

/// Copies a statement. Variables that it defines by loops, lets, allocations, realized buffers and
/// views are replaced by new variables. Thread axes keep their variables, because the same axis
/// denotes the same thread everywhere. Free variables in `replaced` are substituted, also in shapes
/// and strides. A buffer whose data pointer or shape changes is replaced by its partner in
/// `buffers`, a list of pairs (old, new). A buffer that is not listed there is replaced by a copy.
Stmt fresh_copy(const Stmt& s, VarMap replaced = {},
                const std::vector<std::pair<Buffer, Buffer>>& buffers = {});

/// Gives each block an id of its own. If several blocks have the same id because they are copies,
/// the first one keeps it, and the others get new ids.
Stmt with_own_ids(const Stmt& s);

/// Substitutes variables, including the data pointers of buffers. Keeps all definitions.
Stmt replace_vars(const Stmt& s, VarMap replaced);

}  // namespace tenon::tir
