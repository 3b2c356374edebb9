#include "s_tir/order_checks.h"

#include <algorithm>
#include <ranges>

#include "s_tir/instances.h"
#include "s_tir/reduction_body.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/opaque_blocks.h"

namespace tenon::s_tir {

using namespace tir;
using arith::Conflict;
using arith::Footprint;
using arith::Relation;

namespace {

/// Returns the statement with blocks replaced by their bodies, and with all loops made serial.
Stmt opened(const Stmt& s) {
  const std::function<Stmt(const Stmt&)> serial = [&](const Stmt& at) -> Stmt {
    const Stmt result = map_statements(at, serial);
    const For* loop = result.as<For>();
    if (!loop || loop->kind == ForKind::Serial) return result;
    return make_stmt(For{loop->var, loop->min, loop->extent, ForKind::Serial, loop->body});
  };
  return loops_of_blocks(serial(s));
}

/// Wraps the statement in the matched buffers of the blocks around node `n`.
Stmt in_views(const Program& program, int n, Stmt s) {
  for (std::optional<int> scope = program.scope(n); scope; scope = program.scope(*scope))
    for (const MatchBuffer& match : std::views::reverse(program.block(*scope).match_buffers))
      s = make_stmt(BufferView{match.buffer, match.source.buffer, match.source.region, s});
  return s;
}

/// Returns the accesses of `part`, which is contained in the statement that writes `memory`.
Footprint footprint_of(const Stmt& part, const arith::WrittenMemory& memory) {
  return arith::footprint(opened(part), memory);
}

/// Returns the ranges of the variables of the loops and iterators around node `n`.
arith::Facts facts_around(const Program& program, int n) {
  arith::Facts facts;
  for (std::optional<int> at = n; at; at = program.outer(*at)) {
    if (program.is_loop(*at) && *at != n)
      bind_domains(facts, domains_of(program, {*at}));
    else if (program.is_block(*at))
      bind_iters(facts, program.block(*at));
  }
  return facts;
}

Footprint only(Footprint all, arith::AccessKind kind) {
  std::erase_if(all.accesses, [&](const arith::Access& access) { return access.kind != kind; });
  return all;
}

/// Returns `parent` with its child `part` replaced by `with`, and without its other children.
Stmt around(const Stmt& parent, const Stmt& part, const Stmt& with) {
  if (parent.as<Seq>()) return with;
  return map_statements(parent, [&](const Stmt& s) { return s.same_as(part) ? with : make_nop(); });
}

/// Returns the statement with variables instead of loads of memory that changes, except in the
/// statements inside it.
Stmt without_unstable_loads(const Stmt& s, const arith::WrittenMemory& memory) {
  const std::function<Expr(const Expr&)> hide = [&](const Expr& e) -> Expr {
    if (e.as<Load>() && !memory.is_stable(e)) return Var("loaded", e.dtype());
    return map_children(e, hide);
  };
  return map_children(s, hide, [](const Stmt& child) { return child; });
}

/// Replaces the statement `n` by `own`, and returns it inside the loops and branches that enclose
/// the statement below `top`. Its siblings are omitted.
Stmt alone_below(const Program& program, int n, int top, Stmt own) {
  for (int at = n; *program.parent(at) != top; at = *program.parent(at))
    own = around(program.stmt(*program.parent(at)), program.stmt(at), own);
  return own;
}

/// Returns the init of a reduction block. It is guarded by the condition that all reduction
/// iterators are at their minimum.
Stmt init_of(const BlockRealize& realize) {
  Expr runs = realize.predicate;
  for (std::size_t i = 0; i < realize.values.size(); ++i) {
    const IterVar& iter = realize.block->iters[i];
    if (iter.kind() == IterKind::Reduce)
      runs = both(runs, make_binary(BinaryOp::Eq, realize.values[i], iter.dom()->min));
  }
  return make_stmt(If{runs, substitute(*realize.block->init, bindings_of(realize)), std::nullopt});
}

/// Returns the conflict as a phrase: "reads A[i], and block `W` writes A[j]".
std::string conflict_text(const Conflict& conflict) {
  return arith::access_text(conflict.first) + ", and `" + conflict.second.stage + "` " +
         arith::access_text(conflict.second);
}

/// Returns the block without its init.
Stmt update_of(const Stmt& block) {
  return with_changed_block(block, [](Block& update) { update.init = std::nullopt; });
}

}  // namespace

arith::WrittenMemory written_by(const Program& program, int n, const Stmt& whole) {
  return arith::WrittenMemory(in_views(program, n, opened(whole)));
}

bool iterator_uses(const Program& program, int block, int loop, IterKind kind) {
  const BlockRealize& realize = program.realize(block);
  for (std::size_t n = 0; n < realize.values.size(); ++n)
    if (realize.block->iters[n].kind() == kind &&
        uses_var(realize.values[n], program.loop(loop).var))
      return true;
  return false;
}

std::optional<int> outermost_reduction_loop(const Program& program, int block) {
  for (const int loop : program.loops_of(block))
    if (feeds_reduction(program, block, loop)) return loop;
  return std::nullopt;
}

// ---- a block that passes others -----------------------------------------------------------------

std::optional<std::string> find_passing_conflict(const Program& program, int block, int top,
                                                 const PassingOptions& options) {
  int standing = block;
  while (*program.parent(standing) != top) standing = *program.parent(standing);
  std::vector<Stmt> whole = options.over;
  whole.push_back(program.stmt(standing));
  const arith::WrittenMemory memory = written_by(program, block, make_seq(std::move(whole)));
  std::optional<Conflict> found;
  const auto compare = [&](const Stmt& own, const Stmt& other, const For* later, int at,
                           Compared compared) {
    if (found) return;
    arith::Facts facts = facts_around(program, at);
    const Footprint mine = footprint_of(own, memory), others = footprint_of(other, memory);
    const auto check = [&](const Footprint& a, const Footprint& b) {
      if (found) return;
      Relation relation = Relation::same_iteration();
      if (later)
        relation = std::move(relation).with(
            *later, options.passes_later ? Relation::Step::Later : Relation::Step::Earlier);
      found = arith::find_conflict(a, b, relation, facts);
    };
    using arith::AccessKind;
    if (compared == Compared::All) return check(mine, others);
    if (compared == Compared::WritesWithReads)
      return check(only(mine, AccessKind::Write), only(others, AccessKind::Read));
    const Footprint writes = only(others, AccessKind::Write);
    check(only(mine, AccessKind::Read), writes);
    if (compared == Compared::WithWrites) check(only(mine, AccessKind::Write), writes);
  };
  Stmt own = options.own.value_or(program.stmt(block));
  for (int at = block; *program.parent(at) != top; at = *program.parent(at)) {
    const int parent = *program.parent(at);
    const Stmt& outer = program.stmt(parent);
    if (const Seq* seq = outer.as<Seq>()) {
      bool is_before = true;
      for (const Stmt& part : seq->stmts) {
        if (part.same_as(program.stmt(at)))
          is_before = false;
        else if (is_before != options.passes_later && !options.only_own_instances)
          compare(own, part, nullptr, parent, options.compared);
      }
      continue;
    }
    // A `while` has no variable that distinguishes its iterations.
    const For* loop = outer.as<For>();
    for (const int other :
         loop || outer.as<While>() ? program.leaves(parent) : std::vector<int>{}) {
      const bool is_passed = other == block
                                 ? options.with_own_instances || options.only_own_instances
                                 : !options.only_own_instances;
      if (!is_passed) continue;
      const bool is_repeatable = loop && program.is_block(other);
      if (is_repeatable && options.is_excepted && options.is_excepted(other, parent)) continue;
      const bool is_repeated =
          is_repeatable && options.excepts_repeated_readers && !depends_on(program, other, parent);
      compare(own, alone_below(program, other, parent, program.stmt(other)), loop, parent,
              is_repeated ? Compared::WithWrites : options.compared);
    }
    own = around(outer, program.stmt(at), own);
    if (options.keeps_control) own = without_unstable_loads(own, memory);
    // The range of a loop and the condition of a branch are read before the block runs, and the
    // condition of a `while` also afterwards.
    if ((!options.passes_later || outer.as<While>()) && !options.only_own_instances)
      compare(own, around(outer, program.stmt(at), make_nop()), nullptr, parent, options.compared);
  }
  for (const Stmt& part : options.over) compare(own, part, nullptr, top, options.compared);
  if (!found) return std::nullopt;
  return conflict_text(*found);
}

std::vector<arith::Access> accesses_of(const Program& program, int block) {
  const Stmt& own = program.stmt(block);
  return footprint_of(own, written_by(program, block, own)).accesses;
}

bool has_equal(const std::vector<Expr>& all, const Expr& e) {
  return std::ranges::any_of(all, [&](const Expr& other) { return structural_equal(other, e); });
}

Stmt in_context_of(const arith::Access& access, Stmt s) {
  for (const Expr& guard : access.guards) s = make_stmt(If{guard, s, std::nullopt});
  for (const arith::FreeVar& inner : std::views::reverse(access.inner)) {
    const DataType type = inner.var.dtype();
    const Range range =
        inner.range.value_or(Range::from_min_extent(Var("first", type), Var::size("count", type)));
    s = make_stmt(For{inner.var, range.min, range.extent, ForKind::Serial, s});
  }
  return s;
}

namespace {

/// Whether the access alone covers the whole region in each instance of the block.
bool covers_region(const arith::Access& access, const BlockRealize& realize,
                   const BufferRegion& write) {
  if (!access.is_known || access.has_other_guards) return false;
  std::vector<LoopDomain> inner;
  for (const arith::FreeVar& var : access.inner) {
    if (!var.range) return false;
    inner.push_back({var.var, var.range->min, var.range->extent});
  }
  Expr predicate = make_true();
  for (const Expr& guard : access.guards) {
    if (uses_any(guard, inner))
      predicate = both(predicate, guard);
    else if (!has_equal(conjuncts(realize.predicate), guard))
      return false;
  }
  const auto map = find_iter_map(access.indices, inner, predicate);
  if (!map) return false;
  // An index may mention a loop without depending on it. If such a loop may be empty, the access
  // may not run.
  for (const LoopDomain& loop : unused_of_unknown_extent(*map, inner))
    if (!arith::can_prove(loop.extent > 0)) return false;
  const VarMap bindings = bindings_of(realize);
  for (std::size_t d = 0; d < write.region.size(); ++d) {
    const Range region = substitute(write.region[d], bindings);
    const auto& [digits, base] = map->values[d];
    const auto length = digits.empty() ? Expr(1) : extent_of(*map, digits.front(), inner);
    if (!length || (!digits.empty() && digits.front().scale != 1) ||
        !arith::can_prove(base <= region.min) ||
        !arith::can_prove(region.min + region.extent <= base + *length))
      return false;
  }
  return true;
}

/// Maximum number of stores for which it is checked whether they cover a region jointly.
constexpr std::size_t kMaxStores = 16;

}  // namespace

bool stores_region(const Program& program, int n, const Stmt& part, const BufferRegion& write) {
  const auto is_own = [&](const Store& store) { return store.buffer.same_as(write.buffer); };
  if (const Store* store = part.as<Store>();
      store && is_own(*store) &&
      std::ranges::all_of(write.region, [](const Range& range) { return is_one(range.extent); }))
    return true;
  const Stmt& whole = program.stmt(n);
  const Stmt alone = with_changed_block(whole, [&](Block& block) {
    block.init = std::nullopt;
    block.body = part;
  });
  const bool is_by_calls = !any_node(part, is_own);
  const Footprint writes =
      only(footprint_of(alone, written_by(program, n, whole)), arith::AccessKind::Write);
  const std::function<bool(const BufferRegion&)> is_covered = [&](const BufferRegion& region) {
    const auto covers = [&](const arith::Access& access) {
      return access.buffer.same_as(write.buffer)
                 ? covers_region(access, program.realize(n), region)
                 : is_by_calls && access.memory_key() == &write.buffer->data.node();
    };
    if (std::ranges::any_of(writes.accesses, covers)) return true;
    if (writes.accesses.size() > kMaxStores) return false;
    // Splits the region into two halves, which different stores may cover.
    BufferRegion first = region, second = region;
    for (std::size_t d = 0; d < region.region.size(); ++d) {
      const auto& [min, extent] = region.region[d];
      const std::int64_t size = constant_int(extent).value_or(1), half = size / 2;
      if (half == 0) continue;
      first.region[d] = Range::from_min_extent(min, make_int(min.dtype(), half));
      second.region[d] = Range::from_min_extent(min + half, make_int(min.dtype(), size - half));
      return is_covered(first) && is_covered(second);
    }
    return false;
  };
  return is_covered(write);
}

std::vector<Stmt> parts_between(const Program& program, int top, int first, int second) {
  if (!program.stmt(top).as<Seq>()) return {};
  const auto [a, b] = std::minmax({*part_of(program, top, first), *part_of(program, top, second)});
  return parts_in(program, top, std::min(a + 1, b), b);
}

// ---- reductions ---------------------------------------------------------------------------------

bool changes_inputs(const Program& program, int block, int top) {
  return std::ranges::any_of(program.block(block).reads, [&](const BufferRegion& read) {
    return !writers_below(program, top, read.buffer).empty();
  });
}

bool writes_same_again(const Program& program, int block, int loop) {
  const auto block_class = classify(program, block).first;
  if (block_class != BlockClass::Complete && block_class != BlockClass::Reduction) return false;
  return !depends_on(program, block, loop) && !changes_inputs(program, block, loop);
}

bool is_commutative_reduction(const Program& program, int n) {
  const BlockRealize& realize = program.realize(n);
  Block update = *realize.block;
  update.init = std::nullopt;
  // The expressions that the update evaluates, without the loads of the elements that it
  // accumulates into.
  std::vector<Expr> evaluated;
  if (const auto combination = find_update(update)) {
    evaluated = {combination->value};
  } else {
    const std::optional<ReductionBody> body = find_reduction_body(*realize.block);
    if (!body || broken_law(*body, {.reorders = true})) return false;
    evaluated = body->values;
  }
  walk(update.body, [&](const Store& store) {
    evaluated.insert(evaluated.end(), store.indices.begin(), store.indices.end());
  });
  std::vector<Stmt> parts;
  for (const Expr& e : evaluated) parts.push_back(make_stmt(Evaluate{e}));
  update.body = make_seq(std::move(parts));
  const Stmt others = make_block(realize.values, realize.predicate, std::move(update));
  const int scope = *program.scope(n);
  const arith::WrittenMemory memory =
      written_by(program, n, alone_below(program, n, scope, program.stmt(n)));
  const Footprint read = footprint_of(alone_below(program, n, scope, others), memory);
  const std::vector<arith::Access> own = footprint_of(program.stmt(n), memory).accesses;
  return !read.is_opaque && std::ranges::none_of(own, [&](const arith::Access& write) {
    return write.is_write() && std::ranges::any_of(read.accesses, [&](const auto& access) {
             return access.memory_key() == write.memory_key();
           });
  });
}

namespace {

/// Whether all values of reduction iterators are sums of digits that count upwards. The first
/// iteration of a reduction then has all digits 0, and all its iterators at their minimum.
bool reduces_upwards(const Program& program, int n) {
  const BlockRealize& realize = program.realize(n);
  const std::optional<IterMap> map = iter_map_around(program, n);
  if (!map) return false;
  bool counts_down = false;
  for (std::size_t i = 0; i < realize.values.size(); ++i)
    if (realize.block->iters[i].kind() == IterKind::Reduce)
      for_each_digit(*map, {&map->values[i], 1},
                     [&](const Digit& digit) { counts_down |= digit.scale < 0; });
  return !counts_down;
}

}  // namespace

std::optional<std::string> why_not_begun(const Program& program, int n) {
  const Block& block = program.block(n);
  const std::optional<InstanceSet> all = instances_of(program, n, *program.scope(n));
  if (!all || !contains_instances(beginnings(*all, block), *all, block, {}))
    return "not every sum of " + describe(program, n) + " provably begins with its init";
  const std::optional<int> loop = outermost_reduction_loop(program, n);
  if (!loop || !block.init || reduces_upwards(program, n)) return std::nullopt;
  const auto conflict = find_passing_conflict(
      program, n, *program.parent(*loop),
      {.own = init_of(program.realize(n)), .keeps_control = true, .only_own_instances = true});
  if (!conflict) return std::nullopt;
  return "the init of " + describe(program, n) + " does not provably precede its updates: it " +
         *conflict + " in an earlier iteration";
}

void require_begun(const Caller& caller, const Program& program, int n) {
  if (const auto why = why_not_begun(program, n)) refuse(caller, *why);
}

void require_init_passes(const Caller& caller, const Program& program, int n, int loop) {
  const auto conflict =
      find_passing_conflict(program, n, *program.parent(loop),
                            {.own = init_of(program.realize(n)), .with_own_instances = true});
  if (conflict)
    refuse(caller, "in front of " + describe(program, loop) + ", the init of " +
                       describe(program, n) + " would run too early: it " + *conflict);
}

namespace {

/// Whether the values of the reduction iterators are loop variables, and these loops are nested in
/// the order of the iterators.
bool reduces_in_order(const Program& program, int n) {
  const BlockRealize& realize = program.realize(n);
  int outside = -1;
  for (std::size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.block->iters[i].kind() != IterKind::Reduce) continue;
    const Expr& value = realize.values[i];
    const auto loop = value.as<VarNode>() ? program.find_loop(Var::of(value)) : std::nullopt;
    if (!loop || *loop < outside) return false;
    outside = *loop;
  }
  return true;
}

}  // namespace

