#include "tests/common/fit_blocks_for_device.h"

#include <algorithm>

#include "tenon/tir/block.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

namespace {

bool is_thread(const tir::For& loop) {
  if (loop.kind != tir::ForKind::ThreadBinding) return false;
  const std::optional<tir::ThreadTag>& tag = tir::traits_of(loop).thread;
  return tag && !tag->is_virtual();
}

/// Names of the innermost blocks that no thread runs, in order.
void find_on_host(const tir::Stmt& s, std::vector<std::string>& found) {
  if (const tir::For* n = s.as<tir::For>(); n && is_thread(*n)) return;
  if (const tir::BlockRealize* n = s.as<tir::BlockRealize>()) {
    const std::size_t before = found.size();
    bool has_blocks = false;
    tir::walk(n->block->body, [&](const tir::BlockRealize&) { has_blocks = true; });
    find_on_host(n->block->body, found);
    if (!has_blocks && found.size() == before) found.push_back(n->block->name);
    return;
  }
  tir::for_each_child(
      s, [](const tir::Expr&) {}, [&](const tir::Stmt& child) { find_on_host(child, found); });
}

bool attempt(const std::function<void()>& apply) {
  try {
    apply();
    return true;
  } catch (const ScheduleError&) {
    return false;
  }
}

}  // namespace

void fit_blocks_for_device(Schedule& schedule, const std::string& scope) {
  std::vector<std::string> names;
  find_on_host(schedule.mod().functions.at("main").body, names);
  int number = 0;
  for (const std::string& name : names) {
    // One that was bound meanwhile runs along with another.
    std::vector<std::string> left;
    find_on_host(schedule.mod().functions.at("main").body, left);
    if (std::ranges::find(left, name) == left.end()) continue;
    const char* tag = number++ % 3 == 2 ? "threadIdx.x" : "blockIdx.x";
    // Not where several blocks are called so.
    attempt([&] {
      const BlockRV block = schedule.get_block(name);
      for (const LoopRV& loop : schedule.get_loops(block))
        if (attempt([&] { schedule.bind(loop, tag); })) break;
      schedule.set_scope(block, 0, "global");
    });
  }
  if (scope.empty()) return;
  tir::walk(schedule.mod().functions.at("main").body, [&](const tir::BlockRealize& n) {
    if (n.block->name != "root") names.push_back(n.block->name);
  });
  for (const std::string& name : names)
    attempt([&] { schedule.set_scope(schedule.get_block(name), 0, scope); });
}

}  // namespace tenon::testing
