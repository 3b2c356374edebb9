#include <algorithm>
#include <ranges>

#include "s_tir/context.h"
#include "s_tir/instances.h"
#include "s_tir/iter_map.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/buffers.h"
#include "s_tir/primitives/init_block.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

// ---- division of values -------------------------------------------------------------------------

// Divides iterator values into the contributions of loops outside and inside of a node.
//
//    value i_0 * 8 + i_1, with the loop i_1 inside: outer = i_0, inner = i_1, inner_extent = 8

/// The value of an iterator, which is outer * inner_extent + inner + base. The base is 0 unless the
/// value has an inner part.
struct Division {
  tir::Expr outer = 0, inner = 0, base = 0;
  /// The minimum of `inner`.
  tir::Expr inner_min = 0;
  tir::Expr outer_extent = 1, inner_extent = 1;
  bool is_all_outer() const { return tir::is_one(inner_extent); }
  bool is_all_inner() const { return tir::is_one(outer_extent); }
};

struct DividedValues {
  std::vector<Division> values;
  /// The bounds of the map's numbers (see iter_map.h), as predicates of the outer and of the inner
  /// block. Each bounded number consists only of outer or only of inner loops.
  tir::Expr outer_predicate, inner_predicate;
};

/// Returns the division of a digit; nullopt if it cannot be divided. The first `outer_loops`
/// sources of the map are outer loops. Adds the bounds of numbers to the predicates of `divided`.
std::optional<Division> divide_digit(const IterMap& map, std::size_t outer_loops,
                                     const Digit& digit, DividedValues& divided);

/// Divides a number (see iter_map.h). Its outer digits must be more significant than its inner
/// digits.
std::optional<Division> divide_number(const IterMap& map, std::size_t outer_loops,
                                      const DigitSum& sum, std::int64_t number_extent,
                                      DividedValues& divided) {
  std::vector<Division> parts;
  for (const Digit& digit : sum.digits) {
    const std::optional<Division> part = divide_digit(map, outer_loops, digit, divided);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  Division result;
  bool is_inner_run = true;
  std::int64_t inner = 1, outer = 1;
  std::vector<std::pair<Expr, std::int64_t>> inner_terms, outer_terms;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->is_all_inner() && (is_inner_run || !part->is_all_outer())) {
      if (!is_inner_run) return std::nullopt;
      inner_terms.emplace_back(part->inner, inner);
      inner *= constant_int(part->inner_extent).value_or(0);
    } else if (part->is_all_outer()) {
      is_inner_run = false;
      outer_terms.emplace_back(part->outer, outer);
      outer *= constant_int(part->outer_extent).value_or(0);
    } else {
      return std::nullopt;
    }
  }
  const auto total = [](const std::vector<std::pair<Expr, std::int64_t>>& terms) {
    std::optional<Expr> sum_of_terms;
    for (const auto& [term, weight] : std::views::reverse(terms)) {
      const Expr e = fold(BinaryOp::Mul, term, make_int(term.dtype(), weight));
      sum_of_terms = sum_of_terms ? *sum_of_terms + e : e;
    }
    return sum_of_terms.value_or(Expr(0));
  };
  result.inner = total(inner_terms);
  result.outer = total(outer_terms);
  result.inner_extent = inner;
  result.outer_extent = outer;
  if (inner * outer == number_extent) return result;
  // A bounded number must consist only of outer or only of inner loops. Its bound becomes part of
  // the predicate of the outer or the inner block.
  const bool is_outer = inner_terms.empty();
  if (!is_outer && !outer_terms.empty()) return std::nullopt;
  Expr& predicate = is_outer ? divided.outer_predicate : divided.inner_predicate;
  const Expr bound = (is_outer ? result.outer : result.inner) < Expr(number_extent);
  if (!has_equal(conjuncts(predicate), bound)) predicate = both(predicate, bound);
  (is_outer ? result.outer_extent : result.inner_extent) = number_extent;
  return result;
}