std::optional<std::string> conflict_between_instances(const Program& program, int n) {
  const Block& block = program.block(n);
  std::vector<Expr> values;
  for (const IterVar& iter : block.iters) values.emplace_back(iter.var());
  const Stmt own = make_block(values, make_true(), block);
  const Footprint accesses = footprint_of(own, written_by(program, n, own));
  std::vector<IterVar> iters = block.iters;
  std::stable_partition(iters.begin(), iters.end(),
                        [](const IterVar& iter) { return iter.kind() != IterKind::Reduce; });
  for (std::size_t first = 0; first < iters.size(); ++first) {
    if (iters[first].kind() == IterKind::Reduce) break;
    arith::Facts facts = facts_around(program, n);
    bind_iters(facts, block);
    Relation relation;
    for (std::size_t d = first; d < iters.size(); ++d)
      relation = std::move(relation).with(iters[d].var(), iters[d].dom(),
                                          d == first ? Relation::Step::Other : Relation::Step::Any);
    if (const auto found = arith::find_conflict(accesses, accesses, relation, facts))
      return conflict_text(*found);
  }
  return std::nullopt;
}

void require_no_conflict_between_instances(const Caller& caller, const Program& program, int block,
                                           const std::string& prefix) {
  if (const auto conflict = conflict_between_instances(program, block))
    refuse(caller, prefix + "the instances of " + describe(program, block) +
                       " depend on their order: one " + *conflict + " in another");
}

