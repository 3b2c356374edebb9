// Finds variables that are used only in memory indices and loop bounds. Index arithmetic is assumed
// not to overflow, which code generation may declare to LLVM; data arithmetic wraps. The value of a
// let is computed as an index only if its variable has no other use.
#pragma once

#include <unordered_set>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// A set of variables. Must not be iterated: the elements are addresses.
using VarSet = std::unordered_set<const tir::ExprNode*>;

/// Returns the variables of the body that have uses outside indices and bounds. Takes one
/// traversal.
VarSet data_variables(const tir::Stmt& body);

}  // namespace tenon::codegen
