#include <algorithm>

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

/// A block that is one store: `buffer[indices] = value`.
const Store& require_store(const Caller& caller, const Program& program, int n) {
  const Block& block = program.block(n);
  if (block.init)
    refuse(caller, describe(program, n) +
                       " has an init: a reduction has no one value that could stand elsewhere");
  const Classified classified = classify(program, n);
  if (classified.block_class != BlockClass::Complete)
    refuse(caller,
           describe(program, n) + " is not complete: " +
               (classified.reason.empty() ? "it is half of a reduction" : classified.reason));
  const Store* store = block.body.as<Store>();
  if (!store)
    refuse(caller, describe(program, n) +
                       " is more than one store, so that it has no one value that could stand "
                       "elsewhere");
  if (!is_true(program.realize(n).predicate) && !has_affine_bindings(program, n))
    refuse(caller, describe(program, n) + " does not run for all values of its iterators");
  return *store;
}

void require_inlinable(const Caller& caller, const Program& program, int n, const Buffer& buffer) {
  const int scope = *program.scope(n);
  if (allocated_by(program, buffer, n) != scope)
    refuse(caller, describe(program, n) + " writes `" + buffer->name + "`, an output of " +
                       describe(program, scope) + ", which must be computed");
}

/// The body without one of the buffers that a block allocates.
PrimFunc without_buffer(const PrimFunc& func, const Buffer& buffer) {
  const Program program(func);
  for (int n = 0; n < program.size(); ++n) {
    if (!program.is_block(n)) continue;
    const BlockRealize& realize = program.realize(n);
    Block block = *realize.block;
    const auto removed =
        std::erase_if(block.alloc_buffers, [&](const Buffer& own) { return own.same_as(buffer); });
    if (removed) return program.with(n, make_block(realize.values, realize.predicate, block));
  }
  return func;
}

/// The block with regions found anew, in which what it updates stays among the reads.
Block with_new_access(Block block) {
  const arith::BlockAccess access = arith::find_block_access(block);
  block.reads = access.reads;
  block.writes = access.writes;
  return block;
}

/// Rewrites the blocks that read a buffer, innermost first, and those around them.
class Inliner {
 public:
  Inliner(const Buffer& buffer, std::function<Expr(const std::vector<Expr>&)> value)
      : buffer_(buffer), value_(std::move(value)) {}

  Stmt stmt(const Stmt& s) const {
    if (const BlockRealize* realize = s.as<BlockRealize>();
        realize && !mentions(realize->block->reads, buffer_) && !is_around(*realize))
      return s;
    const Stmt result = map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
    const BlockRealize* realize = result.as<BlockRealize>();
    if (!realize || !mentions(realize->block->reads, buffer_)) return result;
    return make_block(realize->values, realize->predicate, with_new_access(*realize->block));
  }

 private:
  /// A scope whose header says nothing of what is read inside of it.
  bool is_around(const BlockRealize& realize) const {
    return std::any_of(realize.block->alloc_buffers.begin(), realize.block->alloc_buffers.end(),
                       [&](const Buffer& own) { return own.same_as(buffer_); }) ||
           realize.block->iters.empty();
  }
  Expr expr(const Expr& e) const {
    return rewrite(e, [&](const Load& load, const Expr&) -> std::optional<Expr> {
      if (!load.buffer.same_as(buffer_)) return std::nullopt;
      return value_(load.indices);
    });
  }

  const Buffer& buffer_;
  std::function<Expr(const std::vector<Expr>&)> value_;
};

bool is_reached_otherwise(const Stmt& body, const Buffer& buffer) {
  bool result = false;
  walk(body, [&](const BlockRealize& realize) {
    for (const MatchBuffer& match : realize.block->match_buffers)
      result = result || match.source.buffer.same_as(buffer);
  });
  return result || uses_var(body, buffer->data);
}

}  // namespace