void require_free_order(const Program& program, int block, const Caller& caller,
                        const std::string& step) {
  const std::string what = step + ": " + describe(program, block);
  const auto [block_class, reason] = classify(program, block);
  if (!block_class) refuse(caller, what + " is neither complete nor a reduction: " + reason);
  require_no_conflict_between_instances(caller, program, block, step + ": ");
  const bool adds =
      block_class == BlockClass::Reduction || block_class == BlockClass::ReductionUpdate;
  if (adds && !is_commutative_reduction(program, block) && !reduces_in_order(program, block))
    refuse(caller,
           what +
               " is not a sum, product, minimum or maximum and uses no registered reducer, so its "
               "result depends on the order of its instances");
}

// ---- iterations of loops ------------------------------------------------------------------------

namespace {

/// Whether the buffer's memory is shared by the threads of `thread`, to which a loop is bound.
bool is_shared_between(const Buffer& buffer, const std::optional<ThreadTag>& thread) {
  const StorageScope scope = buffer.scope();
  const bool is_shared = scope == StorageScope::Global || scope == StorageScope::Shared ||
                         scope == StorageScope::SharedDyn;
  const bool is_block_private = thread && thread->is_block() && scope != StorageScope::Global;
  return is_shared && thread && !is_block_private;
}

/// Whether a statement outside of blocks uses the buffer, in any of the scopes around the loop.
bool is_used_outside_blocks(const Program& program, const Buffer& buffer, int loop) {
  for (std::optional<int> scope = program.scope(loop); scope; scope = program.scope(*scope)) {
    if (!readers_outside_blocks(program, *scope, buffer).empty()) return true;
    for (const int writer : writers_below(program, *scope, buffer))
      if (!program.is_block(writer)) return true;
  }
  return false;
}

/// Whether the block reads only elements of the buffer that were written earlier in the same
/// iteration of the loop.
bool reads_own_values(const Program& program, const Buffer& buffer, int loop, int block) {
  const Block& reader = program.block(block);
  if (reader.init && mentions(reader.writes, buffer))
    for (const int around : program.loops_of(block))
      if (around <= loop && feeds_reduction(program, block, around)) return false;
  if (!mentions(reader.reads, buffer)) return true;
  const std::vector<int> writers = producers(program, block);
  return std::ranges::any_of(writers, [&](int writer) {
    return program.is_below(writer, loop) && mentions(program.block(writer).writes, buffer) &&
           covers_reads(program, writer, block, buffer);
  });
}

}  // namespace

