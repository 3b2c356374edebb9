#include <algorithm>

#include "s_tir/instances.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/buffers.h"
#include "s_tir/primitives/loops.h"
#include "s_tir/reduction_body.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// A reduction that is factored at a loop.
struct Factoring {
  const Program& program;
  Caller caller;
  int loop;
  int block;
  std::vector<int> loops;
  /// Set once the block is known to be a reduction.
  ReductionBody body = {};
  const BlockRealize& realize() const { return program.realize(block); }
  const Block& own() const { return *realize().block; }

  bool is_used_by(IterKind kind, int n) const { return iterator_uses(program, block, n, kind); }
  /// Whether the expression uses one of the loops that determine, or that do not determine, a
  /// reduction iterator.
  bool uses_loop(const Expr& e, bool is_reduced) const {
    return std::ranges::any_of(loops, [&](int n) {
      return is_used_by(IterKind::Reduce, n) == is_reduced && uses_var(e, program.loop(n).var);
    });
  }
};

/// Throws if the domain depends on loops: a partial result could then be empty, and would never be
/// initialized.
void require_all_begun(const Factoring& f) {
  const int scope = *f.program.scope(f.block);
  require_own_domains(f.caller, f.program, f.block, scope);
  require_unconditional(f.caller, f.program, f.block, scope);
  for (const int n : f.loops)
    for (const int other : f.loops) {
      const For& loop = f.program.loop(n);
      const Var& var = f.program.loop(other).var;
      if (uses_var(loop.min, var) || uses_var(loop.extent, var))
        refuse(f.caller,
               "the range of loop `" + loop.var.name() + "` depends on loop `" + var.name() + "`");
    }
  require_begun(f.caller, f.program, f.block);
  require_init_passes(f.caller, f.program, f.block, *outermost_reduction_loop(f.program, f.block));
}

Factoring check(const Caller& caller, const Program& program, int loop) {
  const std::vector<int> blocks = program.child_blocks(loop);
  if (blocks.size() != 1)
    refuse(caller, describe(program, loop) + " is around " + std::to_string(blocks.size()) +
                       " blocks; it must be around the reduction alone");
  Factoring f{program, caller, loop, blocks.front(), program.loops_of(blocks.front())};
  const std::string what = describe(program, f.block);
  require_reduction(caller, program, f.block);
  require_outer_buffers(caller, program, f.block);
  if (program.loop(loop).kind != ForKind::Serial)
    refuse(caller, describe(program, loop) + " is not serial; factor before it is given a kind");
  if (f.is_used_by(IterKind::DataParallel, loop))
    refuse(caller, describe(program, loop) + " determines a spatial iterator of " + what +
                       "; factor at a loop of the reduction");
  if (!f.is_used_by(IterKind::Reduce, loop))
    refuse(caller, describe(program, loop) + " determines no iterator of " + what);
  require_affine_bindings(caller, program, f.block);
  if (!is_zero(program.loop(loop).min))
    refuse(caller, describe(program, loop) + " does not start at 0");
  require_all_begun(f);
  for (const int n : f.loops) {
    if (f.is_used_by(IterKind::DataParallel, n) && f.is_used_by(IterKind::Reduce, n))
      refuse(caller, "loop `" + program.loop(n).var.name() +
                         "` determines both spatial and reduction iterators");
    const std::vector<Stmt> parts = parts_of(program.loop(n).body);
    if (parts.size() == 1) continue;
    if (f.is_used_by(IterKind::Reduce, n))
      refuse(caller, "loop `" + program.loop(n).var.name() + "` is around more than " + what);
    // All partial results are computed before the other statements below the loops, so the
    // reduction must be the first of them.
    if (program.child_blocks(f.loops.front()).front() != f.block)
      refuse(caller, what + " is not the first block below " + describe(program, f.loops.front()) +
                         ", before which its partial results would be computed");
  }
  std::optional<ReductionBody> body = find_reduction_body(f.own());
  if (!body)
    refuse(caller,
           what +
               " is not a sum, product, minimum or maximum that starts from its identity, and uses "
               "no registered reducer");
  const bool is_outermost = outermost_reduction_loop(program, f.block) == loop;
  if (const auto law = broken_law(*body, {.regroups = true, .reorders = !is_outermost}))
    refuse(caller, "the reducer of " + what + " depends on the order of its terms: " + *law);
  f.body = std::move(*body);
  for (const Store& output : f.body.outputs)
    require_element_accesses(caller, program.stmt(f.block), output.buffer);
  require_no_conflict_between_instances(caller, program, f.block);
  // The partial results are computed before the other statements below the loops, so these must not
  // write what the reduction reads.
  if (const auto conflict =
          find_passing_conflict(program, f.block, *program.parent(f.loops.front()),
                                {.compared = Compared::ReadsWithWrites}))
    refuse(caller,
           "the partial results of " + what + " would be computed too early: it " + *conflict);
  return f;
}

