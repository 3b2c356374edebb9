#include <algorithm>

#include "s_tir/order_checks.h"
#include "s_tir/primitives/iter_domains.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;
namespace {

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
  if (program.is_in_init(move.block) != program.is_in_init(move.loop))
    refuse(move.caller, "of " + move.what() + " and " + describe(program, move.loop) +
                            " one is in the init of " +
                            describe(program, *program.scope(move.block)) +
                            ", which runs when a sum begins, and the other in its body");
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

/// Whether a condition only keeps a value inside of its iterator's domain.
bool keeps_in_domain(const Move& move, const Expr& part, const arith::Facts& loops) {
  const Binary* bound = part.as<Binary>();
  if (!bound) return false;
  for (std::size_t i = 0; i < move.realize().values.size(); ++i) {
    const Range& dom = *move.own().iters[i].dom();
    const bool is_end =
        bound->op == BinaryOp::Lt && arith::can_prove(bound->b >= dom.min + dom.extent);
    const bool is_begin = bound->op == BinaryOp::Ge && arith::can_prove(bound->b <= dom.min);
    if ((is_end || is_begin) && arith::can_prove_equal(bound->a, move.realize().values[i], loops))
      return true;
  }
  return false;
}

/// The conditions under which instances run, in terms of new values of the iterators: the block
/// takes them along.
Expr moved_predicate(const Move& move, const std::vector<Expr>& values) {
  VarMap of_loop;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (move.realize().values[i].as<VarNode>())
      set(of_loop, Var::of(move.realize().values[i]), values[i]);
  // Where no instance is left out, any may run.
  if (runs_all_instances(move.program, move.block)) return make_true();
  arith::Facts loops;
  bind_domains(loops, domains_around(move.program, move.block));
  Expr result = make_true();
  for (const Expr& part : conjuncts(move.realize().predicate)) {
    if (is_true(part) || keeps_in_domain(move, part, loops)) continue;
    const std::vector<Var> vars = free_vars(part);
    // Loops around both places stay around the block.
    const bool is_outside = std::all_of(vars.begin(), vars.end(), [&](const Var& var) {
      const std::optional<int> loop = move.program.find_loop(var);
      return !loop || *loop == move.loop || move.program.is_below(move.loop, *loop);
    });
    if (is_outside) {
      result = both(result, part);
      continue;
    }
    for (const Var& var : vars)
      if (move.program.find_loop(var) && !of_loop.contains(&var.node()))
        refuse(move.caller, "the predicate " + tir_text(part) + " of " + move.what() +
                                " is about loop `" + var.name() +
                                "`, which is no value of an iterator of the block: it cannot be "
                                "taken along; split so that the factors divide");
    result = both(result, substitute(part, of_loop));
  }
  return result;
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
  predicate = both(predicate, moved_predicate(move, values));
  Stmt body =
      make_stmt(BlockRealize{values, arith::simplify(predicate, facts), move.realize().block});
  for (std::size_t i = loops.size(); i-- > 0;) {
    loops[i].body = body;
    body = make_stmt(loops[i]);
  }
  return body;
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
  require_independent_around(move.caller, after, *n);
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
