#include "tune/space/block_facts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tenon/interp/evaluate.h"
#include "tenon/lower/pipeline.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::tune {

namespace {

using namespace tir;

bool is_spatial(const IterVar& iter) { return iter.kind() == IterKind::DataParallel; }
bool is_reduction(const IterVar& iter) { return iter.kind() == IterKind::Reduce; }

}  // namespace

std::string function_name(const s_tir::Schedule& sch) {
  internal_check(sch.mod().functions.size() == 1, "a task of more than one function");
  return sch.mod().functions.begin()->first;
}

const Stmt& body_of(const s_tir::Schedule& sch) { return sch.mod().functions.begin()->second.body; }

bool exists(const s_tir::Schedule& sch, s_tir::BlockRV block) {
  try {
    sch.get(block);
    return true;
  } catch (const ScheduleError&) {
    return false;
  }
}

bool is_root(const s_tir::Schedule& sch, s_tir::BlockRV block) {
  return sch.get(block).block == body_of(sch).as<BlockRealize>()->block;
}

std::int64_t extent_of(const For& loop) { return constant_int(loop.extent).value_or(0); }

double extent_or_one(const Expr& extent) {
  return static_cast<double>(constant_int(extent).value_or(1));
}

std::optional<IterKind> kind_of(const BlockRealize& realize, const For& loop) {
  bool is_used = false, spatial = true, reduction = true;
  for (std::size_t n = 0; n < realize.values.size(); ++n) {
    if (!uses_var(realize.values[n], loop.var)) continue;
    is_used = true;
    spatial = spatial && is_spatial(realize.block->iters[n]);
    reduction = reduction && is_reduction(realize.block->iters[n]);
  }
  // A loop with one iteration may be missing from the bindings, because its variable has been
  // simplified away.
  if (!is_used && extent_of(loop) != 1) return std::nullopt;
  if (spatial) return IterKind::DataParallel;
  return reduction ? std::optional(IterKind::Reduce) : std::nullopt;
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
  if (std::ranges::none_of(own.iters, is_reduction)) return false;
  for (const IterVar& iter : own.iters)
    if (!is_spatial(iter) && !is_reduction(iter)) return false;
  for (const BufferRegion& read : own.reads)
    for (const IterVar& iter : own.iters) {
      if (!is_spatial(iter)) continue;
      const bool is_used = std::ranges::any_of(read.region, [&](const Range& range) {
        return uses_var(range.min, iter.var()) || uses_var(range.extent, iter.var());
      });
      if (!is_used) return true;
    }
  return false;
}

std::optional<std::pair<double, double>> reduction_lengths(const s_tir::Schedule& sch,
                                                           s_tir::BlockRV block) {
  const BlockRealize realize = sch.get(block);
  const Block& own = *realize.block;
  if (!own.init || own.writes.size() != 1 || !is_trivially_bound(sch, block)) return std::nullopt;
  double spatial = 1, reduction = 1;
  for (const IterVar& iter : own.iters)
    if (iter.dom()) (is_reduction(iter) ? reduction : spatial) *= extent_or_one(iter.dom()->extent);
  return std::pair(spatial, reduction);
}

bool is_elementwise(const Block& block) {
  const Store* store = block.body.as<Store>();
  if (!store || block.init || block.writes.size() != 1) return false;
  if (!std::ranges::all_of(block.iters, is_spatial)) return false;
  return !any_node(store->value, [](const Load& load) {
    return !std::ranges::all_of(
        load.indices, [](const Expr& index) { return index.as<VarNode>() || constant_int(index); });
  });
}

// ---- accesses -----------------------------------------------------------------------------------

namespace {

bool is_thread(AttrKind kind) {
  return kind == AttrKind::ThreadExtent || kind == AttrKind::VirtualThread;
}

/// Calls `visit` for each store in the statement. `at` describes what encloses the statement.
void visit_stores(const Stmt& s, StoreInLoops& at,
                  const std::function<void(const StoreInLoops&)>& visit) {
  const auto inside = [&](const Loop& loop, const Stmt& body) {
    at.loops.push_back(loop);
    visit_stores(body, at, visit);
    at.loops.pop_back();
  };
  if (const For* loop = s.as<For>())
    return inside({loop->var, loop->kind, extent_or_one(loop->extent)}, loop->body);
  if (const Attr* attr = s.as<Attr>(); attr && is_thread(attr->kind)) {
    const IterVar& axis = std::get<IterVar>(attr->subject);
    return inside({axis.var(), ForKind::ThreadBinding, extent_or_one(attr->value)}, attr->body);
  }
  if (const Attr* attr = s.as<Attr>(); attr && attr->key == "auto_unroll_max_step") {
    const double before =
        std::exchange(at.unroll, static_cast<double>(constant_int(attr->value).value_or(0)));
    visit_stores(attr->body, at, visit);
    at.unroll = before;
    return;
  }
  if (const If* choice = s.as<If>()) {
    ++at.guards;
    visit_stores(choice->then_case, at, visit);
    --at.guards;
    if (choice->else_case) visit_stores(*choice->else_case, at, visit);
    return;
  }
  if (const Realize* realize = s.as<Realize>())
    at.loops_around_memory.insert_or_assign(realize->buffer.get(), at.loops.size());
  if (const Store* store = s.as<Store>()) {
    at.store = store;
    visit(at);
  }
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { visit_stores(child, at, visit); });
}

