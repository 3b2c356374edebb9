// Copies of code that is to stand more than once in a function: every variable that the copied
// statement defines is fresh, under its old name (the printer numbers them), so that the whole
// keeps one definition per variable.
//
//   for n in 0..3: parts.push_back(fresh_copy(loop.body, {{&loop.var.node(), n}}));
#pragma once

#include "tenon/tir/walk.h"

namespace tenon::tir {

/// The statement with its loops, lets, allocations, realized buffers and views redefined, and the
/// free variables of `replaced` replaced, in shapes and strides too. A buffer whose data pointer or
/// sizes are redefined or replaced becomes another buffer: that of `buffers` (in pairs of the old
/// and the new one), or a copy. Thread axes keep their variables: the same axis means the same
/// thread wherever it stands.
Stmt fresh_copy(const Stmt& s, VarMap replaced = {},
                const std::vector<std::pair<Buffer, Buffer>>& buffers = {});

/// Replaces variables, data pointers of buffers among them; nothing is redefined.
Stmt replace_vars(const Stmt& s, VarMap replaced);

}  // namespace tenon::tir
