// The interpreter (class Machine): launches, memory of virtual threads, barriers, and reductions
// across threads.
#include <algorithm>
#include <map>

#include "interp/machine.h"
#include "tenon/tir/print.h"

namespace tenon::interp {

namespace {

bool is_virtual_thread(const Thread& thread) {
  return std::ranges::any_of(thread.coordinates,
                             [](const auto& place) { return place.first.is_virtual(); });
}

/// Returns the coordinates of the hardware thread that runs a virtual thread.
std::vector<std::int64_t> hardware_place(const Thread& thread) {
  std::vector<std::int64_t> place;
  for (const auto& [tag, value] : thread.coordinates)
    if (!tag.is_virtual()) place.push_back(value);
  return place;
}

}  // namespace

/// Executes a store. Compiled code runs the virtual threads of a hardware thread as one thread. It
/// executes a statement that is the same in all virtual threads once. The interpreter executes the
/// statement in each virtual thread, and therefore evaluates all values before the first store.
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

void Machine::attr(const Attr& n, const Active& active) {
  const IterVar* axis = std::get_if<IterVar>(&n.subject);
  if (axis && (n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread)) {
    internal_check(axis->thread().has_value(), "a thread extent of an axis that is no thread");
    const Expr min = make_int(n.value.dtype(), 0);
    return launch({axis->var(), min, n.value, ForKind::ThreadBinding, n.body}, *axis->thread(),
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

void Machine::launch(const For& n, ThreadTag tag, const Active& active) {
  // A launch starts after all preceding work of the host, so it acts as a barrier.
  const bool is_outermost = threads_.front().coordinates.empty();
  if (is_outermost) ++barriers_, ++launches_;
  tags_.insert_or_assign(&n.var.node(), tag);
  tag.is_block() ? blocks(n, tag, active) : threads(n, tag, active);
  if (is_outermost) ++launches_;
}

void Machine::set_coordinate(const For& n, Thread& t, std::int64_t at) {
  t.values.insert_or_assign(&n.var.node(), integer(eval_int(n.min, t) + at));
}

namespace {

std::int64_t position_in_block(const Thread& t, const std::array<std::int64_t, 3>& extents) {
  std::int64_t position = 0, stride = 1;
  for (std::size_t dim = 0; dim < extents.size(); ++dim) {
    for (const auto& [tag, value] : t.coordinates)
      if (tag.is_thread() && static_cast<std::size_t>(tag.dim.value_or(0)) == dim)
        position += value * stride;
    stride *= extents[dim];
  }
  return position;
}

const std::int64_t* coordinate(const Thread& thread, ThreadTag tag) {
  for (const auto& [own, value] : thread.coordinates)
    if (own == tag) return &value;
  return nullptr;
}

}  // namespace

void Machine::blocks(const For& n, ThreadTag tag, const Active& active) {
  const std::int64_t extent = eval_int(n.extent, threads_[active.front()]);
  if (const std::int64_t* at = coordinate(threads_[active.front()], tag)) {
    if (*at >= extent) return;
    for (std::size_t id : active) set_coordinate(n, threads_[id], *at);
    return exec(n.body, active);
  }
  for (std::int64_t b = 0; b < extent; ++b) {
    for (std::size_t id : active) {
      set_coordinate(n, threads_[id], b);
      threads_[id].coordinates.emplace_back(tag, b);
      threads_[id].earlier_ids.push_back(threads_[id].id);
      threads_[id].extents.push_back(1);
    }
    exec(n.body, active);
    ++barriers_;
    for (std::size_t id : active)
      threads_[id].coordinates.pop_back(), threads_[id].earlier_ids.pop_back(),
          threads_[id].extents.pop_back();
  }
}

void Machine::threads(const For& n, ThreadTag tag, const Active& active) {
  const std::int64_t extent = eval_int(n.extent, threads_[active.front()]);
  // A nested launch over a hardware tag that is already bound refers to the same threads again.
  // Nested virtual threads of one tag are different threads.
  if (!tag.is_virtual() && coordinate(threads_[active.front()], tag)) {
    Active running;
    for (std::size_t id : active) {
      const std::int64_t at = *coordinate(threads_[id], tag);
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
      t.coordinates.emplace_back(tag, x);
      t.earlier_ids.push_back(threads_[id].id);
      t.extents.push_back(extent);
      many.push_back(std::move(t));
    }
  }
  const std::array<std::int64_t, 3> outer_extents = block_extents_;
  if (tag.is_thread()) block_extents_[static_cast<std::size_t>(tag.dim.value_or(0))] = extent;
  for (Thread& t : many) t.position = position_in_block(t, block_extents_);
  std::vector<Thread> outer = std::exchange(threads_, std::move(many));
  Active all(threads_.size());
  for (std::size_t id = 0; id < all.size(); ++id) all[id] = id;
  exec(n.body, all);
  threads_ = std::move(outer);
  block_extents_ = outer_extents;
  if (threads_.front().coordinates.empty()) ++barriers_;
}

void Machine::evaluate_statement(const Expr& e, const Active& active) {
  if (const Call* call = as_call(e, Intrin::tvm_thread_allreduce)) return allreduce(*call, active);
  if (as_call(e, Intrin::tvm_storage_sync)) return barrier(active);
  for (const Intrin intrin : {Intrin::tvm_load_matrix_sync, Intrin::tvm_store_matrix_sync,
                              Intrin::tvm_fill_fragment, Intrin::tvm_mma_sync})
    if (const Call* call = as_call(e, intrin)) return matrix_operation(intrin, *call, active);
  if (e.as<StringImm>()) return;
  for (std::size_t id : active) eval(e, threads_[id]);
}

void Machine::barrier(const Active& active) {
  if (options_.check_races && active.size() != threads_.size())
    throw RuntimeError("a barrier that only " + std::to_string(active.size()) + " of " +
                       std::to_string(threads_.size()) + " threads reach: they would wait forever");
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

/// Executes an allreduce with the arguments (count, values..., condition, results..., thread
/// variables...). Combines the values of all threads that agree on every other thread axis, and
/// gives each of them the result.
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
  // Acts as a barrier: all threads have contributed their values.
  ++barriers_;
  for (std::size_t id : active) {
    Thread& t = threads_[id];
    const std::vector<Scalar>& total = totals.at(group_of(t));
    for (std::size_t v = 0; v < count; ++v) {
      const Load* result = n.args[2 + count + v].as<Load>();
      internal_check(result != nullptr, "a thread reduction without a place for its result");
      const std::vector<std::int64_t> indices = eval_ints(result->indices, t);
      write(locate(result->buffer, indices, t, true), {&total[v], 1}, result->buffer, indices, t);
    }
  }
}

}  // namespace tenon::interp
