#include "tenon/tune/space.h"

#include <algorithm>

#include "tenon/tir/walk.h"
#include "tune/search/mutate.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::Schedule;

/// Returns the blocks whose names are unique. Inner blocks precede outer ones, and the root is
/// last.
std::vector<BlockRV> found_blocks(Schedule& sch) {
  std::vector<std::string> names;
  tir::walk(body_of(sch),
            [&](const tir::BlockRealize& realize) { names.push_back(realize.block->name); });
  // The walk visits the root first, so it is moved to the end.
  std::rotate(names.begin(), names.begin() + 1, names.end());
  std::vector<BlockRV> result;
  for (const std::string& name : names)
    if (std::count(names.begin(), names.end(), name) == 1)
      result.push_back(sch.get_block(name, function_name(sch)));
  return result;
}

/// Whether the block is inside a block that will be tensorized. The contents of such a block must
/// not change.
bool is_for_intrinsic(const Schedule& sch, BlockRV block) {
  const auto own = sch.get(block).block;
  return tir::any_node(body_of(sch), [&](const tir::BlockRealize& realize) {
    return realize.block->annotations.contains(kIntrinsicKey) &&
           tir::any_node(realize.block->body,
                         [&](const tir::BlockRealize& inner) { return inner.block == own; });
  });
}

std::vector<Schedule> applied(const ScheduleRule& rule, const std::vector<Schedule>& designs,
                              BlockRV block, const Target& target) {
  std::vector<Schedule> result;
  for (const Schedule& design : designs) {
    if (!exists(design, block) || is_for_intrinsic(design, block)) {
      result.push_back(design);
      continue;
    }
    for (Schedule& made : rule.apply(design, block, target)) result.push_back(std::move(made));
  }
  return result;
}

}  // namespace

Space post_order_apply(std::vector<ScheduleRule> rules) {
  return Space([rules = std::move(rules)](const Schedule& fresh, const Target& target) {
    if (fresh.mod().functions.size() != 1)
      throw TypeError("tuning: rules are for one function, and the module has " +
                      std::to_string(fresh.mod().functions.size()));
    Schedule sch = fresh;
    const std::vector<BlockRV> blocks = found_blocks(sch);
    std::vector<Schedule> designs = {sch};
    for (const ScheduleRule& rule : rules.empty() ? default_rules(target) : rules)
      for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
        designs = applied(rule, designs, *block, target);
    return designs;
  });
}

}  // namespace tenon::tune
