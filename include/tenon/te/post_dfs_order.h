// Operations in the order of their computation.
//
//   for (const te::Operation& op : te::post_dfs_order({C.op()})) std::cout << op.name() << '\n';
#pragma once

#include "tenon/te/operation.h"

namespace tenon::te {

/// The operations and all that they are computed from, each once: the inputs of an operation, in
/// their order, before the operation.
std::vector<Operation> post_dfs_order(const std::vector<Operation>& outputs);

}  // namespace tenon::te
