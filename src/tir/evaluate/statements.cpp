// The machine's statements.
#include <algorithm>
#include <map>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/print.h"
#include "tir/evaluate/machine.h"

namespace tenon::tir::evaluation {

void Machine::count_step() {
  if (options_.step_limit > 0 && ++steps_ > options_.step_limit)
    throw RuntimeError("the interpreter gave up after " + std::to_string(options_.step_limit) +
                       " steps");
}

void Machine::exec(const Stmt& s, const Active& active) {
  if (active.empty()) return;
  if (is_stack_low()) return with_deep_stack([&] { exec(s, active); });
  count_step();
  match(
      s.node().value, [&](const Store& n) { store(n, active); },
      [&](const Realize& n) { realize(n, active); }, [&](const BufferView& n) { view(n, active); },
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
}

namespace {

bool is_virtual_thread(const Thread& thread) {
  return std::ranges::any_of(thread.coordinates,
                             [](const auto& place) { return place.first.is_virtual(); });
}

/// The thread whose virtual threads these are.
std::vector<std::int64_t> hardware_place(const Thread& thread) {
  std::vector<std::int64_t> place;
  for (const auto& [tag, value] : thread.coordinates)
    if (!tag.is_virtual()) place.push_back(value);
  return place;
}

}  // namespace

/// The virtual threads of a thread are one thread: a statement in which they do not differ is done
/// once. Here all of them do it, so that none may read what another has just written.
void Machine::store(const Store& n, const Active& active) {
  if (!is_virtual_thread(threads_[active.front()])) {
    for (std::size_t id : active) store(n, eval(n.value, threads_[id]), threads_[id]);
    return;
  }
  std::map<std::vector<std::int64_t>, Active> hardware_threads;
  for (std::size_t id : active) hardware_threads[hardware_place(threads_[id])].push_back(id);
  for (const auto& [place, ids] : hardware_threads) {
    std::vector<Value> values;
    for (std::size_t id : ids) values.push_back(eval(n.value, threads_[id]));
    for (std::size_t k = 0; k < ids.size(); ++k) store(n, values[k], threads_[ids[k]]);
  }
}

Machine::Active Machine::where(const Expr& condition, const Active& active, bool wanted) {
  Active result;
  for (std::size_t id : active)
    if ((eval_int(condition, threads_[id]) != 0) == wanted) result.push_back(id);
  return result;
}

void Machine::branch(const If& n, const Active& active) {
  const Active yes = where(n.condition, active, true);
  Active no;
  std::set_difference(active.begin(), active.end(), yes.begin(), yes.end(), std::back_inserter(no));
  exec(n.then_case, yes);
  if (n.else_case) exec(*n.else_case, no);
}

void Machine::while_loop(const While& n, Active active) {
  while (!(active = where(n.condition, active, true)).empty()) exec(n.body, active);
}

void Machine::loop(const For& n, const Active& active) {
  if (const auto& thread = traits_of(n).thread)
    return launch({n.var, *thread, n.min, n.extent, n.body}, active);
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

// ---- threads ------------------------------------------------------------------------------------

void Machine::attr(const Attr& n, const Active& active) {
  const IterVar* axis = std::get_if<IterVar>(&n.subject);
  if (axis && (n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread)) {
    internal_check(axis->thread().has_value(), "a thread extent of an axis that is no thread");
    return launch({axis->var(), *axis->thread(), make_int(n.value.dtype(), 0), n.value, n.body},
                  active);
  }
  if (n.kind == AttrKind::ReduceScope) {
    const CommReducer outer = std::exchange(reducer_, std::get<CommReducer>(n.subject));
    exec(n.body, active);
    reducer_ = outer;
    return;
  }
  exec(n.body, active);
}

void Machine::launch(const Launch& n, const Active& active) {
  tags_.insert_or_assign(&n.var.node(), n.tag);
  return n.tag.is_block() ? blocks(n, active) : threads(n, active);
}

void Machine::set_coordinate(const Launch& n, Thread& t, std::int64_t at) {
  t.values.insert_or_assign(&n.var.node(), integer(eval_int(n.min, t) + at));
}

namespace {
const std::int64_t* coordinate(const Thread& thread, ThreadTag tag) {
  for (const auto& [own, value] : thread.coordinates)
    if (own == tag) return &value;
  return nullptr;
}
}  // namespace

void Machine::blocks(const Launch& n, const Active& active) {
  if (const std::int64_t* at = coordinate(threads_[active.front()], n.tag)) {
    for (std::size_t id : active) set_coordinate(n, threads_[id], *at);
    return exec(n.body, active);
  }
  const std::int64_t extent = eval_int(n.extent, threads_[active.front()]);
  for (std::int64_t b = 0; b < extent; ++b) {
    for (std::size_t id : active) {
      set_coordinate(n, threads_[id], b);
      threads_[id].coordinates.emplace_back(n.tag, b);
      threads_[id].earlier_ids.push_back(threads_[id].id);
    }
    exec(n.body, active);
    ++barriers_;
    for (std::size_t id : active)
      threads_[id].coordinates.pop_back(), threads_[id].earlier_ids.pop_back();
  }
}

void Machine::threads(const Launch& n, const Active& active) {
  const std::int64_t extent = eval_int(n.extent, threads_[active.front()]);
  // Virtual threads of one tag are different axes each time; hardware threads are the same ones
  // again.
  if (!n.tag.is_virtual() && coordinate(threads_[active.front()], n.tag)) {
    Active running;
    for (std::size_t id : active) {
      const std::int64_t at = *coordinate(threads_[id], n.tag);
      set_coordinate(n, threads_[id], at);
      if (at < extent) running.push_back(id);
    }
    return exec(n.body, running);
  }
  std::vector<Thread> many;
  for (std::size_t id : active) {
    for (std::int64_t x = 0; x < extent; ++x) {
      Thread t = threads_[id];
      t.id = threads_[id].id * extent + x;
      set_coordinate(n, t, x);
      t.coordinates.emplace_back(n.tag, x);
      t.earlier_ids.push_back(threads_[id].id);
      many.push_back(std::move(t));
    }
  }
  std::vector<Thread> outer = std::exchange(threads_, std::move(many));
  Active all(threads_.size());
  for (std::size_t id = 0; id < all.size(); ++id) all[id] = id;
  exec(n.body, all);
  threads_ = std::move(outer);
  if (threads_.front().coordinates.empty()) ++barriers_;
}

void Machine::evaluate_statement(const Expr& e, const Active& active) {
  if (const Call* call = as_call(e, Intrin::tvm_thread_allreduce)) return allreduce(*call, active);
  if (as_call(e, Intrin::tvm_storage_sync)) return barrier(active);
  if (e.as<StringImm>()) return;
  for (std::size_t id : active) eval(e, threads_[id]);
}

void Machine::barrier(const Active& active) {
  if (options_.check_races && active.size() != threads_.size())
    throw RuntimeError("a barrier that only " + std::to_string(active.size()) + " of " +
                       std::to_string(threads_.size()) +
                       " threads come to: they would wait for ever");
  ++barriers_;
}

std::vector<Scalar> Machine::combine(const std::vector<Scalar>& a, const std::vector<Scalar>& b,
                                     Thread& t) {
  for (std::size_t n = 0; n < a.size(); ++n) {
    t.values.insert_or_assign(&reducer_->lhs[n].node(), a[n]);
    t.values.insert_or_assign(&reducer_->rhs[n].node(), b[n]);
  }
  std::vector<Scalar> result;
  for (const Expr& e : reducer_->result) result.push_back(eval(e, t)[0]);
  return result;
}

/// (count, values..., condition, results..., thread variables...): the values of all threads that
/// agree on every other thread axis are combined, and each of them gets the result.
void Machine::allreduce(const Call& n, const Active& active) {
  internal_check(reducer_ != nullptr, "a thread reduction outside its reducer's scope");
  const auto count = static_cast<std::size_t>(*constant_int(n.args[0]));
  std::vector<ThreadTag> reduced;
  for (std::size_t a = 2 + 2 * count; a < n.args.size(); ++a)
    if (auto tag = tags_.find(&n.args[a].node()); tag != tags_.end())
      reduced.push_back(tag->second);
  auto group_of = [&](const Thread& t) {
    std::vector<std::int64_t> key;
    for (const auto& [tag, value] : t.coordinates)
      if (std::find(reduced.begin(), reduced.end(), tag) == reduced.end()) key.push_back(value);
    return key;
  };
  std::map<std::vector<std::int64_t>, std::vector<Scalar>> totals;
  for (std::size_t id : active) {
    Thread& t = threads_[id];
    std::vector<Scalar> own;
    const bool counts = eval_int(n.args[1 + count], t) != 0;
    for (std::size_t v = 0; v < count; ++v) {
      Expr identity = reducer_->identity[v];
      own.push_back(counts ? eval(n.args[1 + v], t)[0] : eval(identity, t)[0]);
    }
    auto [total, is_first] = totals.try_emplace(group_of(t), own);
    if (!is_first) total->second = combine(total->second, own, t);
  }
  for (std::size_t id : active) {
    Thread& t = threads_[id];
    const std::vector<Scalar>& total = totals.at(group_of(t));
    for (std::size_t v = 0; v < count; ++v) {
      const Load* result = n.args[2 + count + v].as<Load>();
      internal_check(result != nullptr, "a thread reduction without a place for its result");
      std::vector<std::int64_t> indices;
      for (const Expr& index : result->indices) indices.push_back(eval_int(index, t));
      write(locate(result->buffer, indices, t, true), {&total[v], 1}, result->buffer, indices, t);
    }
  }
}

// ---- memory -------------------------------------------------------------------------------------

namespace {

bool is_shared(StorageScope scope) {
  return scope == StorageScope::Shared || scope == StorageScope::SharedDyn;
}

void make_row_major(Layout& layout) {
  layout.strides.assign(layout.extents.size(), 1);
  for (std::size_t d = layout.extents.size(); d-- > 1;)
    layout.strides[d - 1] = layout.strides[d] * std::max<std::int64_t>(layout.extents[d], 0);
}

}  // namespace

void Machine::realize(const Realize& n, const Active& active) {
  make_region(n.buffer, n.bounds, n.traits.scope_is_set, active);
  exec(n.body, active);
}

void Machine::make_region(const Buffer& buffer, const std::vector<Range>& bounds, bool scope_is_set,
                          const Active& active) {
  Region region;
  region.storage = std::make_shared<Storage>();
  // A scope still to be deduced is private inside threads, as flatten-storage will decide.
  const bool is_deduced_private = !scope_is_set && threads_.size() > 1;
  region.storage->sharing = is_deduced_private ? Sharing::Thread : sharing_of(buffer->scope());
  region.storage->is_shared = is_shared(buffer->scope());
  region.depth = threads_.front().coordinates.size();
  std::int64_t most = 0;
  for (std::size_t id : active) {
    Layout layout;
    std::int64_t elements = 1;
    for (const Range& r : bounds) {
      layout.mins.push_back(eval_int(r.min, threads_[id]));
      layout.extents.push_back(eval_int(r.extent, threads_[id]));
      elements *= std::max<std::int64_t>(layout.extents.back(), 0);
    }
    make_row_major(layout);
    most = std::max(most, elements);
    region.layouts.emplace_back(threads_[id].id, std::move(layout));
  }
  region.storage->bytes = most * buffer->dtype.bytes();
  storages_.insert_or_assign(&buffer->data.node(), region.storage);
  regions_.insert_or_assign(buffer.get(), std::move(region));
}

void Machine::view(const BufferView& n, const Active& active) {
  make_view(n.view, n.source, n.region, active);
  exec(n.body, active);
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
  if (pointer->pointer && pointer->pointer->scope) {
    storage->sharing = sharing_of(*pointer->pointer->scope);
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
    // All values before any: an iterator may be bound to one of its own block, around this one.
    std::vector<std::int64_t> values;
    for (const Expr& value : n.values) values.push_back(eval_int(value, t));
    bool is_first = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const IterVar& axis = b.iters[i];
      t.values.insert_or_assign(&axis.var().node(), integer(values[i]));
      if (axis.kind() == IterKind::Reduce) is_first &= values[i] == eval_int(axis.dom()->min, t);
    }
    if (is_first) first.push_back(id);
  }
  for (const Buffer& buffer : b.alloc_buffers) {
    std::vector<Range> bounds;
    for (const Expr& extent : buffer->shape)
      bounds.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
    make_region(buffer, bounds, true, running);
  }
  for (const MatchBuffer& match : b.match_buffers)
    make_view(match.buffer, match.source.buffer, match.source.region, running);
  if (b.init) exec(*b.init, first);
  exec(b.body, running);
}

}  // namespace tenon::tir::evaluation
