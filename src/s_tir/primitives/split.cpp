#include <algorithm>

#include "s_tir/context.h"
#include "s_tir/iter_map.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Maximum length of the name of a fused loop; longer names do not list all the loops.
constexpr std::size_t kMaxFusedName = 128;

/// Throws if a loop variable of the type cannot represent the iteration count.
void require_counted(const Caller& caller, const std::string& what, DataType type,
                     std::optional<std::int64_t> count) {
  if (count && *count <= *constant_int(max_value(type))) return;
  refuse(caller, what + " is " + (count ? std::to_string(*count) : "beyond 64 bits") +
                     ", more than a loop variable of type " + type.str() + " can count");
}

/// Returns the factors, with a missing one inferred from the extent.
std::vector<Expr> complete_factors(const Caller& caller, const Program& program, int n,
                                   const std::vector<std::optional<std::int64_t>>& factors) {
  const For& loop = program.loop(n);
  const DataType type = loop.var.dtype();
  std::int64_t known = 1;
  int absent = 0;
  for (const std::optional<std::int64_t>& factor : factors) {
    if (!factor) {
      ++absent;
      continue;
    }
    if (*factor <= 0)
      refuse(caller, describe(program, n) + ": a factor is " + std::to_string(*factor) +
                         "; factors are 1 or more");
    require_counted(caller, describe(program, n) + ": the product of the factors", type,
                    product(known, *factor));
    known *= *factor;
  }
  if (factors.empty()) refuse(caller, describe(program, n) + ": no factors are given");
  if (absent > 1)
    refuse(caller, describe(program, n) + ": " + std::to_string(absent) +
                       " factors are unspecified; at most one may be");
  Expr rest = make_int(type, 1);
  if (const std::optional<std::int64_t> extent = constant_int(loop.extent); absent && extent) {
    const std::int64_t count = *extent / known + (*extent % known > 0 ? 1 : 0);
    require_counted(caller, describe(program, n) + ": the product of the factors", type,
                    product(count, known));
    rest = make_int(type, count);
  } else if (absent) {
    rest = arith::simplify(floordiv(loop.extent + (known - 1), make_int(type, known)));
  }
  std::vector<Expr> result;
  for (const std::optional<std::int64_t>& factor : factors)
    result.push_back(factor ? make_int(type, *factor) : rest);
  return result;
}

// Simplification of binding values after loops are split or fused. If the values are sums of digits
// of the loops, they are printed as in TVM: most significant digit first.

/// Simplifies the bindings of the outermost blocks in the statement. `around`: the enclosing loops.
/// If `preserve_unit_iters`, loops of one iteration are digits too.
Stmt simplify_bindings(const Stmt& s, std::vector<LoopDomain> around, bool preserve_unit_iters) {
  if (const BlockRealize* realize = s.as<BlockRealize>()) {
    const auto map =
        find_iter_map(realize->values, around, realize->predicate,
                      preserve_unit_iters ? DigitForm::AsWritten : DigitForm::WithoutUnits);
    if (!map) return s;
    BlockRealize next = *realize;
    for (std::size_t n = 0; n < next.values.size(); ++n) {
      const Expr value = cast(next.values[n].dtype(), to_expr(*map, map->values[n]));
      if (!structural_equal(value, next.values[n])) next.values[n] = value;
    }
    return make_stmt(std::move(next));
  }
  if (const For* loop = s.as<For>()) around.push_back({loop->var, loop->min, loop->extent});
  return map_statements(
      s, [&](const Stmt& child) { return simplify_bindings(child, around, preserve_unit_iters); });
}

/// Whether the statement accesses memory outside the blocks that it contains.
bool accesses_directly(const Stmt& s) {
  bool is_leaf = true, loads_itself = false;
  for_each_child(
      s, [&](const Expr& e) { loads_itself = loads_itself || contains<Load>(e); },
      [&](const Stmt&) { is_leaf = false; });
  return is_leaf || loads_itself;
}

/// Returns the statement with a condition added to the predicates of the blocks directly below it.
Stmt add_predicate(const Stmt& s, const Expr& condition) {
  if (const BlockRealize* realize = s.as<BlockRealize>()) {
    BlockRealize next = *realize;
    // The predicate may read elements that exist only if the condition holds, so the condition must
    // be evaluated first.
    next.predicate = contains<Load>(next.predicate) ? both(condition, next.predicate)
                                                    : both(next.predicate, condition);
    return make_stmt(std::move(next));
  }
  if (accesses_directly(s)) return make_stmt(If{condition, s, std::nullopt});
  return map_statements(s, [&](const Stmt& child) { return add_predicate(child, condition); });
}

}  // namespace

void require_plain_loop(const Caller& caller, const Program& program, int n) {
  const For& loop = program.loop(n);
  const LoopTraits& traits = traits_of(loop);
  if (traits.thread)
    refuse(caller, describe(program, n) + " is bound to " + traits.thread->str() + "; " +
                       std::string(caller.primitive) + " it before it is bound");
  if (!traits.annotations.empty())
    refuse(caller, describe(program, n) + " has the annotation `" +
                       traits.annotations.begin()->first + "`, which would be lost; " +
                       std::string(caller.primitive) + " it before it is annotated");
  if (!is_zero(loop.min)) refuse(caller, describe(program, n) + " does not start at 0");
}