/// Returns the value of an index if the loops from `first` inwards are in their last iteration and
/// the other loops are in their first. Loads count as 0.
std::int64_t value_at(const Expr& index, const std::vector<Loop>& loops, std::size_t first) {
  const Expr without_loads =
      rewrite(index, [](const Load&, const Expr& self) -> std::optional<Expr> {
        return make_const(self.dtype(), 0);
      });
  return evaluate_int(without_loads, [&](const Var& var) -> std::int64_t {
    for (std::size_t n = 0; n < loops.size(); ++n)
      if (loops[n].var.same_as(var))
        return n < first ? 0 : static_cast<std::int64_t>(loops[n].extent) - 1;
    return 0;
  });
}

double elements_of(const std::vector<double>& spans) {
  return std::accumulate(spans.begin(), spans.end(), 1.0, std::multiplies<>());
}

}  // namespace

double StoreInLoops::iterations_from(std::size_t first) const {
  double product = 1;
  for (std::size_t n = first; n < loops.size(); ++n) product *= loops[n].extent;
  return product;
}

IRModule loops_of(const IRModule& candidate) {
  IRModule result = candidate;
  for (auto& [name, func] : result.functions)
    func = lowering::run_passes(lowering::block_passes(), func, {.passes = {.verify = false}});
  return result;
}

void for_each_store(const Stmt& body, const std::function<void(const StoreInLoops&)>& visit) {
  StoreInLoops at;
  visit_stores(body, at, visit);
}

std::vector<Access> accesses_of(const StoreInLoops& at) {
  std::vector<Access> all;
  const auto add = [&](const Buffer& buffer, const std::vector<Expr>& place, bool is_write) {
    auto own = std::ranges::find_if(
        all, [&](const Access& access) { return access.buffer.same_as(buffer); });
    if (own == all.end()) {
      const auto made = at.loops_around_memory.find(buffer.get());
      const std::size_t around = made == at.loops_around_memory.end() ? 0 : made->second;
      own = all.insert(all.end(),
                       Access{.buffer = buffer, .places = {}, .loops_around_memory = around});
    }
    own->places.push_back(place);
    (is_write ? own->is_written : own->is_read) = true;
  };
  add(at.store->buffer, at.store->indices, true);
  walk(at.store->value, [&](const Load& load) { add(load.buffer, load.indices, false); });
  return all;
}

std::vector<double> spans_of(const Access& access, const std::vector<Loop>& loops,
                             std::size_t first) {
  first = std::max(first, access.loops_around_memory);
  std::vector<double> spans;
  for (std::size_t d = 0; d < access.places.front().size(); ++d) {
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    for (const std::vector<Expr>& place : access.places) {
      const std::int64_t a = value_at(place[d], loops, loops.size());
      const std::int64_t b = value_at(place[d], loops, first);
      low = std::min({low, a, b});
      high = std::max({high, a, b});
    }
    spans.push_back(static_cast<double>(high - low) + 1);
  }
  return spans;
}

double bytes_of(const Access& access, const std::vector<double>& spans) {
  return elements_of(spans) * access.buffer->dtype.bytes();
}

double lines_of(const Access& access, const std::vector<double>& spans) {
  const double last = spans.empty() ? 1 : spans.back();
  return elements_of(spans) / last * std::ceil(last * access.buffer->dtype.bytes() / kLineBytes);
}

double stride_of(const Access& access, const std::vector<Loop>& loops) {
  const std::vector<Expr>& place = access.places.front();
  for (std::size_t n = loops.size(); n-- > 0;) {
    if (loops[n].extent < 2) continue;
    double distance = 0, row = 1;
    for (std::size_t d = place.size(); d-- > 0;) {
      const auto span = static_cast<double>(value_at(place[d], {loops[n]}, 0) -
                                            value_at(place[d], {loops[n]}, 1));
      distance += span / (loops[n].extent - 1) * row;
      row *= extent_or_one(access.buffer->shape[d]);
    }
    if (distance != 0) return std::abs(distance);
  }
  return 0;
}

}  // namespace tenon::tune
