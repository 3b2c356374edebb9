#include <algorithm>

#include "s_tir/context.h"
#include "s_tir/instances.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;
using arith::Interval;

namespace {

// ---- iterator domains ---------------------------------------------------------------------------

// Computes the domains of the iterators of a block that is moved below a loop around its consumers
// or producers.

/// The values that an iterator must take to cover the accessed box of a buffer (`needed`), and the
/// values that it may take (`allowed`).
using IterDomain = std::pair<std::optional<Interval>, std::optional<Interval>>;

/// The block to move, and its destination.
struct Move {
  const Program& program;
  Caller caller;
  /// Whether the block moves to its consumers (compute_at), or to its producers.
  bool is_producer;
  int block;
  int loop;
  const ComputeAtOptions& options;

  const tir::BlockRealize& realize() const { return program.realize(block); }
  const tir::Block& own() const { return *realize().block; }
  std::string what() const { return describe(program, block); }
  /// Returns the innermost statement around both the block and the loop.
  int top() const { return program.common(block, loop); }
  /// Returns the blocks below the loop that determine what the block has to compute there.
  std::vector<int> required() const {
    return is_producer ? consumers(program, block) : producers(program, block);
  }
  /// Returns the instances of the block that run before the move.
  std::optional<InstanceSet> instances() const { return instances_of(program, block, top()); }
};

/// The index of an iterator, and its values; nullopt if any value may be required.
using Solved = std::pair<std::size_t, std::optional<Interval>>;

/// Whether the threads of the loop share memory of this scope. The block must then cover what all
/// threads require.
bool is_shared_over(const For& loop, StorageScope scope) {
  const std::optional<ThreadTag>& thread = traits_of(loop).thread;
  return thread && !thread->is_virtual() && is_shared_along(scope, *thread);
}

/// Returns the box of a buffer that the blocks `required` access in one iteration of the loop. Its
/// bounds are evaluated at the new position of the moved block. A bound that reads memory is
/// therefore unknown if that memory may change before the access, or if a condition may protect the
/// read.
std::vector<Interval> required_box(const Move& move, const std::vector<int>& required,
                                   const Buffer& buffer, const arith::Facts& facts) {
  const arith::WrittenMemory memory(
      make_seq({move.program.stmt(move.block), move.program.stmt(move.loop)}));
  std::vector<std::vector<Interval>> boxes(buffer->shape.size());
  for (const int n : required) {
    const std::optional<Expr> condition = condition_below(move.program, n, move.loop);
    const bool is_always = condition && is_true(*condition);
    const auto is_known = [&](const std::optional<Expr>& e) {
      return e && memory.is_stable(*e) && (is_always || !contains<Load>(*e));
    };
    const auto is_shared = [&](const For& loop) {
      return move.is_producer && is_shared_over(loop, buffer.scope());
    };
    const arith::IntervalMap relaxed = relaxed_below(move.program, n, move.loop, is_shared);
    const VarMap bindings = bindings_of(move.program.realize(n));
    const Block& other = move.program.block(n);
    for (const BufferRegion& region : move.is_producer ? other.reads : other.writes) {
      if (!region.buffer.same_as(buffer)) continue;
      for (std::size_t d = 0; d < region.region.size(); ++d) {
        const Range own = substitute(region.region[d], bindings);
        const Interval side = arith::values_of(Interval::from_range(own), relaxed, facts);
        boxes[d].push_back(is_known(side.min()) && is_known(side.max()) ? side
                                                                        : Interval::everything());
      }
    }
  }
  std::vector<Interval> result;
  for (const std::vector<Interval>& box : boxes)
    result.push_back(box.empty() ? Interval::empty() : arith::hull(box, facts));
  return result;
}

/// Returns the values of an iterator for which the block's access intersects the interval
/// `required`. The access is one-dimensional: an element `v`, `v + c`, `c - v`, `v // c` or `v %
/// c`, or a tile that begins at `v * c` or `v // c`. `c` is positive and does not depend on
/// iterators of the block. Nullopt if the access does not use an iterator.
std::optional<Solved> solve(const Move& move, const Range& provided, const Interval& required,
                            const arith::Facts& facts) {
  const auto uses_iter = [&](const Expr& e) {
    return std::ranges::any_of(move.own().iters,
                               [&](const IterVar& iter) { return uses_var(e, iter.var()); });
  };
  const auto iter_of = [&](const Expr& e) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < move.own().iters.size(); ++i)
      if (e.same_as(move.own().iters[i].var())) return i;
    return std::nullopt;
  };
  const Expr begin = arith::simplify(provided.min, facts);
  const auto map = [&](auto&& low, auto&& high) {
    if (!required.min() || !required.max()) return Interval::everything();
    return Interval::of(low(*required.min()), high(*required.max()));
  };
  const auto same = [](const Expr& e) { return e; };
  const bool is_element = is_one(arith::simplify(provided.extent, facts));
  if (!uses_iter(begin) && !uses_iter(provided.extent)) return std::nullopt;
  if (const auto iter = iter_of(begin); iter && is_element) return Solved{*iter, map(same, same)};
  // The other operand of a sum or difference, if it uses no iterators.
  for (std::size_t i = 0; is_element && i < move.own().iters.size(); ++i) {
    const Var& own = move.own().iters[i].var();
    if (!uses_var(begin, own)) continue;
    const Expr offset = arith::simplify(begin - own, facts),
               end = arith::simplify(begin + own, facts);
    if (!uses_iter(offset)) {
      const auto back = [&](const Expr& e) { return e - offset; };
      return Solved{i, map(back, back)};
    }
    if (!uses_iter(end)) {
      if (!required.min() || !required.max()) return Solved{i, Interval::everything()};
      return Solved{i, Interval::of(end - *required.max(), end - *required.min())};
    }
  }
  if (const Binary* binary = begin.as<Binary>(); binary && !uses_iter(provided.extent)) {
    const auto left = iter_of(binary->a), right = iter_of(binary->b);
    const Expr& factor = left ? binary->b : binary->a;
    const bool is_scale = !uses_iter(factor) && arith::can_prove(factor > 0, facts);
    if (is_scale && binary->op == BinaryOp::Mul && (left || right)) {
      const auto first = [&](const Expr& e) {
        return floordiv(e - max(provided.extent - factor, 0), factor);
      };
      return Solved{left ? *left : *right,
                    map(first, [&](const Expr& e) { return floordiv(e, factor); })};
    }
    if (is_scale && left && binary->op == BinaryOp::FloorDiv)
      return Solved{*left, map([&](const Expr& e) { return (e - provided.extent + 1) * factor; },
                               [&](const Expr& e) { return e * factor + factor - 1; })};
    if (left && binary->op == BinaryOp::FloorMod) return Solved{*left, std::nullopt};
  }
  refuse(move.caller, move.what() + " touches [" + print_expr(begin) + ", " +
                          print_expr(provided.extent) + " more] in a dimension of a buffer, from " +
                          "which the values of its iterators cannot be determined");
}