void require_stable_range(const Caller& caller, const Program& program, int n) {
  for (const Expr& part : {program.loop(n).min, program.loop(n).extent})
    walk(part, [&](const Load& load) {
      for (const int writer : writers_below(program, n, load.buffer))
        refuse(caller, "the range of " + describe(program, n) + " is `" + print_expr(part) +
                           "`, and " + describe(program, writer) +
                           ", which the loop runs, writes `" + load.buffer->name + "`");
    });
}

NewLoops split(const Program& program, int n,
               const std::vector<std::optional<std::int64_t>>& factors, const SplitOptions& options,
               SourceLocation where) {
  const Caller caller{"split", where};
  require_plain_loop(caller, program, n);
  require_stable_range(caller, program, n);
  const For& loop = program.loop(n);
  const std::vector<Expr> extents = complete_factors(caller, program, n, factors);
  const bool is_covered = std::ranges::any_of(factors, [](const auto& factor) { return !factor; });
  arith::Facts facts;
  bind_domains(facts, domains_around(program, n));
  std::vector<Var> vars;
  std::vector<LoopDomain> loops;
  Expr value = make_int(loop.var.dtype(), 0), product = make_int(loop.var.dtype(), 1);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    vars.push_back(loop.var.fresh(loop.var.name() + "_" + std::to_string(i)));
    value = value * extents[i] + vars.back();
    product = product * extents[i];
    loops.push_back({vars.back(), make_int(loop.var.dtype(), 0), extents[i]});
  }
  bind_domains(facts, loops);
  if (!is_covered && !arith::can_prove(product >= loop.extent, facts))
    refuse(caller, describe(program, n) + " has " + print_expr(loop.extent) +
                       " iterations, and the product of the factors is only " +
                       print_expr(arith::simplify(product)));
  VarMap map;
  set(map, loop.var, value);
  Stmt body = substitute(loop.body, map);
  const Expr guard = value < loop.extent;
  if (!arith::can_prove(guard, facts)) {
    if (options.disable_predication)
      refuse(
          caller,
          describe(program, n) +
              ": the factors do not divide the extent, so a guard is needed (disable_predication)");
    body = add_predicate(body, guard);
  }
  body = in_loops(loops, body);
  body = simplify_bindings(body, domains_around(program, n), options.preserve_unit_iters);
  return {program.with(n, body), std::move(vars)};
}

NewLoops fuse(const Program& program, const std::vector<int>& loops, const FuseOptions& options,
              SourceLocation where) {
  const Caller caller{"fuse", where};
  if (loops.empty()) refuse(caller, "no loops are given");
  for (const int n : loops) {
    require_plain_loop(caller, program, n);
    require_stable_range(caller, program, n);
  }
  for (std::size_t i = 1; i < loops.size(); ++i) {
    const For &outer = program.loop(loops[i - 1]), &inner = program.loop(loops[i]);
    if (!outer.body.same_as(program.stmt(loops[i])))
      refuse(caller, describe(program, loops[i]) + " is not the only statement of " +
                         describe(program, loops[i - 1]) +
                         "; a loop can only be fused with a loop that is its whole body");
    for (std::size_t k = 0; k < i; ++k)
      if (const Var& var = program.loop(loops[k]).var; uses_var(inner.extent, var))
        refuse(caller, "the extent of " + describe(program, loops[i]) + " depends on loop `" +
                           var.name() + "`");
  }
  std::string name;
  const For &first = program.loop(loops.front()), &last = program.loop(loops.back());
  DataType type = first.var.dtype();
  for (const int n : loops) {
    name += program.loop(n).var.name() + "_";
    if (program.loop(n).var.dtype().bits > type.bits) type = program.loop(n).var.dtype();
  }
  std::optional<std::int64_t> count = 1;
  for (const int n : loops)
    if (const auto extent = constant_int(program.loop(n).extent); extent && count)
      count = product(*count, std::max<std::int64_t>(*extent, 1));
  require_counted(caller, describe(program, loops.front()) + ": the number of fused iterations",
                  type, count);
  if (name.size() > kMaxFusedName) name = first.var.name() + "_";
  const Var fused(name + "fused", type);
  VarMap map;
  Expr lower = make_int(type, 1);
  bool runs = true;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const For& loop = program.loop(loops[i]);
    const bool is_empty = constant_int(loop.extent).value_or(1) < 1;
    const Expr upper = is_empty ? lower : lower * loop.extent;
    const Expr digits = i == 0 ? Expr(fused) : floormod(fused, upper);
    const bool is_unit = is_empty || is_one(loop.extent);
    set(map, loop.var,
        cast(loop.var.dtype(), is_unit ? make_int(type, 0) : floordiv(digits, lower)));
    lower = upper;
    runs = runs && !is_empty;
  }
  const Expr extent = runs ? arith::simplify(lower) : make_int(type, 0);
  Stmt body =
      make_stmt(For{fused, make_int(type, 0), extent, ForKind::Serial, substitute(last.body, map)});
  body =
      simplify_bindings(body, domains_around(program, loops.front()), options.preserve_unit_iters);
  return {program.with(loops.front(), body), {fused}};
}

}  // namespace tenon::s_tir
