#include <algorithm>

#include "s_tir/instances.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/buffers.h"
#include "s_tir/primitives/init_block.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

void check(const Caller& caller, const Program& program, int n, int loop) {
  require_reduction(caller, program, n);
  const std::vector<int> loops = program.loops_of(n);
  if (std::ranges::find(loops, loop) == loops.end())
    refuse(caller, describe(program, loop) + " is not around " + describe(program, n));
  const BlockRealize& realize = program.realize(n);
  for (std::size_t i = 0; i < realize.values.size(); ++i)
    for (const int outer : loops)
      if (outer < loop && realize.block->iters[i].kind() == IterKind::Reduce &&
          uses_var(realize.values[i], program.loop(outer).var))
        refuse(caller,
               describe(program, loop) + " is inside of loop `" + program.loop(outer).var.name() +
                   "`, which runs over the reduction iterator `" + realize.block->iters[i].name() +
                   "`: the init would run again in the middle of the sum; name that loop "
                   "or one outside of it");
  require_affine_bindings(caller, program, n);
}

/// Whether the init block initializes exactly the elements that the reduction updates. Compares one
/// iteration of the loops outside `top`, in both programs.
bool begins_same_sums(const Program& of_init, int init, const Program& of_sum, int reduction,
                      int top) {
  const Block& block = of_sum.block(reduction);
  const std::optional<InstanceSet> all = instances_of(of_sum, reduction, top);
  const std::optional<InstanceSet> begun = instances_of(of_init, init, top);
  if (!all || !begun) return false;
  // An empty reduction that no condition excludes is an error in the original program, too.
  const std::optional<Expr> condition = condition_below(of_sum, reduction, top);
  const bool may_be_empty = std::ranges::any_of(block.iters, [](const IterVar& iter) {
    return iter.kind() == IterKind::Reduce && !constant_int(iter.dom()->extent);
  });
  if (may_be_empty && !(condition && is_true(*condition))) return false;
  VarMap of_iter;
  auto own = of_init.block(init).iters.begin();
  for (const IterVar& iter : block.iters)
    if (iter.kind() == IterKind::DataParallel) set_converted(of_iter, (own++)->var(), iter.var());
  InstanceSet now;
  for (const Expr& part : *begun) now.push_back(substitute(part, of_iter));
  const InstanceSet before = beginnings(*all, block);
  std::vector<int> around = of_sum.loops_of(reduction);
  std::erase_if(around, [&](int loop) { return loop > top; });
  const std::vector<LoopDomain> outside = domains_of(of_sum, around);
  return contains_instances(before, now, block, outside) &&
         contains_instances(now, before, block, outside);
}

/// Returns the reduction block without its init. `init_reads`: the regions that the init reads.
Block update_of(const Block& block, const std::vector<BufferRegion>& init_reads) {
  Block update = block;
  update.init = std::nullopt;
  update.reads = block.writes;
  const std::vector<BufferRegion> found = arith::find_block_access(update).reads;
  for (BufferRegion& own : update.reads)
    for (const BufferRegion& read : found)
      if (read.buffer.same_as(own.buffer) && !uses_var(update.body, read.buffer->data)) own = read;
  std::ranges::copy_if(
      block.reads, std::back_inserter(update.reads),
      [&](const BufferRegion& read) { return !mentions(block.writes, read.buffer); });
  std::erase_if(update.reads, [&](const BufferRegion& read) {
    return mentions(init_reads, read.buffer) && !mentions(found, read.buffer) &&
           !uses_var(update.body, read.buffer->data) &&
           std::ranges::none_of(update.match_buffers, [&](const MatchBuffer& match) {
             return match.source.buffer.same_as(read.buffer);
           });
  });
  return update;
}

}  // namespace