void add(std::optional<Interval>& set, const std::optional<Interval>& more,
         const arith::Facts& facts) {
  if (!more) return;
  set = set ? arith::hull({*set, *more}, facts) : *more;
}

Interval simplified(const Interval& set, const arith::Facts& facts) {
  if (!set.is_bounded()) return set;
  return Interval::of(arith::simplify(*set.min(), facts), arith::simplify(*set.max(), facts));
}

bool same_ends(const Interval& a, const Interval& b, const arith::Facts& facts) {
  return a.is_bounded() && b.is_bounded() && arith::can_prove_equal(*a.min(), *b.min(), facts) &&
         arith::can_prove_equal(*a.max(), *b.max(), facts);
}

/// Intersects the required values with the allowed values. Removes `allowed` if it does not
/// restrict the required values.
void settle(IterDomain& domain, const Range& whole, const arith::Facts& facts) {
  auto& [needed, allowed] = domain;
  const Interval own = Interval::from_range(whole);
  allowed = allowed ? arith::intersect(*allowed, own, facts) : own;
  if (!needed) {
    needed = simplified(*allowed, facts);
    allowed = std::nullopt;
    return;
  }
  needed = simplified(*needed, facts);
  allowed = simplified(*allowed, facts);
  const Interval common = simplified(arith::intersect(*needed, *allowed, facts), facts);
  if (same_ends(*needed, common, facts)) {
    allowed = std::nullopt;
  } else if (same_ends(*allowed, common, facts)) {
    needed = allowed;
    allowed = std::nullopt;
  }
}

