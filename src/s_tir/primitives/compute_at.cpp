#include <algorithm>

#include "s_tir/order_checks.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;
using arith::Interval;

namespace {

enum class Direction : bool { Producer, Consumer };

/// What iterators must run over so that a box of a buffer is met, and what they may run over.
struct IterDomain {
  std::optional<Interval> needed, allowed;
};

struct Solved {
  std::size_t iter;
  /// Absent: any value may be needed.
  std::optional<Interval> values;
};

/// The block being moved, and where to.
struct Move {
  const Program& program;
  Caller caller;
  Direction direction;
  int block;
  int loop;
  const ComputeAtOptions& options;

  bool is_producer() const { return direction == Direction::Producer; }
  const BlockRealize& realize() const { return program.realize(block); }
  const Block& own() const { return *realize().block; }
  std::string what() const { return describe(program, block); }
};

void check(const Move& move) {
  const Program& program = move.program;
  const Classified classified = classify(program, move.block);
  if (classified.block_class != BlockClass::Complete &&
      classified.block_class != BlockClass::Reduction)
    refuse(move.caller, move.what() + " is neither complete nor a reduction: " +
                            (classified.reason.empty()
                                 ? "its init is a block of its own; move it before it is decomposed"
                                 : classified.reason));
  if (program.scope(move.block) != program.scope(move.loop))
    refuse(move.caller, move.what() + " and " + describe(program, move.loop) +
                            " are in the scopes of different blocks");
  if (program.is_below(move.block, move.loop))
    refuse(move.caller, move.what() + " is already below " + describe(program, move.loop));
  if (move.is_producer())
    for (const BufferRegion& write : move.own().writes)
      if (allocated_by(program, write.buffer, move.block) != program.scope(move.block))
        refuse(move.caller, move.what() + " writes `" + write.buffer->name + "`, an output of " +
                                describe(program, *program.scope(move.block)) +
                                ": all of it is needed, not only what the loop's blocks read");
}

/// Blocks that read from, or write for, the one that moves, and where among the loop's statements
/// it can stand.
struct Neighbours {
  std::vector<int> required;  // below the loop
  std::size_t position;
};

Neighbours find_neighbours(const Move& move) {
  const Program& program = move.program;
  const std::vector<int> all =
      move.is_producer() ? consumers(program, move.block) : producers(program, move.block);
  const std::vector<int> others =
      move.is_producer() ? producers(program, move.block) : consumers(program, move.block);
  std::string outside;
  for (const int n : all)
    if (!program.is_below(n, move.loop))
      outside += (outside.empty() ? "`" : ", `") + program.block(n).name + "`";
  if (!outside.empty())
    refuse(move.caller, describe(program, move.loop) + " is not around all " +
                            (move.is_producer() ? "consumers" : "producers") + " of " +
                            move.what() + ": " + outside + " stand elsewhere");
  const std::vector<Stmt> parts = parts_of(program.loop(move.loop).body);
  // First and last positions between producers and consumers.
  std::size_t first = 0, last = parts.size();
  const auto position_of = [&](int n) {
    std::size_t position = 0;
    for (int at = n; at != move.loop; at = *program.parent(at))
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].same_as(program.stmt(at))) position = i;
    return position;
  };
  const auto add_producer = [&](int n) { first = std::max(first, position_of(n) + 1); };
  const auto add_consumer = [&](int n) { last = std::min(last, position_of(n)); };
  for (const int n : all) move.is_producer() ? add_consumer(n) : add_producer(n);
  for (const int n : others)
    if (program.is_below(n, move.loop)) move.is_producer() ? add_producer(n) : add_consumer(n);
  if (first > last)
    refuse(move.caller, "below " + describe(program, move.loop) +
                            " there is no place behind what " + move.what() +
                            " reads and in front of what reads it");
  const int index = move.options.index;
  std::size_t position = move.is_producer() ? last : first;
  if (index == -2) position = first;
  if (index >= 0) {
    position = static_cast<std::size_t>(index);
    if (position < first || position > last)
      refuse(move.caller, "index " + std::to_string(index) + " is none of the places " +
                              std::to_string(first) + " to " + std::to_string(last) +
                              " that are possible below " + describe(program, move.loop));
  }
  return {all, position};
}

/// Whether the loop's threads share memory of that scope, so that all that they need is needed.
bool is_shared_over(const For& loop, StorageScope scope) {
  const std::optional<ThreadTag>& thread = traits_of(loop).thread;
  if (!thread || thread->is_virtual()) return false;
  switch (scope) {
    case StorageScope::Global:
      return true;
    case StorageScope::Shared:
    case StorageScope::SharedDyn:
      return thread->is_thread();
    case StorageScope::Warp:
      return thread->is_thread() && thread->dim == 0;
    default:
      return false;
  }
}