std::optional<Division> divide_digit(const IterMap& map, std::size_t outer_loops,
                                     const Digit& digit, DividedValues& divided) {
  const Mark& mark = map.marks[digit.mark];
  bool is_inner = false;
  if (const DigitSum* sum = std::get_if<DigitSum>(&mark.source)) {
    const bool counts_down = sum->digits.front().scale < 0;
    const bool is_whole = digit.lower == 1 && digit.extent == mark.extent && !counts_down;
    const std::optional<Division> whole =
        counts_down ? divide_digit(map, outer_loops, sum->digits.front(), divided)
                    : divide_number(map, outer_loops, *sum, mark.extent, divided);
    if (!whole || is_whole) return whole;
    // If the value uses only a digit of the number, or counts the number down, the number must
    // consist only of outer or only of inner loops.
    is_inner = !whole->is_all_outer();
    if (is_inner && !whole->is_all_inner()) return std::nullopt;
  } else {
    if (digit.extent == kUnknownExtent) return std::nullopt;
    is_inner = static_cast<std::size_t>(digit.mark) >= outer_loops;
  }
  Digit plain = digit;
  plain.scale = 1;
  Division result;
  (is_inner ? result.inner : result.outer) = to_expr(map, plain);
  (is_inner ? result.inner_extent : result.outer_extent) =
      digit.extent == kUnknownExtent ? Expr(0) : Expr(digit.extent);
  return result;
}

/// Divides each value of an iteration map into digits of outer loops and digits of inner loops (see
/// iter_map.h). Returns nullopt if a value cannot be divided.
std::optional<DividedValues> divide_values(const IterMap& map, std::size_t outer_loops) {
  DividedValues result{{}, make_true(), make_true()};
  for (const DigitSum& value : map.values) {
    Division& division = result.values.emplace_back();
    if (value.digits.empty()) {
      division.outer = value.base;
      continue;
    }
    if (value.digits.size() > 1 || value.digits.front().scale != 1) return std::nullopt;
    const auto digits = divide_digit(map, outer_loops, value.digits.front(), result);
    if (!digits) return std::nullopt;
    division = *digits;
    Expr& part = division.is_all_outer() ? division.outer : division.base;
    if (!is_zero(value.base)) part = part + value.base;
  }
  return result;
}

// ---- the primitive ------------------------------------------------------------------------------

struct Blockizing {
  const Program& program;
  Caller caller;
  int block;
  std::vector<int> outer, inner;
  const BlockRealize& realize() const { return program.realize(block); }
  const Block& own() const { return *realize().block; }
  bool uses(const Expr& e, const std::vector<int>& loops) const {
    return uses_any(e, domains_of(program, loops));
  }
};

/// Divides values that each use only outer or only inner loops. Such values need not be sums of
/// digits.
std::optional<std::vector<Division>> divide_trivially(const Blockizing& b) {
  if (!is_true(b.realize().predicate)) return std::nullopt;
  std::vector<Division> result;
  for (std::size_t i = 0; i < b.realize().values.size(); ++i) {
    const Expr& value = b.realize().values[i];
    const Expr& extent = b.own().iters[i].dom()->extent;
    const bool is_outer = b.uses(value, b.outer), is_inner = b.uses(value, b.inner);
    if (is_outer && is_inner) return std::nullopt;
    Division division;
    if (is_outer) {
      division.outer = value;
      division.outer_extent = extent;
    } else if (is_inner && is_one(extent)) {
      division.outer = b.own().iters[i].dom()->min;
    } else if (is_inner) {
      division.inner = value;
      division.inner_min = b.own().iters[i].dom()->min;
      division.inner_extent = extent;
    } else if (!is_zero(value)) {
      division.outer = value;
      division.outer_extent = extent;
    }
    result.push_back(division);
  }
  return result;
}