/// Returns the domain of each iterator in one iteration of the loop. `required` lists the nodes of
/// the block's consumers (or producers) in that loop.
std::vector<IterDomain> iter_domains(const Move& move, const std::vector<int>& required,
                                     const arith::Facts& facts) {
  std::vector<IterDomain> domains(move.own().iters.size());
  for (const BufferRegion& provided : move.is_producer ? move.own().writes : move.own().reads) {
    const bool is_required = std::ranges::any_of(required, [&](int n) {
      const Block& other = move.program.block(n);
      return mentions(move.is_producer ? other.reads : other.writes, provided.buffer);
    });
    if (!is_required) continue;
    const std::vector<Interval> box = required_box(move, required, provided.buffer, facts);
    for (std::size_t d = 0; d < box.size(); ++d) {
      const Expr& size = provided.buffer->shape[d];
      const Interval whole = Interval::from_range(Range::from_extent(size));
      const auto needed = solve(move, provided.region[d], box[d], facts);
      const auto allowed = solve(move, provided.region[d], whole, facts);
      if (!needed || !allowed) continue;
      add(domains[needed->first].first, needed->second, facts);
      add(domains[needed->first].second, allowed->second, facts);
    }
  }
  for (std::size_t i = 0; i < domains.size(); ++i)
    settle(domains[i], *move.own().iters[i].dom(), facts);
  return domains;
}

// ---- the primitives -----------------------------------------------------------------------------

/// Throws if the block writes memory that the branches or loop ranges around the new position read.
/// These are evaluated before the moved block, but were evaluated after it.
void require_same_control(const Move& move) {
  const Program& program = move.program;
  const std::optional<std::vector<Expr>> branches = branches_below(program, move.loop, move.top());
  if (!branches)
    refuse(move.caller,
           describe(program, move.loop) +
               " is below a `while`, an assertion or a variable that is bound to a value");
  std::vector<Expr> control = *branches;
  std::vector<int> loops = program.loops_below(move.loop, move.top());
  loops.push_back(move.loop);
  for (const int loop : loops) {
    control.push_back(program.loop(loop).min);
    control.push_back(program.loop(loop).extent);
  }
  for (const Expr& e : control) {
    bool depends = effect_of(e) > Effect::ReadState;
    walk(e,
         [&](const Load& load) { depends = depends || mentions(move.own().writes, load.buffer); });
    if (depends)
      refuse(move.caller, "`" + print_expr(e) + "`, which determines whether " +
                              describe(program, move.loop) + " runs, may depend on " + move.what());
  }
}

/// Throws if the moved reduction may run an instance repeatedly in one iteration of the loops
/// outside `top`, and thus accumulate its operand more than once. `n` is the reduction in
/// `program`, which is the program before or after the move. `advice` ends the message.
void require_single_instances(const Move& move, const Program& program, int n, int top,
                              const std::string& advice) {
  const BlockRealize& realize = program.realize(n);
  if (!has_kind(*realize.block, IterKind::Reduce)) return;
  const std::vector<int> loops = program.loops_below(n, top);
  const auto map = find_iter_map(realize.values, domains_of(program, loops), make_true());
  const std::vector<std::int64_t> count = map ? told_apart(*map) : std::vector<std::int64_t>{};
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (!map || count[l] != map->marks[l].extent)
      refuse(move.caller, move.what() + " may run an instance several times in loop `" +
                              program.loop(loops[l]).var.name() + "`, and adds to its sum in each" +
                              advice);
}

