#include <algorithm>

#include "s_tir/instances.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/buffers.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Returns the store of a block. Throws unless the block's body is one store `buffer[indices] =
/// value`.
const Store& require_store(const Caller& caller, const Program& program, int n) {
  const Block& block = program.block(n);
  if (block.init)
    refuse(caller, describe(program, n) +
                       " has an init, and a reduction cannot be inlined as one expression");
  const auto [block_class, reason] = classify(program, n);
  if (block_class != BlockClass::Complete)
    refuse(caller, describe(program, n) + " is not complete: " +
                       (reason.empty() ? "it is half of a reduction" : reason));
  require_outer_buffers(caller, program, n);
  const Store* store = block.body.as<Store>();
  if (!store)
    refuse(caller, describe(program, n) +
                       " has more than one store, so there is no single value to substitute");
  return *store;
}

void require_inlinable(const Caller& caller, const Program& program, int n, const Buffer& buffer) {
  const int scope = *program.scope(n);
  if (allocated_by(program, buffer, n) != scope)
    refuse(caller, describe(program, n) + " writes `" + buffer->name + "`, an output of " +
                       describe(program, scope) + ", which must be computed");
}

/// Returns the function without the allocation of a buffer in a block.
PrimFunc without_buffer(const PrimFunc& func, const Buffer& buffer) {
  const Program program(func);
  for (int n = 0; n < program.size(); ++n)
    if (program.is_block(n) && has_same(program.block(n).alloc_buffers, buffer))
      return program.with(n, with_changed_block(program.stmt(n), [&](Block& block) {
                            std::erase_if(block.alloc_buffers,
                                          [&](const Buffer& own) { return own.same_as(buffer); });
                          }));
  return func;
}

/// Returns the statement with `load` applied to its expressions, which replaces the loads of the
/// buffer. Infers the regions of the blocks that read the buffer, innermost first.
Stmt with_replaced_loads(const Stmt& s, const Buffer& buffer, ExprMap load) {
  if (const BlockRealize* realize = s.as<BlockRealize>();
      realize && is_excluded_by_signature(*realize->block, buffer))
    return map_bindings(s, load);
  const Stmt result = map_children(
      s, load, [&](const Stmt& child) { return with_replaced_loads(child, buffer, load); });
  const BlockRealize* realize = result.as<BlockRealize>();
  if (!realize || !mentions(realize->block->reads, buffer)) return result;
  return make_block(realize->values, realize->predicate, arith::with_found_access(*realize->block));
}

// The block to inline is one store whose indices are iterators of the block. The stored value
// replaces reads of the buffer.

const Store& store_of(const Program& program, int producer) {
  return *program.block(producer).body.as<Store>();
}

/// Returns the values of the iterators for which the store writes the element at `indices`.
VarMap iterators_for(const Store& store, const std::vector<Expr>& indices) {
  VarMap map;
  for (std::size_t d = 0; d < store.indices.size(); ++d)
    set_converted(map, Var::of(store.indices[d]), indices[d]);
  return map;
}

/// Returns the facts that the indices of the inlined store are in bounds.
arith::Facts facts_of_shape(const Store& store) {
  arith::Facts facts;
  for (std::size_t d = 0; d < store.indices.size(); ++d)
    facts.bind(Var::of(store.indices[d]), Range::from_extent(store.buffer->shape[d]), true);
  return facts;
}

/// Throws if an element is read that no instance of the inlined block has written.
void require_written(const Caller& caller, const Program& program, int producer, int consumer,
                     const arith::Access& access) {
  const Store& store = store_of(program, producer);
  const auto instances = instances_of(program, producer, *program.scope(producer));
  arith::Facts facts;
  bind_domains(facts, domains_around(program, consumer));
  std::vector<arith::Facts::Scope> known;
  for (const arith::FreeVar& inner : access.inner)
    if (inner.range) facts.bind(inner.var, *inner.range, true);
  for (const Expr& guard : access.guards) known.push_back(facts.assume(guard));
  // Reads are assumed to be in bounds.
  for (std::size_t d = 0; d < access.indices.size(); ++d)
    known.push_back(
        facts.assume(access.indices[d] >= 0 && access.indices[d] < store.buffer->shape[d]));
  const arith::Facts shape = facts_of_shape(store);
  const VarMap values = iterators_for(store, access.indices);
  const bool is_written =
      instances && access.is_known && std::ranges::all_of(*instances, [&](const Expr& part) {
        return arith::can_prove(part, shape) || arith::can_prove(substitute(part, values), facts);
      });
  if (!is_written)
    refuse(caller, describe(program, producer) + " provably writes not all elements of `" +
                       store.buffer->name + "` that " + describe(program, consumer) + " reads");
}