bool is_written_alike(const Program& program, const Buffer& buffer, int loop) {
  if (is_used_outside_blocks(program, buffer, loop)) return false;
  for (const int n : program.child_blocks(loop)) {
    const Block& block = program.block(n);
    if (!reads_own_values(program, buffer, loop, n)) return false;
    if (!mentions(block.writes, buffer)) continue;
    if (classify(program, n).first != BlockClass::Complete) return false;
    if (conflict_between_instances(program, n)) return false;
  }
  return true;
}

std::optional<Buffer> buffer_of_all_threads(const Program& program, int loop,
                                            const std::optional<ThreadTag>& thread) {
  for (const int outermost : program.child_blocks(loop)) {
    // A block that does not depend on the loop computes the same values in all threads.
    if (!uses_var(program.stmt(outermost), program.loop(loop).var)) continue;
    for (int n = outermost; n < program.size(); ++n)
      if (program.is_block(n) && (n == outermost || program.is_below(n, outermost)))
        for (const Buffer& buffer : program.block(n).alloc_buffers)
          if (is_shared_between(buffer, thread)) return buffer;
  }
  return std::nullopt;
}

bool has_own_memory(const Program& program, const Buffer& buffer, int loop,
                    const std::optional<ThreadTag>& thread) {
  if (!allocated_by(program, buffer, loop) || is_shared_between(buffer, thread)) return false;
  if (is_used_outside_blocks(program, buffer, loop)) return false;
  for (int n = 1; n < program.size(); ++n) {
    if (!program.is_block(n) || program.is_below(loop, n)) continue;
    const Block& block = program.block(n);
    if (!mentions(block.reads, buffer) && !mentions(block.writes, buffer)) continue;
    if (!program.is_below(n, loop)) return false;
    if (program.scope(n) == program.scope(loop) && !reads_own_values(program, buffer, loop, n))
      return false;
  }
  return true;
}

