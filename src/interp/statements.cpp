// The interpreter (class Machine): execution of statements.
#include <algorithm>

#include "interp/machine.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/print.h"

namespace tenon::interp {

void Machine::count_step() {
  if (options_.step_limit > 0 && ++steps_ > options_.step_limit)
    throw RuntimeError("the interpreter gave up after " + std::to_string(options_.step_limit) +
                       " steps");
}

void Machine::exec(const Stmt& s, const Active& active) {
  if (active.empty()) return;
  if (is_stack_low()) return with_deep_stack([&] { exec(s, active); });
  count_step();
  const bool is_leaf = s.as<Store>() || s.as<Evaluate>();
  if (is_leaf && options_.on_warp_access) report_warp_accesses();
  match(
      s.node().value, [&](const Store& n) { store(n, active); },
      [&](const Realize& n) {
        make_region(n.buffer, n.bounds, n.traits.scope_is_set, active);
        exec(n.body, active);
      },
      [&](const BufferView& n) {
        make_view(n.view, n.source, n.region, active);
        exec(n.body, active);
      },
      [&](const Allocate& n) { allocate(n, active); }, [&](const For& n) { loop(n, active); },
      [&](const While& n) { while_loop(n, active); }, [&](const If& n) { branch(n, active); },
      [&](const Let& n) {
        for (std::size_t id : active)
          threads_[id].values.insert_or_assign(&n.var.node(), eval(n.value, threads_[id]));
        exec(n.body, active);
      },
      [&](const Assert& n) {
        if (!where(n.condition, active, false).empty()) throw RuntimeError(n.message);
        exec(n.body, active);
      },
      [&](const Attr& n) { attr(n, active); },
      [&](const Evaluate& n) { evaluate_statement(n.value, active); },
      [&](const Seq& n) {
        for (const Stmt& c : n.stmts) exec(c, active);
      },
      [&](const Prefetch&) {}, [&](const BlockRealize& n) { block(n, active); });
  if (is_leaf && options_.on_warp_access) report_warp_accesses();
}

Machine::Active Machine::where(const Expr& condition, const Active& active, bool wanted) {
  Active result;
  for (std::size_t id : active)
    if ((eval_int(condition, threads_[id]) != 0) == wanted) result.push_back(id);
  return result;
}

void Machine::branch(const If& n, const Active& active) {
  if (n.condition.dtype().is_vector()) return branch_by_lanes(n, active);
  const Active yes = where(n.condition, active, true);
  Active no;
  std::set_difference(active.begin(), active.end(), yes.begin(), yes.end(), std::back_inserter(no));
  exec(n.then_case, yes);
  if (n.else_case) exec(*n.else_case, no);
}

void Machine::branch_by_lanes(const If& n, const Active& active) {
  for (const std::size_t id : active) {
    const Value condition = eval(n.condition, threads_[id]);
    const auto side = [&](const Stmt& s, bool wanted) {
      std::vector<bool> lanes = lanes_where(condition, wanted);
      if (std::ranges::find(lanes, true) == lanes.end()) return;
      lanes_.swap(lanes);
      exec(s, {id});
      lanes_.swap(lanes);
    };
    side(n.then_case, true);
    if (n.else_case) side(*n.else_case, false);
  }
}

void Machine::while_loop(const While& n, Active active) {
  while (!(active = where(n.condition, active, true)).empty()) exec(n.body, active);
}

void Machine::loop(const For& n, const Active& active) {
  if (const auto& thread = traits_of(n).thread) return launch(n, *thread, active);
  std::vector<std::int64_t> mins, extents;
  std::int64_t longest = 0;
  for (std::size_t id : active) {
    mins.push_back(eval_int(n.min, threads_[id]));
    extents.push_back(eval_int(n.extent, threads_[id]));
    longest = std::max(longest, extents.back());
  }
  Active running;
  for (std::int64_t i = 0; i < longest; ++i) {
    running.clear();
    for (std::size_t a = 0; a < active.size(); ++a) {
      if (i >= extents[a]) continue;
      threads_[active[a]].values.insert_or_assign(&n.var.node(), integer(mins[a] + i));
      running.push_back(active[a]);
    }
    exec(n.body, running);
  }
}

// ---- memory -------------------------------------------------------------------------------------

namespace {

bool is_shared(StorageScope scope) {
  return is_shared_memory(scope) || scope == StorageScope::Global;
}

}  // namespace

void Machine::make_region(const Buffer& buffer, const std::vector<Range>& bounds, bool scope_is_set,
                          const Active& active) {
  Region region;
  region.number = ++regions_made_;
  region.storage = std::make_shared<Storage>();
  // Inside threads, memory without an inferred scope is private, as flatten-storage decides.
  const bool is_deduced_private = !scope_is_set && threads_.size() > 1;
  region.storage->scope = is_deduced_private ? StorageScope::Local : buffer->scope();
  region.storage->is_shared = is_shared(buffer->scope());
  region.depth = region.storage->depth = threads_.front().coordinates.size();
  std::int64_t most = 0;
  for (std::size_t id : active) {
    Layout layout;
    std::int64_t elements = 1;
    for (const Range& r : bounds) {
      layout.mins.push_back(eval_int(r.min, threads_[id]));
      layout.extents.push_back(eval_int(r.extent, threads_[id]));
      elements *= std::max<std::int64_t>(layout.extents.back(), 0);
    }
    layout.make_row_major();
    most = std::max(most, elements);
    region.layouts.emplace_back(threads_[id].id, std::move(layout));
  }
  region.storage->bytes = most * buffer->dtype.bytes();
  storages_.insert_or_assign(&buffer->data.node(), region.storage);
  regions_.insert_or_assign(buffer.get(), std::move(region));
}

void Machine::make_view(const Buffer& view, const Buffer& from, const std::vector<Range>& ranges,
                        const Active& active) {
  auto source = regions_.find(from.get());
  internal_check(source != regions_.end(), "a view of a buffer that does not exist here");
  Region region;
  region.storage = source->second.storage;
  region.depth = threads_.front().coordinates.size();
  const std::size_t dropped = ranges.size() - view->shape.size();
  for (std::size_t id : active) {
    Thread& t = threads_[id];
    const Layout& outer = source->second.of(t);
    Layout layout;
    layout.base = outer.base;
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      layout.base += (eval_int(ranges[d].min, t) - outer.mins[d]) * outer.strides[d];
      if (d < dropped) continue;
      layout.mins.push_back(0);
      layout.extents.push_back(eval_int(ranges[d].extent, t));
      layout.strides.push_back(outer.strides[d]);
    }
    // Symbolic sizes, strides and offset of the view take their values from the source.
    auto bind = [&](const Expr& e, std::int64_t value) {
      if (e.as<VarNode>()) t.values.insert_or_assign(&e.node(), integer(value));
    };
    for (std::size_t d = 0; d < view->shape.size(); ++d) bind(view->shape[d], layout.extents[d]);
    for (std::size_t d = 0; d < view->strides.size(); ++d)
      bind(view->strides[d], layout.strides[d]);
    bind(view->elem_offset, layout.base);
    region.layouts.emplace_back(t.id, std::move(layout));
  }
  storages_.insert_or_assign(&view->data.node(), region.storage);
  regions_.insert_or_assign(view.get(), std::move(region));
}