/// Whether the value of the inlined block is the same at any position: the block writes its whole
/// buffer, and nothing in its scope writes an input of the value.
bool has_same_value_anywhere(const Program& program, int producer) {
  const int scope = *program.scope(producer);
  if (changes_inputs(program, producer, scope)) return false;
  const std::optional<InstanceSet> instances = instances_of(program, producer, scope);
  const arith::Facts shape = facts_of_shape(store_of(program, producer));
  return instances && std::ranges::all_of(*instances, [&](const Expr& part) {
           return arith::can_prove(part, shape);
         });
}

/// Throws if an input of the value may be written between the inlined block and the consumer.
void require_same_value(const Caller& caller, const Program& program, int producer, int consumer) {
  const Store& store = store_of(program, producer);
  int top = program.common(producer, consumer);
  const bool is_covered = covers_reads(program, producer, consumer, store.buffer);
  // The consumer may read a value that an earlier iteration of a common loop wrote, so writes in
  // all iterations of these loops count.
  const int outermost =
      program.loops_of(producer).empty() ? producer : program.loops_of(producer).front();
  if (outermost <= top && !is_covered) top = *program.parent(outermost);
  const auto refuse_on = [&](const std::optional<std::string>& conflict) {
    if (conflict)
      refuse(caller, "the value of " + describe(program, producer) + " differs where " +
                         describe(program, consumer) + " reads it: it " + *conflict);
  };
  refuse_on(find_passing_conflict(
      program, producer, top,
      {.passes_later = true,
       .compared = Compared::ReadsWithWrites,
       .is_excepted = [&](int other, int loop) { return writes_same_again(program, other, loop); },
       .over = parts_between(program, top, producer, consumer)}));
  std::vector<Stmt> reads;
  for (const arith::Access& access : accesses_of(program, consumer)) {
    if (access.is_write() || !access.buffer.same_as(store.buffer)) continue;
    if (!is_covered) require_written(caller, program, producer, consumer, access);
    const Expr value = substitute(store.value, iterators_for(store, access.indices));
    reads.push_back(in_context_of(access, make_stmt(Evaluate{value})));
  }
  PassingOptions at_consumer{.own = make_seq(std::move(reads)),
                             .keeps_control = true,
                             .compared = Compared::ReadsWithWrites,
                             .with_own_instances = true};
  // A block that consists of one store reads before it writes. Otherwise, its own writes count too.
  if (const Block& block = program.block(consumer); block.init || !block.body.as<Store>())
    at_consumer.over = {program.stmt(consumer)};
  refuse_on(find_passing_conflict(program, consumer, top, at_consumer));
}

}  // namespace

