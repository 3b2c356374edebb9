#include "tune/space/block_facts.h"

#include <algorithm>

#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::tune {

namespace {

using namespace tir;

bool is_spatial(const IterVar& iter) { return iter.kind() == IterKind::DataParallel; }
bool is_reduction(const IterVar& iter) { return iter.kind() == IterKind::Reduce; }

double length_of(const IterVar& iter) {
  return iter.dom() ? static_cast<double>(constant_int(iter.dom()->extent).value_or(1)) : 1;
}

}  // namespace

std::string function_name(const s_tir::Schedule& sch) {
  internal_check(sch.mod().functions.size() == 1, "a task of more than one function");
  return sch.mod().functions.begin()->first;
}

bool exists(const s_tir::Schedule& sch, s_tir::BlockRV block) {
  try {
    sch.get(block);
    return true;
  } catch (const ScheduleError&) {
    return false;
  }
}

bool is_root(const s_tir::Schedule& sch, s_tir::BlockRV block) {
  const Stmt& body = sch.mod().functions.begin()->second.body;
  return sch.get(block).block == body.as<BlockRealize>()->block;
}

std::int64_t extent_of(const For& loop) { return constant_int(loop.extent).value_or(0); }

LoopClass class_of(const BlockRealize& realize, const For& loop) {
  bool is_used = false, spatial = true, reduction = true;
  for (std::size_t n = 0; n < realize.values.size(); ++n) {
    if (!uses_var(realize.values[n], loop.var)) continue;
    is_used = true;
    spatial = spatial && is_spatial(realize.block->iters[n]);
    reduction = reduction && is_reduction(realize.block->iters[n]);
  }
  // A loop of one iteration may be missing from the bindings.
  if (!is_used) return extent_of(loop) == 1 ? LoopClass::Spatial : LoopClass::Other;
  return spatial ? LoopClass::Spatial : reduction ? LoopClass::Reduction : LoopClass::Other;
}

bool is_trivially_bound(const s_tir::Schedule& sch, s_tir::BlockRV block) {
  s_tir::Schedule look = sch;
  const std::vector<s_tir::LoopRV> loops = look.get_loops(block);
  const BlockRealize realize = look.get(block);
  if (loops.size() != realize.values.size() || loops.empty()) return false;
  for (std::size_t n = 0; n < loops.size(); ++n)
    if (!realize.values[n].same_as(look.get(loops[n]).var)) return false;
  return true;
}

bool reuses_data(const s_tir::Schedule& sch, s_tir::BlockRV block) {
  const BlockRealize realize = sch.get(block);
  const Block& own = *realize.block;
  if (own.writes.size() != 1 || own.reads.empty() || !is_trivially_bound(sch, block)) return false;
  if (std::none_of(own.iters.begin(), own.iters.end(), is_reduction)) return false;
  for (const IterVar& iter : own.iters)
    if (!is_spatial(iter) && !is_reduction(iter)) return false;
  for (const BufferRegion& read : own.reads)
    for (const IterVar& iter : own.iters) {
      if (!is_spatial(iter)) continue;
      const bool is_used =
          std::any_of(read.region.begin(), read.region.end(), [&](const Range& range) {
            return uses_var(range.min, iter.var()) || uses_var(range.extent, iter.var());
          });
      if (!is_used) return true;
    }
  return false;
}

Lengths lengths_of(const Block& block) {
  Lengths result;
  for (const IterVar& iter : block.iters)
    (is_reduction(iter) ? result.reduction : result.spatial) *= length_of(iter);
  return result;
}

bool is_elementwise(const Block& block) {
  const Store* store = block.body.as<Store>();
  if (!store || block.init || block.writes.size() != 1) return false;
  if (!std::all_of(block.iters.begin(), block.iters.end(), is_spatial)) return false;
  bool is_plain = true;
  walk(store->value, [&](const Load& load) {
    for (const Expr& index : load.indices)
      is_plain = is_plain && (index.as<VarNode>() || constant_int(index));
  });
  return is_plain;
}

}  // namespace tenon::tune