/// The box that the neighbours touch of a buffer in one iteration of the loop.
std::vector<Interval> required_box(const Move& move, const std::vector<int>& required,
                                   const Buffer& buffer, const arith::Facts& facts) {
  std::vector<std::vector<Interval>> boxes(buffer->shape.size());
  for (const int n : required) {
    arith::IntervalMap relaxed;
    for (const int at : move.program.loops_of(n)) {
      const For& loop = move.program.loop(at);
      const bool is_inside = at > move.loop;
      const bool is_shared = move.is_producer() && is_shared_over(loop, buffer.scope());
      if (is_inside || is_shared)
        relaxed.set(loop.var, Interval::from_range(Range::from_min_extent(loop.min, loop.extent)));
    }
    const VarMap bindings = bindings_of(move.program.realize(n));
    const Block& other = move.program.block(n);
    for (const BufferRegion& region : move.is_producer() ? other.reads : other.writes) {
      if (!region.buffer.same_as(buffer)) continue;
      for (std::size_t d = 0; d < region.region.size(); ++d) {
        const Range own = substitute(region.region[d], bindings);
        const Interval low = arith::values_of(own.min, relaxed, facts);
        const Interval high =
            is_one(own.extent) ? low : arith::values_of(own.min + own.extent - 1, relaxed, facts);
        boxes[d].push_back(low.min() && high.max() ? Interval::of(*low.min(), *high.max())
                                                   : Interval::everything());
      }
    }
  }
  std::vector<Interval> result;
  for (const std::vector<Interval>& box : boxes)
    result.push_back(box.empty() ? Interval::empty() : arith::hull(box, facts));
  return result;
}

/// Which values an iterator must take so that what the block touches meets the interval. What it
/// touches in one dimension is `v`, `v * c` and the c elements from there, `v // c` or `v % c`.
Solved solve(const Move& move, const Range& provided, const Interval& required,
             const arith::Facts& facts) {
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
  if (const auto iter = iter_of(begin); iter && is_one(arith::simplify(provided.extent, facts)))
    return {*iter, map(same, same)};
  if (const Binary* binary = begin.as<Binary>()) {
    const auto left = iter_of(binary->a), right = iter_of(binary->b);
    if (binary->op == BinaryOp::Mul && (left || right)) {
      const Expr& factor = left ? binary->b : binary->a;
      const auto divide = [&](const Expr& e) { return floordiv(e, factor); };
      return {left ? *left : *right, map(divide, divide)};
    }
    if (left && binary->op == BinaryOp::FloorDiv)
      return {*left, map([&](const Expr& e) { return e * binary->b; },
                         [&](const Expr& e) { return e * binary->b + binary->b - 1; })};
    if (left && binary->op == BinaryOp::FloorMod) return {*left, std::nullopt};
  }
  refuse(move.caller, move.what() + " touches [" + tir_text(begin) + ", " +
                          tir_text(provided.extent) + " more] in a dimension of a buffer, from " +
                          "which it cannot be told what its iterators must be");
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

/// Needed values that are all allowed have no bound; those that contain all that is allowed are
/// what is allowed.
void settle(IterDomain& domain, const Range& whole, const arith::Facts& facts) {
  const Interval own = Interval::from_range(whole);
  domain.allowed = domain.allowed ? arith::intersect(*domain.allowed, own, facts) : own;
  if (!domain.needed) {
    domain.needed = simplified(*domain.allowed, facts);
    domain.allowed = std::nullopt;
    return;
  }
  domain.needed = simplified(*domain.needed, facts);
  domain.allowed = simplified(*domain.allowed, facts);
  const Interval common =
      simplified(arith::intersect(*domain.needed, *domain.allowed, facts), facts);
  if (same_ends(*domain.needed, common, facts)) {
    domain.allowed = std::nullopt;
  } else if (same_ends(*domain.allowed, common, facts)) {
    domain.needed = domain.allowed;
    domain.allowed = std::nullopt;
  }
}

std::vector<IterDomain> iter_domains(const Move& move, const std::vector<int>& required,
                                     const arith::Facts& facts) {
  std::vector<IterDomain> domains(move.own().iters.size());
  for (const BufferRegion& provided : move.is_producer() ? move.own().writes : move.own().reads) {
    const bool is_required = std::any_of(required.begin(), required.end(), [&](int n) {
      const Block& other = move.program.block(n);
      return mentions(move.is_producer() ? other.reads : other.writes, provided.buffer);
    });
    if (!is_required) continue;
    const std::vector<Interval> box = required_box(move, required, provided.buffer, facts);
    for (std::size_t d = 0; d < box.size(); ++d) {
      const Expr& size = provided.buffer->shape[d];
      const Interval whole =
          Interval::from_range(Range::from_min_extent(make_int(size.dtype(), 0), size));
      const Solved needed = solve(move, provided.region[d], box[d], facts);
      const Solved allowed = solve(move, provided.region[d], whole, facts);
      add(domains[needed.iter].needed, needed.values, facts);
      add(domains[needed.iter].allowed, allowed.values, facts);
    }
  }
  for (std::size_t i = 0; i < domains.size(); ++i)
    settle(domains[i], *move.own().iters[i].dom(), facts);
  return domains;
}

/// The block under loops of its own that run over the domains.
Stmt new_nest(const Move& move, const std::vector<IterDomain>& domains, arith::Facts& facts) {
  std::vector<For> loops;
  std::vector<Expr> values;
  Expr predicate = make_true();
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const Range range = domains[i].needed->to_range(*move.own().iters[i].dom(), facts);
    if (move.options.preserve_unit_loops || !is_one(range.extent)) {
      const Var var("ax" + std::to_string(loops.size()), range.extent.dtype());
      loops.push_back(
          For{var, make_int(var.dtype(), 0), range.extent, ForKind::Serial, make_nop()});
      values.push_back(range.min + var);
      facts.bind(var, Range::from_min_extent(make_int(var.dtype(), 0), range.extent));
    } else {
      values.push_back(range.min);
    }
    if (!domains[i].allowed) continue;
    if (const auto& low = domains[i].allowed->min())
      predicate = both(predicate, values.back() >= *low);
    if (const auto& high = domains[i].allowed->max())
      predicate = both(predicate, values.back() < *high + 1);
  }
  Stmt body =
      make_stmt(BlockRealize{values, arith::simplify(predicate, facts), move.realize().block});
  for (std::size_t i = loops.size(); i-- > 0;) {
    loops[i].body = body;
    body = make_stmt(loops[i]);
  }
  return body;
}