PrimFunc compute_inline(const Program& program, int n, SourceLocation where) {
  const Caller caller{"compute_inline", where};
  const Store& store = require_store(caller, program, n);
  const Buffer buffer = store.buffer;
  require_inlinable(caller, program, n, buffer);
  if (is_reached_otherwise(program.func().body, buffer))
    refuse(caller, "buffer `" + buffer->name + "` is matched with another or its address is used");
  std::vector<Var> vars;
  for (const Expr& index : store.indices) {
    const auto* iter = index.as<VarNode>();
    const bool is_new = iter && std::none_of(vars.begin(), vars.end(),
                                             [&](const Var& var) { return var.same_as(index); });
    if (!is_new)
      refuse(caller, describe(program, n) + " writes `" + buffer->name + "` at " +
                         print_expr(index) +
                         ": only where each index is an iterator of its own can its value be told "
                         "from the indices");
    vars.push_back(Var::of(index));
  }
  for (const IterVar& iter : program.block(n).iters)
    if (uses_var(store.value, iter.var()) &&
        std::none_of(vars.begin(), vars.end(),
                     [&](const Var& var) { return var.same_as(iter.var()); }))
      refuse(caller, "the value of " + describe(program, n) + " uses iterator `" + iter.name() +
                         "`, which is no index of `" + buffer->name + "`");
  const Inliner inliner(buffer, [&](const std::vector<Expr>& indices) {
    VarMap map;
    for (std::size_t d = 0; d < vars.size(); ++d) set(map, vars[d], indices[d]);
    return substitute(store.value, map);
  });
  const PrimFunc removed = program.with_body(without(program, n));
  PrimFunc result = removed;
  result.body = inliner.stmt(removed.body);
  return without_buffer(result, buffer);
}

namespace {

/// Where indices are digits of the iterators: the iterators as numbers of the digits that the
/// indices have.
class DigitInverse {
 public:
  explicit DigitInverse(const IterMap& map) : map_(map), values_(map.marks.size()) {}

  /// By position among the loops that the map was found for.
  std::vector<std::optional<Expr>> find(const std::vector<Expr>& indices) {
    for (std::size_t d = 0; d < indices.size(); ++d)
      add(map_.values[d], indices[d] - map_.values[d].base);
    // A number stands behind the sources that its digits are of.
    for (std::size_t n = map_.marks.size(); n-- > 0;)
      if (const auto* number = std::get_if<DigitSum>(&map_.marks[n].source); number && values_[n])
        add(*number, *values_[n]);
    return values_;
  }

 private:
  void add(const DigitSum& sum, const Expr& value) {
    for (std::size_t n = 0; n < sum.digits.size(); ++n) {
      const Digit& digit = sum.digits[n];
      const auto number = [&](std::int64_t x) { return make_int(value.dtype(), x); };
      Expr own = digit.scale == 1 ? value : floordiv(value, number(digit.scale));
      if (n > 0) own = floormod(own, number(digit.extent));
      if (digit.lower != 1) own = own * number(digit.lower);
      std::optional<Expr>& all = values_[static_cast<std::size_t>(digit.mark)];
      all = all ? *all + own : own;
    }
  }

  const IterMap& map_;
  std::vector<std::optional<Expr>> values_;
};

/// Inverts indices that are digits of the iterators: `[v // 4, v % 4]`. Nullopt where they are
/// none, or where not all elements that are written are read, each by one instance.
std::optional<VarMap> iterators_of_digits(const Block& consumer, const Block& producer,
                                          const std::vector<Expr>& read,
                                          const std::vector<Expr>& written) {
  std::vector<LoopDomain> domains;
  for (const IterVar& iter : consumer.iters)
    domains.push_back({iter.var(), iter.dom()->min, iter.dom()->extent});
  const auto map = find_iter_map(read, domains, make_true());
  if (!map) return std::nullopt;
  arith::Facts facts;
  bind_iters(facts, producer);
  for (std::size_t d = 0; d < read.size(); ++d) {
    const DigitSum& value = map->values[d];
    std::int64_t extent = 1;
    if (!value.digits.empty()) {
      if (value.digits.size() > 1 || value.digits[0].scale != 1) return std::nullopt;
      extent = value.digits[0].extent;
      if (extent == kUnknownExtent) return std::nullopt;
    }
    const Expr position = written[d] - value.base;
    if (!arith::can_prove(position >= 0 && position < make_int(position.dtype(), extent), facts))
      return std::nullopt;
  }
  const std::vector<std::int64_t> count = told_apart(*map);
  const std::vector<std::optional<Expr>> values = DigitInverse(*map).find(written);
  VarMap result;
  for (std::size_t n = 0; n < consumer.iters.size(); ++n) {
    const IterVar& iter = consumer.iters[n];
    if (count[n] != map->marks[n].extent && !is_one(iter.dom()->extent)) return std::nullopt;
    set(result, iter.var(),
        arith::simplify(values[n] ? *values[n] + iter.dom()->min : iter.dom()->min, facts));
  }
  return result;
}

/// The value that each iterator has where the element at the indices is read: inverts index
/// expressions that are iterators, in any order.
VarMap iterators_of(const Caller& caller, const Program& program, int n, int producer,
                    const std::vector<Expr>& read, const std::vector<Expr>& written) {
  VarMap map;
  const Block& block = program.block(n);
  for (std::size_t d = 0; d < read.size(); ++d) {
    if (is_constant_int(read[d], 0)) continue;
    if (!read[d].as<VarNode>() || map.contains(&read[d].node())) {
      if (auto digits = iterators_of_digits(block, program.block(producer), read, written))
        return std::move(*digits);
      refuse(caller, describe(program, n) + " reads at index " + print_expr(read[d]) +
                         ": only where the indices are digits of its iterators, and all elements "
                         "are read, can it be told which instance reads an element");
    }
    set(map, Var::of(read[d]), written[d]);
  }
  for (const IterVar& iter : block.iters) {
    if (map.contains(&iter.var().node())) continue;
    if (iter.dom() && is_one(iter.dom()->extent))
      set(map, iter.var(), iter.dom()->min);
    else
      refuse(caller, "iterator `" + iter.name() + "` of " + describe(program, n) +
                         " is no index of what it reads: several of its instances read one "
                         "element");
  }
  return map;
}

}  // namespace