std::tuple<Stmt, BlockId, Block> separate_init(const Caller& caller, const Program& program, int n,
                                               bool is_before, const Block& block,
                                               const std::vector<Expr>& values,
                                               const std::vector<Expr>& conditions,
                                               const std::vector<int>& loops) {
  Block init = plain_block(block.name + "_init", *block.init);
  init.writes = block.writes;
  if (is_before) init.annotations = block.annotations;
  std::vector<Expr> own_values;
  VarMap map;
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    if (iter.kind() != IterKind::DataParallel) continue;
    if (!is_before && !uses_var(*block.init, iter.var())) continue;
    const Var fresh = iter.var().fresh(iter.name() + (is_before ? "" : "_init"));
    init.iters.emplace_back(iter.dom(), fresh, iter.kind(), iter.thread());
    set(map, iter.var(), fresh);
    own_values.push_back(values[i]);
  }
  init.body = fresh_copy(*block.init, map);
  for (BufferRegion& write : init.writes)
    for (Range& range : write.region) range = substitute(range, map);
  const arith::BlockAccess found = arith::find_block_access(init, buffers_of(block.reads));
  for (const Buffer& own : declared_buffers(block))
    if (mentions(found.reads, own) || mentions(found.writes, own) || uses_var(init.body, own->data))
      refuse(caller, "the init of " + describe(program, n) + " uses `" + own->name +
                         "`, which exists only inside of that block");
  init.reads = found.reads;
  const auto uses = [&](const Expr& e, int loop) { return uses_var(e, program.loop(loop).var); };
  // The init is nested in copies of the loops that determine its elements.
  std::vector<int> kept = loops;
  std::erase_if(kept, [&](int loop) {
    return std::ranges::none_of(own_values, [&](const Expr& e) { return uses(e, loop); });
  });
  Expr predicate = make_true();
  for (const Expr& part : conditions) {
    bool uses_dropped = false, uses_other = false;
    for (const int loop : program.loops_of(n)) {
      const bool is_dropped = std::ranges::find(loops, loop) != loops.end() &&
                              std::ranges::find(kept, loop) == kept.end();
      if (uses(part, loop)) (is_dropped ? uses_dropped : uses_other) = true;
    }
    if (uses_dropped && uses_other)
      refuse(caller, "the predicate " + print_expr(part) + " of " + describe(program, n) +
                         " uses loops of the reduction and data loops together");
    if (!uses_dropped) predicate = both(predicate, part);
  }
  VarMap loop_map;
  for (const int loop : kept) {
    const Var& var = program.loop(loop).var;
    set(loop_map, var, var.fresh(var.name() + (is_before ? "_init" : "")));
  }
  for (Expr& value : own_values) value = substitute(value, loop_map);
  const BlockId id = init.id;
  Block update = update_of(block, init.reads);
  Stmt nest = make_block(std::move(own_values), substitute(predicate, loop_map), std::move(init));
  for (std::size_t i = kept.size(); i-- > 0;) {
    For own = program.loop(kept[i]);
    own.var = Var::of(loop_map.at(&own.var.node()));
    own.body = nest;
    LoopTraits traits = traits_of(own);
    if (is_before) traits.annotations.clear();
    nest = make_stmt(with_traits(std::move(own), std::move(traits)));
  }
  return {std::move(nest), id, std::move(update)};
}

NewBlock decompose_reduction(const Program& program, int n, int loop, SourceLocation where) {
  const Caller caller{"decompose_reduction", where};
  check(caller, program, n, loop);
  require_own_domains(caller, program, n, *program.parent(loop));
  const BlockRealize& realize = program.realize(n);
  const Block& block = *realize.block;
  // The init will run before the ranges of the reduction's loops are evaluated, so it must not
  // change them.
  const std::vector<int> loops = program.loops_below(n, *program.parent(loop));
  for (const int own : loops) require_stable_range(caller, program, own);
  walk(realize.predicate, [&](const Load& load) {
    if (mentions(block.writes, load.buffer))
      refuse(caller, "the predicate " + print_expr(realize.predicate) + " of " +
                         describe(program, n) + " reads `" + load.buffer->name +
                         "`, which the init would overwrite first");
  });
  // TVM prints the last condition first.
  std::vector<Expr> conditions = conjuncts(realize.predicate);
  std::ranges::reverse(conditions);
  auto [nest, init, update] = separate_init(caller, program, n, /*is_before=*/true, block,
                                            realize.values, conditions, loops);
  update.name = block.name + "_update";
  const Stmt rest =
      replace_inside(program.stmt(loop), program.stmt(n),
                     make_block(realize.values, realize.predicate, std::move(update)));
  PrimFunc func = program.with(loop, make_seq({nest, rest}));
  const Program after(func);
  const std::optional<int> at = after.find_block(init);
  if (!at || !begins_same_sums(after, *at, program, n, *program.parent(loop)))
    refuse(caller, describe(program, loop) + ": outside of it, the init would not run for " +
                       "provably the same elements of " + describe(program, n) +
                       ", which runs only a part of its domain");
  require_init_passes(caller, program, n, loop);
  return {std::move(func), init};
}