PrimFunc compute_inline(const Program& program, int n, SourceLocation where) {
  const Caller caller{"compute_inline", where};
  const Store& store = require_store(caller, program, n);
  const Buffer buffer = store.buffer;
  require_inlinable(caller, program, n, buffer);
  require_element_accesses(caller, program.func().body, buffer);
  std::vector<Expr> seen;
  for (const Expr& index : store.indices) {
    if (!index.as<VarNode>() || has_same(seen, index))
      refuse(caller,
             describe(program, n) + " writes `" + buffer->name + "` at " + print_expr(index) +
                 ": its value can be substituted only if each index is a distinct iterator");
    seen.push_back(index);
  }
  for (const IterVar& iter : program.block(n).iters)
    if (uses_var(store.value, iter.var()) && !has_same(store.indices, iter.var()))
      refuse(caller, "the value of " + describe(program, n) + " uses iterator `" + iter.name() +
                         "`, which is not an index of `" + buffer->name + "`");
  if (!has_same_value_anywhere(program, n))
    require_read_by_blocks(caller, program, n, *program.scope(n));
  for (const int consumer : consumers(program, n)) require_same_value(caller, program, n, consumer);
  const auto value = [&](const std::vector<Expr>& indices) {
    return substitute(store.value, iterators_for(store, indices));
  };
  const Stmt inlined = with_replaced_loads(without(program, n), buffer, [&](const Expr& e) {
    return replace_loads(e, buffer, value, program.func().body);
  });
  PrimFunc result = without_buffer(program.with_body(inlined), buffer);
  const Program after(result);
  for (const int consumer : consumers(program, n))
    if (const std::optional<int> at = after.find_block(program.block(consumer).id))
      require_independent_around(caller, after, *at);
  return result;
}

namespace {

/// Whether the iterator values `values` make `indices` equal to `at`, and an instance with these
/// values runs.
bool finds_its_instance(const InstanceSet& instances, const std::vector<Expr>& indices,
                        const VarMap& values, const std::vector<Expr>& at,
                        const arith::Facts& facts) {
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (!arith::can_prove_equal(substitute(indices[d], values), cast(indices[d].dtype(), at[d]),
                                facts))
      return false;
  return std::ranges::all_of(instances, [&](const Expr& part) {
    return arith::can_prove(substitute(part, values), facts);
  });
}

/// Returns the consumer's iterators in terms of the producer's. Throws unless the instances
/// correspond one to one: each instance of the consumer reads the element that one instance of the
/// producer writes.
VarMap paired_instances(const Caller& caller, const Program& program, int consumer, int producer,
                        const std::vector<Expr>& read, const std::vector<Expr>& written) {
  const auto reading = instances_of(program, consumer, *program.scope(consumer));
  const auto writing = instances_of(program, producer, *program.scope(producer));
  // The facts that hold in the instances of the consumer and of the producer.
  arith::Facts while_reading, while_writing;
  std::vector<arith::Facts::Scope> known;
  const auto assume = [&](arith::Facts& facts, int n, const std::optional<InstanceSet>& instances) {
    bind_iters(facts, program.block(n));
    for (const Expr& part : instances.value_or(InstanceSet())) known.push_back(facts.assume(part));
  };
  assume(while_reading, consumer, reading);
  assume(while_writing, producer, writing);
  const auto values = iterators_at(program.block(consumer), read, written, while_writing);
  if (!values || !reading || !writing)
    refuse(caller,
           "the indices at which " + describe(program, consumer) + " reads are no digits " +
               "of its iterators, so the instance that reads an element cannot be determined");
  if (!finds_its_instance(*reading, read, *values, written, while_writing))
    refuse(caller, describe(program, producer) + " writes elements of which not provably all are " +
                       "read by " + describe(program, consumer));
  const auto back = iterators_at(program.block(producer), written, read, while_reading);
  if (!back || !finds_its_instance(*writing, written, *back, read, while_reading))
    refuse(caller, describe(program, consumer) + " has other instances than those that read what " +
                       describe(program, producer) + " writes: they would not run");
  return *values;
}

/// Throws if moving the consumer to the producer's position reorders the consumer with a statement
/// that it depends on or that depends on it. `own` is the consumer's store without its reads of the
/// producer's buffer: `own.first` in terms of the consumer's iterators, `own.second` in terms of
/// the producer's.
void require_earlier(const Caller& caller, const Program& program, int consumer, int producer,
                     const std::pair<Store, Store>& own, const Program& after) {
  const auto refuse_on = [&](const std::optional<std::string>& conflict) {
    if (conflict)
      refuse(caller, describe(program, consumer) + " would pass what it depends on or what " +
                         "depends on it: it " + *conflict);
  };
  const auto bound = [&](int n, const Store& store) {
    const VarMap values = bindings_of(program.realize(n));
    return make_stmt(If{program.realize(n).predicate, substitute(make_stmt(Store(store)), values),
                        std::nullopt});
  };
  const int top = program.common(producer, consumer);
  refuse_on(find_passing_conflict(program, consumer, top,
                                  {.own = bound(consumer, own.first),
                                   .over = parts_between(program, top, producer, consumer)}));
  refuse_on(find_passing_conflict(program, producer, top,
                                  {.passes_later = true, .own = bound(producer, own.second)}));
  const int merged = *after.find_block(program.block(producer).id);
  const std::vector<int> loops = after.loops_of(merged);
  if (loops.empty()) return;
  refuse_on(find_passing_conflict(
      after, merged, *after.parent(loops.front()),
      {.passes_later = true, .compared = Compared::WritesWithReads, .only_own_instances = true}));
}

}  // namespace

