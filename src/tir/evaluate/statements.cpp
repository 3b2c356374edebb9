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
      s.node().value,
      [&](const Store& n) {
        for (std::size_t id : active) store(n, threads_[id]);
      },
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
      [&](const Prefetch&) {});
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
    tags_.insert_or_assign(&axis->var().node(), *axis->thread());
    return axis->thread()->is_block() ? blocks(*axis, n, active) : threads(*axis, n, active);
  }
  if (n.kind == AttrKind::ReduceScope) {
    const CommReducer outer = std::exchange(reducer_, std::get<CommReducer>(n.subject));
    exec(n.body, active);
    reducer_ = outer;
    return;
  }
  exec(n.body, active);
}

namespace {
const std::int64_t* coordinate(const Thread& thread, ThreadTag tag) {
  for (const auto& [own, value] : thread.coordinates)
    if (own == tag) return &value;
  return nullptr;
}
}  // namespace

void Machine::blocks(const IterVar& axis, const Attr& n, const Active& active) {
  const ThreadTag tag = *axis.thread();
  if (const std::int64_t* at = coordinate(threads_[active.front()], tag)) {
    for (std::size_t id : active)
      threads_[id].values.insert_or_assign(&axis.var().node(), integer(*at));
    return exec(n.body, active);
  }
  const std::int64_t extent = eval_int(n.value, threads_[active.front()]);
  for (std::int64_t b = 0; b < extent; ++b) {
    for (std::size_t id : active) {
      threads_[id].values.insert_or_assign(&axis.var().node(), integer(b));
      threads_[id].coordinates.emplace_back(tag, b);
      threads_[id].earlier_ids.push_back(threads_[id].id);
    }
    exec(n.body, active);
    ++barriers_;
    for (std::size_t id : active)
      threads_[id].coordinates.pop_back(), threads_[id].earlier_ids.pop_back();
  }
}

void Machine::threads(const IterVar& axis, const Attr& n, const Active& active) {
  const ThreadTag tag = *axis.thread();
  // Virtual threads of one tag are different axes each time; hardware threads are the same ones
  // again.
  if (!tag.is_virtual() && coordinate(threads_[active.front()], tag)) {
    const std::int64_t extent = eval_int(n.value, threads_[active.front()]);
    Active running;
    for (std::size_t id : active) {
      const std::int64_t at = *coordinate(threads_[id], tag);
      threads_[id].values.insert_or_assign(&axis.var().node(), integer(at));
      if (at < extent) running.push_back(id);
    }
    return exec(n.body, running);
  }
  const std::int64_t extent = eval_int(n.value, threads_[active.front()]);
  std::vector<Thread> many;
  for (std::size_t id : active) {
    for (std::int64_t x = 0; x < extent; ++x) {
      Thread t = threads_[id];
      t.id = threads_[id].id * extent + x;
      t.values.insert_or_assign(&axis.var().node(), integer(x));
      t.coordinates.emplace_back(tag, x);
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
  Region region;
  region.storage = std::make_shared<Storage>();
  // A scope still to be deduced is private inside threads, as flatten-storage will decide.
  const bool is_deduced_private = !n.traits.scope_is_set && threads_.size() > 1;
  region.storage->sharing = is_deduced_private ? Sharing::Thread : sharing_of(n.buffer->scope());
  region.storage->is_shared = is_shared(n.buffer->scope());
  region.depth = threads_.front().coordinates.size();
  std::int64_t most = 0;
  for (std::size_t id : active) {
    Layout layout;
    std::int64_t elements = 1;
    for (const Range& r : n.bounds) {
      layout.mins.push_back(eval_int(r.min, threads_[id]));
      layout.extents.push_back(eval_int(r.extent, threads_[id]));
      elements *= std::max<std::int64_t>(layout.extents.back(), 0);
    }
    make_row_major(layout);
    most = std::max(most, elements);
    region.layouts.emplace_back(threads_[id].id, std::move(layout));
  }
  region.storage->bytes = most * n.buffer->dtype.bytes();
  storages_.insert_or_assign(&n.buffer->data.node(), region.storage);
  regions_.insert_or_assign(n.buffer.get(), std::move(region));
  exec(n.body, active);
}

void Machine::view(const BufferView& n, const Active& active) {
  auto source = regions_.find(n.source.get());
  internal_check(source != regions_.end(), "a view of a buffer that does not exist here");
  Region region;
  region.storage = source->second.storage;
  region.depth = threads_.front().coordinates.size();
  const std::size_t dropped = n.region.size() - n.view->shape.size();
  for (std::size_t id : active) {
    Thread& t = threads_[id];
    const Layout& outer = source->second.of(t);
    Layout layout;
    layout.base = outer.base;
    for (std::size_t d = 0; d < n.region.size(); ++d) {
      layout.base += (eval_int(n.region[d].min, t) - outer.mins[d]) * outer.strides[d];
      if (d < dropped) continue;
      layout.mins.push_back(0);
      layout.extents.push_back(eval_int(n.region[d].extent, t));
      layout.strides.push_back(outer.strides[d]);
    }
    // Symbolic sizes, strides and offset of the view take their values from the source.
    auto bind = [&](const Expr& e, std::int64_t value) {
      if (e.as<VarNode>()) t.values.insert_or_assign(&e.node(), integer(value));
    };
    for (std::size_t d = 0; d < n.view->shape.size(); ++d)
      bind(n.view->shape[d], layout.extents[d]);
    for (std::size_t d = 0; d < n.view->strides.size(); ++d)
      bind(n.view->strides[d], layout.strides[d]);
    bind(n.view->elem_offset, layout.base);
    region.layouts.emplace_back(t.id, std::move(layout));
  }
  storages_.insert_or_assign(&n.view->data.node(), region.storage);
  regions_.insert_or_assign(n.view.get(), std::move(region));
  exec(n.body, active);
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

}  // namespace tenon::tir::evaluation