PrimFunc merge_reduction(const Program& program, int init, int update, SourceLocation where) {
  const Caller caller{"merge_reduction", where};
  if (classify(program, init).first != BlockClass::ReductionInit ||
      other_half(program, init) != update)
    refuse(caller, describe(program, init) + " and " + describe(program, update) +
                       " are not the init and the update of one reduction");
  if (program.is_in_init(init) != program.is_in_init(update))
    refuse(caller, describe(program, init) + " is in the init of " +
                       describe(program, *program.scope(init)) +
                       ", which initializes more than the sums of " + describe(program, update));
  const BlockRealize &first = program.realize(init), &second = program.realize(update);
  require_outer_buffers(caller, program, init);
  std::vector<const IterVar*> spatial;
  for (const IterVar& iter : second.block->iters)
    if (iter.kind() == IterKind::DataParallel) spatial.push_back(&iter);
  const auto has_same_domain = [](const IterVar* own, const IterVar& other) {
    return arith::can_prove_equal(own->dom()->min, other.dom()->min) &&
           arith::can_prove_equal(own->dom()->extent, other.dom()->extent);
  };
  if (spatial.size() != first.block->iters.size() ||
      !std::equal(spatial.begin(), spatial.end(), first.block->iters.begin(), has_same_domain))
    refuse(caller, describe(program, init) + " and " + describe(program, update) +
                       " do not have the same spatial iterators");
  VarMap map;
  for (std::size_t i = 0; i < spatial.size(); ++i)
    set_converted(map, first.block->iters[i].var(), spatial[i]->var());
  for (std::size_t w = 0; w < first.block->writes.size(); ++w)
    for (std::size_t d = 0; d < first.block->writes[w].region.size(); ++d) {
      const Range own = substitute(first.block->writes[w].region[d], map);
      const Range& other = second.block->writes[w].region[d];
      if (!first.block->writes[w].buffer.same_as(second.block->writes[w].buffer) ||
          !structural_equal(own.min, other.min) || !structural_equal(own.extent, other.extent))
        refuse(caller, describe(program, init) + " and " + describe(program, update) +
                           " do not write the same elements in the same order of iterators");
    }
  const int top = program.common(init, update);
  if (!begins_same_sums(program, init, program, update, top))
    refuse(caller, "it is not proved that the same elements are initialized by " +
                       describe(program, init) + " and accumulated by " +
                       describe(program, update) + " in the same iteration");
  if (const auto conflict = find_passing_conflict(
          program, init, top,
          {.passes_later = true, .over = parts_between(program, top, init, update)}))
    refuse(caller,
           describe(program, init) + " would move past an access to its output: it " + *conflict);
  Block merged = *second.block;
  merged.init = fresh_copy(first.block->body, map);
  const std::string suffix = "_update";
  if (merged.name.size() > suffix.size() && merged.name.ends_with(suffix))
    merged.name.resize(merged.name.size() - suffix.size());
  // The merged block reads what the init block and the update block read.
  std::vector<Expr> of_init, of_update(merged.iters.begin(), merged.iters.end());
  for (const IterVar* iter : spatial) of_init.emplace_back(iter->var());
  Block parts = merged;
  parts.init = make_stmt(BlockRealize{std::move(of_init), make_true(), first.block});
  parts.body = make_stmt(BlockRealize{std::move(of_update), make_true(), second.block});
  merged.reads = arith::find_block_access(parts).reads;
  const PrimFunc func = program.with(update, make_block(second.values, second.predicate, merged));
  const Program after(func);
  PrimFunc result = after.with_body(without(after, init));
  const Program final(result);
  const int block = *final.find_block(merged.id);
  require_begun(caller, final, block);
  if (const std::vector<int> loops = program.loops_below(update, top); !loops.empty())
    require_init_passes(caller, final, block, *final.find_loop(program.loop(loops.front()).var));
  return result;
}

}  // namespace tenon::s_tir