namespace {

Expr instances_of(const Block& block) {
  Expr count = make_int(Int(64), 1);
  for (const IterVar& iter : block.iters) count = count * cast(Int(64), iter.dom()->extent);
  return arith::simplify(count);
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
  if (classify(program, producer).block_class != BlockClass::Complete)
    refuse(caller, describe(program, producer) +
                       " is not complete: its value is final only when all of it has run");
  const Store* source = program.block(producer).body.as<Store>();
  if (!source) refuse(caller, describe(program, producer) + " is more than one store");
  const Buffer buffer = source->buffer;
  require_inlinable(caller, program, producer, buffer);
  std::optional<std::vector<Expr>> read;
  bool is_same = true;
  walk(block.body, [&](const Load& load) {
    if (!load.buffer.same_as(buffer)) return;
    if (read)
      for (std::size_t d = 0; d < read->size(); ++d)
        is_same = is_same && structural_equal((*read)[d], load.indices[d]);
    else
      read = load.indices;
  });
  if (!read || !is_same)
    refuse(caller, describe(program, n) + " reads more than one element of `" + buffer->name +
                       "` in one instance");
  const VarMap map = iterators_of(caller, program, n, producer, *read, source->indices);
  // Each instance of the producer stands for one of the consumer's: none may be left over.
  if (!arith::can_prove_equal(instances_of(block), instances_of(program.block(producer))))
    refuse(caller, describe(program, n) + " has other instances than those that read what " +
                       describe(program, producer) + " writes: they would not run");
  // The value with the element read being the producer's value.
  const Expr value =
      rewrite(store.value, [&](const Load& load, const Expr&) -> std::optional<Expr> {
        if (!load.buffer.same_as(buffer)) return std::nullopt;
        return source->value;
      });
  // Iterators of the consumer alone are replaced: the producer's own are other variables.
  std::vector<Expr> indices;
  for (const Expr& index : store.indices) indices.push_back(substitute(index, map));
  const BlockRealize& realize = program.realize(producer);
  Block next = *realize.block;
  next.body = make_store(store.buffer, substitute(value, map), indices);
  next = with_new_access(std::move(next));
  // Elements of the producer that nothing read must not be written elsewhere.
  Expr predicate = realize.predicate;
  for (const IterVar& iter : block.iters) {
    const Expr own = map.at(&iter.var().node());
    arith::Facts facts;
    bind_iters(facts, next);
    if (!arith::can_prove(own >= iter.dom()->min && own < iter.dom()->min + iter.dom()->extent,
                          facts))
      refuse(caller, describe(program, producer) + " writes elements that " + describe(program, n) +
                         " does not read");
  }
  const PrimFunc changed = program.with(producer, make_block(realize.values, predicate, next));
  const Program middle(changed);
  const std::optional<int> old = middle.find_block(program.key_of(n));
  return without_buffer(middle.with_body(without(middle, old ? *old : n)), buffer);
}

}  // namespace tenon::s_tir
