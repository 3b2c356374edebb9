#include <algorithm>

#include "s_tir/order_checks.h"
#include "s_tir/primitives/loops.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Returns the chain of loops from the outermost to the innermost of the given loops. Throws unless
/// the chain is perfectly nested.
std::vector<int> chain_of(const Caller& caller, const Program& program,
                          const std::vector<int>& loops) {
  const int bottom = *std::ranges::max_element(loops);
  const int top = *std::ranges::min_element(loops);
  std::vector<int> chain{bottom};
  while (chain.back() != top) {
    const std::optional<int> outer = program.outer(chain.back());
    if (!outer || !program.is_loop(*outer) || *outer < top)
      refuse(caller, describe(program, bottom) + " is not below " + describe(program, top) +
                         ": the loops must be around the same block");
    if (!program.loop(*outer).body.same_as(program.stmt(chain.back())))
      refuse(caller, describe(program, *outer) + " contains other statements than " +
                         describe(program, chain.back()) +
                         ": between the loops there must be nothing else");
    chain.push_back(*outer);
  }
  std::ranges::reverse(chain);
  for (const int loop : loops)
    if (std::ranges::find(chain, loop) == chain.end())
      refuse(caller, describe(program, loop) + " is not around " + describe(program, bottom) +
                         ": the loops must be around the same block");
  return chain;
}

}  // namespace

PrimFunc reorder(const Program& program, const std::vector<int>& loops, SourceLocation where) {
  const Caller caller{"reorder", where};
  if (loops.empty()) refuse(caller, "no loops are given");
  for (std::size_t n = 0; n < loops.size(); ++n)
    if (std::ranges::count(loops, loops[n]) > 1)
      refuse(caller, describe(program, loops[n]) + " is given twice");
  const std::vector<int> chain = chain_of(caller, program, loops);
  std::vector<int> order;
  auto next = loops.begin();
  for (const int loop : chain) {
    const bool is_moved = std::ranges::find(loops, loop) != loops.end();
    order.push_back(is_moved ? *next++ : loop);
  }
  if (order == chain) return program.func();
  for (const int loop : chain) require_stable_range(caller, program, loop);
  for (std::size_t n = 0; n < order.size(); ++n)
    for (std::size_t m = n + 1; m < order.size(); ++m) {
      const For &outer = program.loop(order[n]), &inner = program.loop(order[m]);
      if (uses_var(outer.extent, inner.var) || uses_var(outer.min, inner.var))
        refuse(caller, "the range of loop `" + outer.var.name() + "` depends on loop `" +
                           inner.var.name() + "`, which would be inside of it");
    }
  if (const auto conflict = reversed_by_reordering(program, chain, order))
    refuse(caller, describe(program, chain.front()) + ": in that order, an iteration " + *conflict +
                       " in one that would run on the other side of it");
  PrimFunc result =
      program.with(chain.front(), in_loops(program, order, program.loop(chain.back()).body));
  const Program after(result);
  // A concurrent loop may now enclose more accesses.
  require_independent_around(caller, after, chain.front());
  return result;
}

}  // namespace tenon::s_tir