/// Adds the conditions of the predicate that `map` does not express: those that shorten a loop or
/// select one iteration, and those that use no loop.
void keep_conditions(const Blockizing& b, const std::vector<int>& loops, const IterMap& map,
                     DividedValues& divided) {
  const std::vector<std::int64_t> count = told_apart(map);
  for (const Expr& part : conjuncts(b.realize().predicate)) {
    bool is_lost = !b.uses(part, loops);
    for (std::size_t n = 0; n < loops.size(); ++n) {
      const For& loop = b.program.loop(loops[n]);
      const bool is_shortened =
          constant_int(loop.extent) && *constant_int(loop.extent) != map.marks[n].extent;
      const bool is_unused = !is_one(loop.extent) && count[n] == 1;
      is_lost = is_lost || ((is_shortened || is_unused) && uses_var(part, loop.var));
    }
    if (!is_lost) continue;
    const bool is_outer = b.uses(part, b.outer), is_inner = b.uses(part, b.inner);
    if (is_outer && is_inner)
      refuse(b.caller, "the predicate " + print_expr(part) + " of " + describe(b.program, b.block) +
                           " uses both loops outside of " + describe(b.program, b.inner.front()) +
                           " and loops inside");
    Expr& own = is_inner ? divided.inner_predicate : divided.outer_predicate;
    own = both(own, part);
  }
}

DividedValues divide(const Blockizing& b) {
  std::vector<int> loops = b.outer;
  loops.insert(loops.end(), b.inner.begin(), b.inner.end());
  const auto by_digits = [&](DigitForm form) -> std::optional<DividedValues> {
    const auto map = find_iter_map(b.realize().values, domains_of(b.program, loops),
                                   b.realize().predicate, form);
    if (!map) return std::nullopt;
    auto divided = divide_values(*map, b.outer.size());
    if (divided) keep_conditions(b, loops, *map, *divided);
    return divided;
  };
  if (auto divided = by_digits(DigitForm::WithoutUnits)) return *std::move(divided);
  if (const auto trivial = divide_trivially(b)) return {*trivial, make_true(), make_true()};
  if (auto divided = by_digits(DigitForm::Reduced)) return *std::move(divided);
  refuse(b.caller, "the values of the iterators of " + describe(b.program, b.block) +
                       " cannot be divided into a part outside of " +
                       describe(b.program, b.inner.front()) + " and a part inside");
}

BufferRegion relaxed_region(const BufferRegion& region, const arith::IntervalMap& relaxed,
                            const arith::Facts& facts) {
  BufferRegion result = region;
  for (std::size_t d = 0; d < region.region.size(); ++d) {
    const Range& range = region.region[d];
    const auto own = arith::Interval::of(range.min, arith::simplify(range.min + range.extent - 1));
    const Range whole = Range::from_extent(region.buffer->shape[d]);
    const arith::Interval all = arith::values_of(own, relaxed, facts);
    result.region[d] = all.is_bounded() ? all.to_range(whole, facts) : whole;
    result.region[d] = arith::range_by_ends(result.region[d]);
  }
  return result;
}

Blockizing collect(const Caller& caller, const Program& program, int loop) {
  const std::vector<int> blocks = program.child_blocks(loop);
  if (blocks.size() != 1)
    refuse(caller, describe(program, loop) + " is around " + std::to_string(blocks.size()) +
                       " blocks; only a loop around one block can become a block");
  Blockizing b{program, caller, blocks.front(), {}, {}};
  for (const int n : program.loops_of(b.block)) {
    (n < loop ? b.outer : b.inner).push_back(n);
    if (n >= loop && parts_of(program.loop(n).body).size() != 1)
      refuse(caller, describe(program, n) + " is around other statements as well");
    if (n >= loop && constant_int(program.loop(n).extent).value_or(1) < 1)
      refuse(caller, describe(program, n) + " has no iterations, so that no block would run");
  }
  require_own_domains(caller, program, b.block, *program.scope(b.block));
  require_replaceable_iterators(caller, program, b.block);
  require_unconditional(caller, program, b.block, loop);
  for (const int n : b.inner)
    for (const int other : program.loops_of(b.block)) {
      const Var& var = program.loop(other).var;
      if ((other < loop || b.own().init) &&
          (uses_var(program.loop(n).min, var) || uses_var(program.loop(n).extent, var)))
        refuse(caller,
               "the range of " + describe(program, n) + " depends on loop `" + var.name() + "`");
    }
  // The new block evaluates its bindings and its conditions only once, so no loop inside it may
  // change what they read.
  require_read_by_blocks(caller, program, b.block, loop);
  if (b.own().init) {
    require_begun(caller, program, b.block);
    require_init_passes(caller, program, b.block, loop);
  }
  return b;
}

}  // namespace