/// All values of the iterators come about, over all iterations of the loops around the block.
bool runs_all_instances(const Program& program, int block) {
  const BlockRealize& realize = program.realize(block);
  const auto map = find_iter_map(realize.values, domains_around(program, block), realize.predicate);
  if (!map) return false;
  for (std::size_t i = 0; i < map->values.size(); ++i) {
    const Range& dom = *realize.block->iters[i].dom();
    const DigitSum& value = map->values[i];
    if (value.digits.empty()) {
      if (!is_one(dom.extent) || !arith::can_prove_equal(value.base, dom.min)) return false;
      continue;
    }
    const Digit& digit = value.digits.front();
    if (digit.scale != 1 || !arith::can_prove_equal(value.base, dom.min)) return false;
    if (digit.extent == kUnknownExtent) continue;
    if (!arith::can_prove(dom.extent <= digit.extent)) return false;
  }
  return true;
}

[[noreturn]] void refuse_order(const Move& move, int other) {
  refuse(move.caller, describe(move.program, move.loop) + " is on the other side of " +
                          describe(move.program, other) + ", which depends on " + move.what() +
                          " or on which that depends");
}

void check_after(const Move& move, const Program& after) {
  const std::optional<int> n = after.find_block(move.program.key_of(move.block));
  internal_check(n.has_value(), "a block that was moved is gone");
  const auto check_pair = [&](int producer, int consumer) {
    for (const Buffer& buffer : buffers_of(after.block(producer).writes))
      if (mentions(after.block(consumer).reads, buffer) &&
          !covers_reads(after, producer, consumer, buffer))
        refuse(move.caller, "below " + describe(move.program, move.loop) + ", " +
                                describe(after, consumer) + " may read elements of `" +
                                buffer->name + "` before " + describe(after, producer) +
                                " writes them");
  };
  // What wrote for the block still does so before it, and what reads from it still comes behind it.
  for (const int old : producers(move.program, move.block)) {
    const std::optional<int> producer = after.find_block(move.program.key_of(old));
    if (!producer || *producer > *n) refuse_order(move, old);
    if (move.is_producer()) check_pair(*producer, *n);
  }
  for (const int old : consumers(move.program, move.block)) {
    const std::optional<int> consumer = after.find_block(move.program.key_of(old));
    if (!consumer || *consumer < *n) refuse_order(move, old);
    if (!move.is_producer()) check_pair(*n, *consumer);
  }
  if (!move.is_producer() && !runs_all_instances(after, *n))
    refuse(move.caller, "below " + describe(move.program, move.loop) + ", not all instances of " +
                            move.what() + " would surely run");
  if (const auto reason = sums_twice(after, *n)) refuse(move.caller, *reason);
}

PrimFunc moved(const Move& move) {
  check(move);
  const Neighbours neighbours = find_neighbours(move);
  arith::Facts facts;
  const Program& program = move.program;
  std::vector<LoopDomain> domains = domains_around(program, move.loop);
  const For& target = program.loop(move.loop);
  domains.push_back({target.var, target.min, target.extent});
  bind_domains(facts, domains);
  bind_iters(facts, program.block(*program.scope(move.block)));
  const Stmt nest = new_nest(move, iter_domains(move, neighbours.required, facts), facts);
  // The loop with the block in it, in the program without the block where it was.
  std::vector<Stmt> parts = parts_of(target.body);
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(neighbours.position), nest);
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
  return moved({program, {"compute_at", where}, Direction::Producer, block, loop, options});
}

PrimFunc reverse_compute_at(const Program& program, int block, int loop,
                            const ComputeAtOptions& options, SourceLocation where) {
  return moved({program, {"reverse_compute_at", where}, Direction::Consumer, block, loop, options});
}

}  // namespace tenon::s_tir