PrimFunc reverse_compute_inline(const Program& program, int n, SourceLocation where) {
  const Caller caller{"reverse_compute_inline", where};
  const Store& store = require_store(caller, program, n);
  const std::vector<int> writers = producers(program, n);
  const Block& block = program.block(n);
  if (writers.size() != 1 || consumers(program, writers.front()).size() != 1)
    refuse(caller, describe(program, n) + " is not the only reader of one producer: " +
                       std::to_string(writers.size()) +
                       (writers.size() == 1 ? " block writes what it reads, and has other readers"
                                            : " blocks write what it reads"));
  const int producer = writers.front();
  require_own_domains(caller, program, n, *program.scope(n));
  require_own_domains(caller, program, producer, *program.scope(n));
  if (classify(program, producer).first != BlockClass::Complete)
    refuse(caller, describe(program, producer) +
                       " is not complete: its value is final only when all of it has run");
  const Store* source = program.block(producer).body.as<Store>();
  if (!source) refuse(caller, describe(program, producer) + " has more than one store");
  const Buffer buffer = source->buffer;
  require_inlinable(caller, program, producer, buffer);
  require_read_by_blocks(caller, program, producer, *program.scope(producer));
  require_element_accesses(caller, program.func().body, buffer);
  std::optional<std::vector<Expr>> read;
  bool is_same = true;
  walk(block.body, [&](const Load& load) {
    if (!load.buffer.same_as(buffer)) return;
    if (!read) read = load.indices;
    is_same = is_same && structural_equal(*read, load.indices);
  });
  if (!read || !is_same)
    refuse(caller, describe(program, n) + " reads more than one element of `" + buffer->name +
                       "` in one instance");
  if (!covers_reads(program, producer, n, buffer))
    refuse(caller, describe(program, n) + " may read elements of `" + buffer->name + "` that " +
                       describe(program, producer) + " does not write in the same iteration");
  const VarMap map = paired_instances(caller, program, n, producer, *read, source->indices);
  // The consumer's value with the load replaced by the producer's value.
  const Expr value = replace_loads(
      store.value, buffer, [&](const auto&) { return source->value; }, program.func().body);
  // `map` affects only the consumer's iterators, because the producer's iterators are other
  // variables.
  std::vector<Expr> indices;
  for (const Expr& index : store.indices) indices.push_back(substitute(index, map));
  const BlockRealize& realize = program.realize(producer);
  Block next = *realize.block;
  next.body = make_store(store.buffer, substitute(value, map), indices);
  next = arith::with_found_access(std::move(next));
  const PrimFunc changed =
      program.with(producer, make_block(realize.values, realize.predicate, next));
  Store alone = store;
  alone.value =
      replace_loads(store.value, buffer, [&](const auto&) { return make_const(buffer->dtype, 0); });
  const Stmt moved = substitute(make_stmt(Store(alone)), map);
  const Program middle(changed);
  require_earlier(caller, program, n, producer, {alone, *moved.as<Store>()}, middle);
  const std::optional<int> old = middle.find_block(program.block(n).id);
  const PrimFunc result = without_buffer(middle.with_body(without(middle, old ? *old : n)), buffer);
  const Program after(result);
  require_independent_around(caller, after, *after.find_block(program.block(producer).id));
  return result;
}

}  // namespace tenon::s_tir