/// Throws unless the predicate leaves at least one term for every partial result. Otherwise the
/// final reduction would read an uninitialized partial result.
void check_predicate(const Factoring& f) {
  arith::Facts facts;
  bind_domains(facts, domains_of(f.program, f.loops));
  VarMap first;
  for (const int n : f.loops) {
    const For& loop = f.program.loop(n);
    if (n != f.loop && f.is_used_by(IterKind::Reduce, n)) set(first, loop.var, loop.min);
  }
  for (const Expr& part : conjuncts(f.realize().predicate)) {
    const bool is_reduced = f.uses_loop(part, true), is_spatial = f.uses_loop(part, false);
    if (is_reduced && is_spatial)
      refuse(f.caller, "the predicate " + print_expr(part) + " of " + describe(f.program, f.block) +
                           " uses loops of the reduction and data loops together");
    if (is_reduced && !arith::can_prove(substitute_folding(part, first), facts))
      refuse(f.caller,
             "with the predicate " + print_expr(part) + ", some iterations of " +
                 describe(f.program, f.loop) +
                 " reduce no term, so their partial result is never initialized; split by factors "
                 "that divide the extent");
  }
}

/// Returns the elements of the partial results, one per output. Their indices are those of the
/// output and the factored iterator at position `axis`, which is counted from the end if it is
/// negative.
std::vector<Store> partial_elements(const Factoring& f, const std::vector<Buffer>& partials,
                                    int axis, const Var& factor, const VarMap& iters) {
  std::vector<Store> result;
  for (std::size_t n = 0; n < partials.size(); ++n) {
    std::vector<Expr> indices = f.body.outputs[n].indices;
    for (Expr& index : indices) index = substitute(index, iters);
    const DataType type = indices.empty() ? Int(32) : indices.front().dtype();
    const int first = axis < 0 ? static_cast<int>(indices.size()) + 1 : 0;
    indices.insert(indices.begin() + first + axis, cast(type, factor));
    result.push_back(Store{partials[n], factor, std::move(indices)});
  }
  return result;
}

/// Makes the nest that computes the partial results, in copies of all loops: block `C_rf`:
/// partial[.., vf, ..] = partial[.., vf, ..] (+) value.
Stmt partial_nest(const Factoring& f, const std::vector<Buffer>& partials, int axis) {
  const Block& own = f.own();
  const For& loop = f.program.loop(f.loop);
  std::vector<Expr> values;
  std::vector<IterVar> iters;
  VarMap iter_map, of_loop;
  const auto iter_of_loop = [&](const For& from, IterKind kind) {
    const Var var("v" + from.var.name(), from.var.dtype());
    iters.emplace_back(Range::from_min_extent(from.min, from.extent), var, kind);
    values.push_back(from.var);
    set(of_loop, from.var, var);
    return var;
  };
  const Var factor = iter_of_loop(loop, IterKind::DataParallel);
  for (std::size_t i = 0; i < own.iters.size(); ++i) {
    const IterVar& iter = own.iters[i];
    const Expr& value = f.realize().values[i];
    if (iter.kind() == IterKind::DataParallel || !uses_var(value, loop.var)) {
      const Var fresh = iter.var().fresh();
      iters.emplace_back(iter.dom(), fresh, iter.kind());
      values.push_back(value);
      set(iter_map, iter.var(), fresh);
      continue;
    }
    for (const Var& var : free_vars(value))
      if (!of_loop.contains(&var.node()))
        if (const auto n = f.program.find_loop(var))
          iter_of_loop(f.program.loop(*n), IterKind::Reduce);
    set(iter_map, iter.var(), substitute(value, of_loop));
  }
  const std::vector<Store> elements = partial_elements(f, partials, axis, factor, iter_map);
  std::vector<Expr> combined;
  for (const Expr& value : f.body.values) combined.push_back(substitute(value, iter_map));
  Block block = plain_block(own.name + "_rf", make_nop());
  block.iters = iters;
  block.annotations = own.annotations;
  // A partial result of a single term needs no reduction.
  const bool is_reduction = has_kind(block, IterKind::Reduce);
  if (is_reduction) block.init = stores_to(elements, f.body.identities);
  block.body = is_reduction ? f.body.update(elements, combined) : stores_to(elements, combined);
  Stmt realize = make_block(std::move(values), f.realize().predicate,
                            arith::with_found_access(std::move(block)));
  // The copy gets new variables, because the original block keeps the original ones.
  return fresh_copy(in_loops(f.program, f.loops, std::move(realize)));
}