void Machine::allocate(const Allocate& n, const Active& active) {
  const VarNode* pointer = n.data.as<VarNode>();
  auto storage = std::make_shared<Storage>();
  storage->depth = threads_.front().coordinates.size();
  if (pointer->pointer && pointer->pointer->scope) {
    storage->scope = *pointer->pointer->scope;
    storage->is_shared = is_shared(*pointer->pointer->scope);
  }
  for (std::size_t id : active) {
    std::int64_t elements = 1;
    for (const Expr& extent : n.extents)
      elements *= std::max<std::int64_t>(eval_int(extent, threads_[id]), 0);
    storage->bytes = std::max(storage->bytes, elements * n.dtype.bytes());
  }
  storages_.insert_or_assign(&n.data.node(), std::move(storage));
  exec(n.body, active);
}

// ---- blocks -------------------------------------------------------------------------------------

void Machine::block(const BlockRealize& n, const Active& active) {
  const Block& b = *n.block;
  const Active running = where(n.predicate, active, true);
  if (running.empty()) return;
  Active first;
  for (std::size_t id : running) {
    Thread& t = threads_[id];
    // Evaluates all values before it binds any iterator: if the block is nested in another instance
    // of itself, a value may use an iterator of the outer instance.
    const std::vector<std::int64_t> values = eval_ints(n.values, t);
    bool is_first = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const IterVar& axis = b.iters[i];
      t.values.insert_or_assign(&axis.var().node(), integer(values[i]));
      if (axis.kind() == IterKind::Reduce) is_first &= values[i] == eval_int(axis.dom()->min, t);
    }
    if (is_first) first.push_back(id);
  }
  for (const Buffer& buffer : b.alloc_buffers)
    make_region(buffer, whole_region(buffer->shape), true, running);
  for (const MatchBuffer& match : b.match_buffers)
    make_view(match.buffer, match.source.buffer, match.source.region, running);
  if (b.init) exec(*b.init, first);
  exec(b.body, running);
}

}  // namespace tenon::interp