void check(const Move& move) {
  const Program& program = move.program;
  const auto [block_class, reason] = classify(program, move.block);
  if (block_class != BlockClass::Complete && block_class != BlockClass::Reduction)
    refuse(move.caller,
           move.what() + (reason.empty()
                              ? "'s init is a separate block; move the block before decomposing it"
                              : " cannot be moved: " + reason));
  if (program.scope(move.block) != program.scope(move.loop))
    refuse(move.caller, move.what() + " and " + describe(program, move.loop) +
                            " are in the scopes of different blocks");
  if (program.is_in_init(move.block) != program.is_in_init(move.loop))
    refuse(move.caller, "of " + move.what() + " and " + describe(program, move.loop) +
                            ", one is in the init of " +
                            describe(program, *program.scope(move.block)) +
                            ", which runs when a sum begins, and the other in its body");
  if (program.is_below(move.block, move.loop))
    refuse(move.caller, move.what() + " is already below " + describe(program, move.loop));
  require_same_control(move);
  require_own_domains(move.caller, program, move.block, move.top());
  require_single_instances(move, program, move.block, move.top(), "");
  require_free_order(program, move.block, move.caller, "below " + describe(program, move.loop));
  if (move.own().init) require_begun(move.caller, program, move.block);
  require_read_by_blocks(move.caller, program, move.block, *program.scope(move.block));
  if (!move.is_producer) return;
  for (const BufferRegion& write : move.own().writes)
    if (allocated_by(program, write.buffer, move.block) != program.scope(move.block))
      refuse(move.caller,
             move.what() + " writes `" + write.buffer->name + "`, an output of " +
                 describe(program, *program.scope(move.block)) +
                 ": all of it is required, not only the part that the loop's blocks read");
}

/// Returns the position of the moved block in the loop's body. Throws unless the loop is around all
/// blocks in `required`, and there is a position that respects all producers and consumers.
std::size_t position_of(const Move& move, const std::vector<int>& required) {
  const Program& program = move.program;
  const std::vector<int> others =
      move.is_producer ? producers(program, move.block) : consumers(program, move.block);
  std::string outside;
  for (const int n : required)
    if (!program.is_below(n, move.loop)) add_name(outside, program.block(n).name);
  if (!outside.empty())
    refuse(move.caller, describe(program, move.loop) + " is not around all " +
                            (move.is_producer ? "consumers" : "producers") + " of " + move.what() +
                            ": " + outside + " are outside");
  // The range of valid positions: after the last producer and before the first consumer.
  std::size_t first = 0, last = parts_of(program.loop(move.loop).body).size();
  const auto part_with = [&](int n) { return *part_of(program, move.loop, n); };
  const auto add_producer = [&](int n) { first = std::max(first, part_with(n) + 1); };
  const auto add_consumer = [&](int n) { last = std::min(last, part_with(n)); };
  for (const int n : required) move.is_producer ? add_consumer(n) : add_producer(n);
  for (const int n : others)
    if (program.is_below(n, move.loop)) move.is_producer ? add_producer(n) : add_consumer(n);
  if (first > last)
    refuse(move.caller, "below " + describe(program, move.loop) +
                            " there is no position that follows the producers of what " +
                            move.what() + " reads and precedes its consumers");
  const int index = move.options.index;
  if (index == -2) return first;
  if (index < 0) return move.is_producer ? last : first;
  const auto position = static_cast<std::size_t>(index);
  if (position < first || position > last)
    refuse(move.caller, "index " + std::to_string(index) + " is not one of the positions " +
                            std::to_string(first) + " to " + std::to_string(last) +
                            " that are possible below " + describe(program, move.loop));
  return position;
}

/// Returns the predicate and the conditions under which instances of the block run. The conditions
/// are expressed in the new values of the iterators.
Expr with_instances(const Move& move, const std::vector<Expr>& values, Expr predicate,
                    arith::Facts& facts) {
  const std::optional<InstanceSet> instances = move.instances();
  if (!instances)
    refuse(move.caller, "the set of executed instances of " + move.what() +
                            " cannot be expressed in its iterators, so it might change below " +
                            describe(move.program, move.loop));
  VarMap of_iter;
  for (std::size_t i = 0; i < values.size(); ++i)
    set_converted(of_iter, move.own().iters[i].var(), values[i]);
  arith::Facts domains;
  bind_iters(domains, move.own());
  for (const Expr& part : *instances) {
    if (arith::can_prove(part, domains)) continue;
    const Expr own = substitute(part, of_iter);
    const auto known = facts.assume(predicate);
    if (!arith::can_prove(own, facts)) predicate = both(predicate, own);
  }
  return predicate;
}