namespace {

/// Returns a phrase about the first conflict between accesses below `innermost` in two iterations
/// that `relation` describes. `is_unordered` states whether two instances of a block, or
/// an init and an update, may access a buffer in any order.
std::optional<std::string> conflict_of_leaves(const Program& program, int outermost, int innermost,
                                              const Relation& relation, const IsExempt& is_exempt,
                                              const IsUnordered& is_unordered) {
  const arith::WrittenMemory memory = written_by(program, outermost, program.stmt(outermost));
  struct Part {
    int leaf;
    bool is_init;
    Footprint footprint;
  };
  std::vector<Part> parts;
  for (const int leaf : program.leaves(innermost)) {
    const auto add = [&](bool is_init, const Stmt& own) {
      parts.push_back(
          {leaf, is_init, footprint_of(alone_below(program, leaf, innermost, own), memory)});
      std::erase_if(parts.back().footprint.accesses,
                    [&](const arith::Access& access) { return is_exempt(leaf, access.buffer); });
    };
    const bool is_block = program.is_block(leaf);
    if (is_block && program.block(leaf).init) add(true, init_of(program.realize(leaf)));
    add(false, is_block ? update_of(program.stmt(leaf)) : program.stmt(leaf));
  }
  for (const Part& a : parts)
    for (const Part& b : parts) {
      arith::Facts facts = facts_around(program, innermost);
      const auto ordered = [&](Footprint own) {
        std::erase_if(own.accesses, [&](const arith::Access& access) {
          return is_unordered(a.leaf, access.buffer, a.is_init || b.is_init);
        });
        return own;
      };
      const auto found =
          a.leaf == b.leaf && program.is_block(a.leaf)
              ? arith::find_conflict(ordered(a.footprint), ordered(b.footprint), relation, facts)
              : arith::find_conflict(a.footprint, b.footprint, relation, facts);
      if (found) return conflict_text(*found);
    }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reversed_by_reordering(const Program& program,
                                                  const std::vector<int>& before,
                                                  const std::vector<int>& after) {
  const int innermost = before.back();
  const auto is_exempt = [&](int, const Buffer& buffer) {
    return has_own_memory(program, buffer, innermost, std::nullopt);
  };
  // The updates of a reduction commute, but each of them must follow its init.
  const auto is_unordered = [&](int n, const Buffer& buffer, bool is_with_init) {
    const Block& block = program.block(n);
    return !is_with_init && mentions(block.writes, buffer) && has_kind(block, IterKind::Reduce) &&
           is_commutative_reduction(program, n);
  };
  const auto place = [](const std::vector<int>& order, int loop) {
    return std::ranges::find(order, loop) - order.begin();
  };
  // The outermost loop in which two iterations differ decides their order. This loop is `first` in
  // the order `before` and `second` in the order `after`.
  for (const int first : before)
    for (const int second : before) {
      if (place(before, first) >= place(before, second)) continue;
      if (place(after, second) >= place(after, first)) continue;
      Relation relation;
      for (const int loop : before) {
        const bool is_equal =
            place(before, loop) < place(before, first) || place(after, loop) < place(after, second);
        if (is_equal) continue;
        relation =
            std::move(relation).with(program.loop(loop), loop == first    ? Relation::Step::Later
                                                         : loop == second ? Relation::Step::Earlier
                                                                          : Relation::Step::Any);
      }
      if (auto conflict = conflict_of_leaves(program, before.front(), innermost, relation,
                                             is_exempt, is_unordered))
        return conflict;
    }
  return std::nullopt;
}

std::optional<std::string> conflict_between_iterations(const Program& program, int loop,
                                                       const IsExempt& is_exempt,
                                                       const IsUnordered& is_unordered) {
  return conflict_of_leaves(program, loop, loop, Relation::other_iteration(program.loop(loop)),
                            is_exempt, is_unordered);
}

}  // namespace tenon::s_tir
