// Operations in dependence order.
//
//   for (const te::Operation& op : te::post_dfs_order({C.op()})) std::cout << op.name() << '\n';
#pragma once

#include "tenon/te/operation.h"

namespace tenon::te {

/// Returns the operations and everything that they depend on, each once. The inputs of an operation
/// precede it, in their order.
std::vector<Operation> post_dfs_order(const std::vector<Operation>& outputs);

}  // namespace tenon::te