/// Returns the block in a nest of new loops over the domains.
Stmt new_nest(const Move& move, const std::vector<IterDomain>& domains, arith::Facts& facts) {
  std::vector<LoopDomain> loops;
  std::vector<Expr> values;
  Expr predicate = make_true();
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const IterVar& iter = move.own().iters[i];
    const DataType type = iter.var().dtype();
    const auto& [needed, allowed] = domains[i];
    const Range whole = needed->to_range(*iter.dom(), facts);
    const Range range = Range::from_min_extent(cast(type, whole.min), cast(type, whole.extent));
    if (move.options.preserve_unit_loops || !is_one(range.extent)) {
      const Var var("ax" + std::to_string(loops.size()), type);
      loops.push_back({var, make_int(type, 0), range.extent});
      values.push_back(range.min + var);
      facts.bind(var, Range::from_min_extent(make_int(type, 0), range.extent));
    } else {
      values.push_back(range.min);
    }
    if (!allowed) continue;
    if (const auto& low = allowed->min()) predicate = both(predicate, values.back() >= *low);
    if (const auto& high = allowed->max()) predicate = both(predicate, values.back() < *high + 1);
  }
  predicate = with_instances(move, values, predicate, facts);
  return in_loops(loops, make_stmt(BlockRealize{values, arith::simplify(predicate, facts),
                                                move.realize().block}));
}

[[noreturn]] void refuse_order(const Move& move, int other) {
  refuse(move.caller, describe(move.program, move.loop) + " is on the other side of " +
                          describe(move.program, other) + ", which depends on " + move.what() +
                          " or on which that depends");
}

/// Returns the loops around both the old and the new position.
std::vector<int> common_loops(const Move& move) {
  std::vector<int> result = move.program.loops_of(move.block);
  std::erase_if(result, [top = move.top()](int loop) { return loop > top; });
  return result;
}

/// Returns the innermost of these loops, or the block around them, after the move. `n` is the moved
/// block.
int innermost_common(const Move& move, const Program& after, int n) {
  const std::size_t count = common_loops(move).size();
  return count == 0 ? *after.scope(n) : after.loops_of(n)[count - 1];
}

/// Whether a block may read values that the moved block wrote in an earlier iteration of the loops
/// around both positions.
bool is_read_in_later_iterations(const Move& move) {
  const Program& program = move.program;
  bool is_repeated = false;
  for (int at = move.top(); at != *program.scope(move.block); at = *program.parent(at))
    is_repeated |=
        program.stmt(at).as<While>() || (program.is_loop(at) && !is_one(program.loop(at).extent));
  if (!is_repeated) return false;
  for (const int reader : program.child_blocks(*program.scope(move.block)))
    for (const Buffer& buffer : buffers_of(move.own().writes))
      if (reader != move.block && mentions(program.block(reader).reads, buffer) &&
          (reader < move.block || !covers_reads(program, move.block, reader, buffer)))
        return true;
  return false;
}

/// Throws unless every instance that the block ran before the move also runs after it.
void require_all_instances(const Move& move, const Program& after, int n) {
  const auto before = move.instances(),
             now = instances_of(after, n, innermost_common(move, after, n));
  if (!before || !now ||
      !contains_instances(*now, *before, move.own(), domains_of(move.program, common_loops(move))))
    refuse(move.caller, "below " + describe(move.program, move.loop) + ", not all instances of " +
                            move.what() + " would provably run");
}

/// Throws if the new position repeats updates of a reduction whose init ran in an earlier iteration
/// of the loops around both positions. If the init is in the same iteration, each repetition runs
/// it again.
void require_begun_sums(const Move& move, const Program& after, int n) {
  const auto before = move.instances();
  if (before && contains_instances(beginnings(*before, move.own()), *before, move.own(),
                                   domains_of(move.program, common_loops(move))))
    return;
  require_single_instances(move, after, n, innermost_common(move, after, n),
                           "; move it to a loop outside of that one");
}