/// Returns the statement with the reduction block replaced by `block`. Omits loops that only
/// reduction iterators use.
Stmt in_place_of(const Factoring& f, int n, const Stmt& block) {
  if (n == f.block) return block;
  int next = f.block;
  while (*f.program.parent(next) != n) next = *f.program.parent(next);
  const Stmt inner = in_place_of(f, next, block);
  const bool is_dropped = f.program.is_loop(n) && n != f.loop && f.is_used_by(IterKind::Reduce, n);
  if (is_dropped) return inner;
  return with_child(f.program.stmt(n), f.program.stmt(next), inner);
}

/// Makes the nest of the final reduction, in the factored loop and the loops over output elements:
/// block `C`: C[..] = C[..] (+) partial[..].
Stmt final_nest(const Factoring& f, const std::vector<Buffer>& partials, int axis) {
  const Block& own = f.own();
  const For& loop = f.program.loop(f.loop);
  const Var factor("v" + loop.var.name(), loop.var.dtype());
  std::vector<IterVar> iters{
      {Range::from_min_extent(loop.min, loop.extent), factor, IterKind::Reduce}};
  std::vector<Expr> values{loop.var};
  for (std::size_t i = 0; i < own.iters.size(); ++i) {
    if (own.iters[i].kind() != IterKind::DataParallel) continue;
    iters.push_back(own.iters[i]);
    values.push_back(f.realize().values[i]);
  }
  std::vector<Expr> combined;
  for (const Store& element : partial_elements(f, partials, axis, factor, {}))
    combined.push_back(make_load(element.buffer, element.indices));
  Block block = own;
  block.iters = std::move(iters);
  block.reads = {};
  block.body = f.body.update(f.body.outputs, combined);
  block.reads = arith::find_block_access(block).reads;
  // Keeps the conditions of the predicate that do not use reduction loops.
  Expr predicate = make_true();
  for (const Expr& part : conjuncts(f.realize().predicate))
    if (!f.uses_loop(part, true)) predicate = both(predicate, part);
  return in_place_of(f, f.loops.front(),
                     make_block(std::move(values), predicate, std::move(block)));
}

}  // namespace

NewBlock rfactor(const Program& program, int loop, int factor_axis, SourceLocation where) {
  const Caller caller{"rfactor", where};
  const Factoring f = check(caller, program, loop);
  check_predicate(f);
  std::vector<Buffer> partials;
  for (const Store& output : f.body.outputs) {
    const Buffer& whole = output.buffer;
    const int rank = whole->rank();
    if (factor_axis < -(rank + 1) || factor_axis > rank)
      refuse(caller, "factor_axis is " + std::to_string(factor_axis) + "; buffer `" + whole->name +
                         "` has " + std::to_string(rank) + " dimensions, so it must be " +
                         std::to_string(-(rank + 1)) + " to " + std::to_string(rank));
    std::vector<Expr> shape = whole->shape;
    shape.insert(shape.begin() + (factor_axis < 0 ? factor_axis + rank + 1 : factor_axis),
                 program.loop(loop).extent);
    partials.push_back(
        decl_buffer(shape, whole->dtype,
                    {.name = whole->name + ".rf", .scope = std::string(to_string(whole.scope()))}));
  }
  const Stmt first = partial_nest(f, partials, factor_axis);
  const Stmt second = final_nest(f, partials, factor_axis);
  const int top = f.loops.front();
  const int scope = *program.scope(f.block);
  const Program replaced(program.with(top, make_seq({first, second})));
  PrimFunc func = with_allocations(replaced, scope, partials);
  // Finds the partial block by its writes, because fresh_copy has replaced its id.
  const Program final(func);
  int found = scope;
  for (const int n : final.child_blocks(scope))
    if (mentions(final.block(n).writes, partials.front())) found = n;
  require_independent_around(caller, final, found);
  return {std::move(func), final.block(found).id};
}

}  // namespace tenon::s_tir