NewBlock blockize(const Program& program, int loop, SourceLocation where) {
  const Caller caller{"blockize", where};
  const Blockizing b = collect(caller, program, loop);
  const Block& own = b.own();
  const DividedValues divided = divide(b);
  std::vector<IterVar> outer_iters, inner_iters;
  std::vector<Expr> outer_values, inner_values;
  VarMap map;
  arith::Facts facts;
  arith::IntervalMap relaxed;
  for (std::size_t i = 0; i < own.iters.size(); ++i) {
    const IterVar& iter = own.iters[i];
    const Division& division = divided.values[i];
    const DataType type = iter.var().dtype();
    const auto number = [&](const Expr& e) { return cast(type, e); };
    outer_values.push_back(number(division.outer));
    if (division.is_all_outer()) {
      outer_iters.push_back(iter);
      continue;
    }
    const Var outside = iter.var().fresh(iter.name() + "_o");
    outer_iters.emplace_back(
        Range::from_min_extent(make_int(type, 0), number(division.outer_extent)), outside,
        iter.kind());
    const Range range =
        Range::from_min_extent(number(division.inner_min), number(division.inner_extent));
    const bool is_begun =
        arith::can_prove_equal(division.inner_min + division.base, iter.dom()->min);
    if (own.init && iter.kind() == IterKind::Reduce && !is_begun)
      refuse(caller, "iterator `" + iter.name() + "` of " + describe(program, b.block) +
                         " does not take the minimum value of its domain, so no init runs");
    const Var inside = iter.var().fresh();
    inner_iters.emplace_back(range, inside, iter.kind(), iter.thread());
    inner_values.push_back(number(division.inner));
    facts.bind(inside, range);
    relaxed.set(inside, arith::Interval::from_range(range));
    const Expr base =
        is_one(division.outer_extent) ? make_int(type, 0) : outside * number(division.inner_extent);
    set(map, iter.var(),
        fold(BinaryOp::Add, fold(BinaryOp::Add, base, inside), number(division.base)));
  }
  const auto index = [&](const Expr& e) {
    const Expr result = substitute(e, map);
    return result.same_as(e) ? e : arith::simplify(result, facts);
  };
  // Simplifies only index and boolean expressions; arithmetic on elements is unchanged.
  const std::function<Expr(const Expr&)> value = [&](const Expr& e) {
    if (e.dtype().is_index() || e.dtype().is_bool()) return index(e);
    return map_children(e, value);
  };
  Block inner = with_mapped_parts(own, value, index);
  inner.iters = inner_iters;
  Block outer = plain_block(own.name + "_o", make_nop());
  outer.iters = outer_iters;
  for (const BufferRegion& region : inner.reads)
    outer.reads.push_back(relaxed_region(region, relaxed, facts));
  for (const BufferRegion& region : inner.writes)
    outer.writes.push_back(relaxed_region(region, relaxed, facts));
  const auto nest = [&](const Block& block) {
    return in_loops(program, b.inner, make_block(inner_values, divided.inner_predicate, block));
  };
  // Adds the reads by bindings, predicates and loop ranges inside the new block.
  Block empty = inner;
  empty.reads = empty.writes = {};
  outer.body = nest(empty);
  for (BufferRegion& region : arith::find_block_access(outer).reads)
    outer.reads.push_back(std::move(region));
  if (own.init) {
    std::tie(outer.init, std::ignore, inner) =
        separate_init(caller, program, b.block, /*is_before=*/false, inner, inner_values,
                      conjuncts(divided.inner_predicate), b.inner);
  }
  outer.body = nest(inner);
  return {program.with(loop, make_block(outer_values, divided.outer_predicate, outer)), outer.id};
}

}  // namespace tenon::s_tir
