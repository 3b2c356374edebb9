#include "tenon/te/post_dfs_order.h"

#include <unordered_set>

#include "tenon/te/operation_kind.h"

namespace tenon::te {

std::vector<Operation> post_dfs_order(const std::vector<Operation>& outputs) {
  std::vector<Operation> order;
  std::unordered_set<const OperationNode*> seen;
  struct Open {
    Operation op;
    std::size_t next_input = 0;
  };
  std::vector<Open> path;
  for (const Operation& output : outputs) {
    if (seen.insert(output.get()).second) path.push_back({output});
    while (!path.empty()) {
      Open& top = path.back();
      if (top.next_input == top.op.inputs().size()) {
        order.push_back(top.op);
        path.pop_back();
        continue;
      }
      const Operation input = top.op.inputs()[top.next_input++].op();
      if (seen.insert(input.get()).second) path.push_back({input});
    }
  }
  return order;
}

}  // namespace tenon::te