/// Throws if the move reorders the block with a statement that it depends on or that depends on it.
/// A reader is exempt if the values that it reads are recomputed.
void require_order(const Move& move, const Program& after, int n) {
  const Program& program = move.program;
  const int first_loop = after.loops_of(n)[common_loops(move).size()];
  const int top_after = *after.parent(first_loop);
  const auto refuse_on = [&](const std::optional<std::string>& conflict) {
    if (conflict)
      refuse(move.caller,
             "below " + describe(program, move.loop) + ", " + move.what() +
                 " would move past a statement that it depends on or that depends on it: it " +
                 *conflict);
  };
  const bool runs_later = move.block < move.loop;
  PassingOptions from{.passes_later = runs_later,
                      .excepts_repeated_readers = !runs_later,
                      .over = parts_between(program, move.top(), move.block, move.loop)};
  if (runs_later)
    from.is_excepted = [&](int other, int loop) { return writes_same_again(program, other, loop); };
  refuse_on(find_passing_conflict(program, move.block, move.top(), from));
  const auto refuse_after = [&](const PassingOptions& options) {
    refuse_on(find_passing_conflict(after, n, top_after, options));
  };
  if (runs_later) return refuse_after({.compared = Compared::WithWrites});
  // A loop may repeat all instances of a block. All inputs exist in the last iteration of such a
  // loop.
  refuse_after({.passes_later = true, .is_excepted = [&](int other, int loop) {
                  return runs_after_last(after, n, other, loop);
                }});
  refuse_after({.passes_later = true, .compared = Compared::WritesWithReads});
}

void check_after(const Move& move, const Program& after) {
  const std::optional<int> n = after.find_block(move.program.block(move.block).id);
  internal_check(n.has_value(), "a block that was moved is gone");
  const auto check_pair = [&](int producer, int consumer) {
    for (const Buffer& buffer : buffers_of(after.block(producer).writes))
      if (mentions(after.block(consumer).reads, buffer) &&
          !covers_reads(after, producer, consumer, buffer, EmptyProducer::Counts))
        refuse(move.caller, "below " + describe(move.program, move.loop) + ", " +
                                describe(after, consumer) + " may read elements of `" +
                                buffer->name + "` before " + describe(after, producer) +
                                " writes them");
  };
  // Producers must still precede the block, and consumers must follow it.
  for (const int old : producers(move.program, move.block)) {
    const std::optional<int> producer = after.find_block(move.program.block(old).id);
    if (!producer || *producer > *n) refuse_order(move, old);
    check_pair(*producer, *n);
  }
  for (const int old : consumers(move.program, move.block)) {
    const std::optional<int> consumer = after.find_block(move.program.block(old).id);
    if (!consumer || *consumer < *n) refuse_order(move, old);
    if (!move.is_producer) check_pair(*n, *consumer);
  }
  if (!move.is_producer || is_read_in_later_iterations(move))
    require_all_instances(move, after, *n);
  require_begun_sums(move, after, *n);
  require_order(move, after, *n);
  if (const auto loop = outermost_reduction_loop(after, *n); loop && move.own().init)
    require_init_passes(move.caller, after, *n, *loop);
  require_independent_around(move.caller, after, *n);
}

PrimFunc moved(const Move& move) {
  check(move);
  const std::vector<int> required = move.required();
  const std::size_t position = position_of(move, required);
  const Program& program = move.program;
  const For& target = program.loop(move.loop);
  arith::Facts facts = facts_at(program, move.loop);
  const Stmt nest = new_nest(move, iter_domains(move, required, facts), facts);
  // Removes the block from the program, and inserts its new nest into the body of the loop.
  std::vector<Stmt> parts = parts_of(target.body);
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(position), nest);
  const Program removed(program.with_body(without(program, move.block)));
  const std::optional<int> loop = removed.find_loop(target.var);
  internal_check(loop.has_value(), "taking a block out took the loop with it that it moves to");
  For next = removed.loop(*loop);
  internal_check(parts_of(next.body).size() + 1 == parts.size(), "a loop changed under a move");
  next.body = make_seq(std::move(parts));
  PrimFunc result = removed.with(*loop, make_stmt(std::move(next)));
  check_after(move, Program(result));
  return result;
}

}  // namespace

PrimFunc compute_at(const Program& program, int block, int loop, const ComputeAtOptions& options,
                    SourceLocation where) {
  return moved({program, {"compute_at", where}, /*is_producer=*/true, block, loop, options});
}

PrimFunc reverse_compute_at(const Program& program, int block, int loop,
                            const ComputeAtOptions& options, SourceLocation where) {
  return moved(
      {program, {"reverse_compute_at", where}, /*is_producer=*/false, block, loop, options});
}

}  // namespace tenon::s_tir
