#include "s_tir/context.h"

#include <algorithm>
#include <ranges>

#include "s_tir/order_checks.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

void refuse(const Caller& caller, const std::string& sentence) {
  throw ScheduleError(std::string(caller.primitive) + ": " + sentence, caller.where);
}

std::vector<LoopDomain> domains_of(const Program& program, const std::vector<int>& loops) {
  std::vector<LoopDomain> result;
  for (const int n : loops) {
    const For& loop = program.loop(n);
    result.push_back({loop.var, loop.min, loop.extent});
  }
  return result;
}

std::vector<LoopDomain> domains_around(const Program& program, int n) {
  return domains_of(program, program.loops_of(n));
}

std::optional<IterMap> iter_map_around(const Program& program, int block) {
  const BlockRealize& realize = program.realize(block);
  const std::vector<LoopDomain> loops = domains_around(program, block);
  auto map = find_iter_map(realize.values, loops, realize.predicate);
  return map ? map : find_iter_map(realize.values, loops, make_true());
}

arith::Facts facts_at(const Program& program, int n) {
  arith::Facts facts;
  std::vector<int> loops = program.loops_of(n);
  if (program.is_loop(n)) loops.push_back(n);
  bind_domains(facts, domains_of(program, loops));
  const std::optional<int> scope = program.is_block(n) ? std::optional<int>(n) : program.scope(n);
  if (scope) bind_iters(facts, program.block(*scope));
  return facts;
}

bool covers(const Range& outer, const std::optional<Expr>& begin, const std::optional<Expr>& end,
            const Expr& size, const arith::Facts& facts) {
  const auto at_most = [&](const Expr& a, const Expr& b) {
    return arith::can_prove(a <= b, facts);
  };
  const Expr outer_end = outer.min + outer.extent;
  return (at_most(outer.min, 0) || (begin && at_most(outer.min, *begin))) &&
         (at_most(size, outer_end) || (end && at_most(*end, outer_end)));
}

void bind_domains(arith::Facts& facts, const std::vector<LoopDomain>& domains) {
  for (const LoopDomain& domain : domains)
    facts.bind(domain.var, Range::from_min_extent(domain.min, domain.extent), true);
}

arith::IntervalMap relaxed_below(const Program& program, int n, int top,
                                 FunctionRef<bool(const For&)> is_relaxed) {
  std::vector<int> around;
  for (int at = n; at != *program.scope(n); at = *program.parent(at)) around.push_back(at);
  arith::IntervalMap relaxed;
  for (const int at : std::views::reverse(around)) {
    const Let* let = program.stmt(at).as<Let>();
    if (program.is_loop(at) && (at > top || is_relaxed(program.loop(at)))) {
      const For& loop = program.loop(at);
      const Range range = Range::from_min_extent(loop.min, loop.extent);
      relaxed.set(loop.var, arith::values_of(arith::Interval::from_range(range), relaxed));
    } else if (let && (at > top || relaxed.size() > 0)) {
      relaxed.set(let->var, arith::values_of(let->value, relaxed));
    }
  }
  return relaxed;
}

void bind_iters(arith::Facts& facts, const Block& block) {
  for (const IterVar& iter : block.iters)
    if (iter.dom()) facts.bind(iter.var(), *iter.dom(), true);
}

void require_matched_scope(const Caller& caller, const Program& program, const Buffer& buffer,
                           StorageScope scope) {
  for (int n = 0; n < program.size(); ++n) {
    if (!program.is_block(n)) continue;
    for (const MatchBuffer& match : program.block(n).match_buffers)
      if (match.source.buffer.same_as(buffer) && match.buffer.scope() != scope)
        refuse(caller, "block " + in_backticks(program.block(n).name) + " takes a part of " +
                           in_backticks(buffer->name) + " as buffer " +
                           in_backticks(match.buffer->name) + " of scope \"" +
                           std::string(to_string(match.buffer.scope())) + "\", not \"" +
                           std::string(to_string(scope)) +
                           "\"; give the buffer its scope before it is tensorized");
  }
}

std::vector<Buffer> buffers_of(const std::vector<BufferRegion>& regions) {
  std::vector<Buffer> result;
  for (const BufferRegion& region : regions)
    if (!has_same(result, region.buffer)) result.push_back(region.buffer);
  return result;
}

bool mentions(const std::vector<BufferRegion>& regions, const Buffer& buffer) {
  return std::ranges::any_of(
      regions, [&](const BufferRegion& region) { return region.buffer.same_as(buffer); });
}

Buffer source_of(const Program& program, int n, Buffer buffer) {
  for (std::optional<int> scope = program.scope(n); scope; scope = program.scope(*scope))
    for (const MatchBuffer& match : std::views::reverse(program.block(*scope).match_buffers))
      if (match.buffer.same_as(buffer)) buffer = match.source.buffer;
  return buffer;
}

namespace {

/// Calls `f` for each expression outside of the statements inside `s` and of the body of a block.
void for_each_own_expression(const Stmt& s, FunctionRef<void(const Expr&)> f) {
  const BlockRealize* realize = s.as<BlockRealize>();
  if (!realize) return for_each_child(s, f, [](const Stmt&) {});
  f(realize->predicate);
  for (const Expr& value : realize->values) f(value);
}

/// Returns such an expression that reads the buffer.
std::optional<Expr> find_own_read(const Stmt& s, const Buffer& buffer) {
  std::optional<Expr> result;
  for_each_own_expression(s, [&](const Expr& e) {
    walk(e, [&](const Load& load) {
      if (load.buffer.same_as(buffer)) result = e;
    });
  });
  return result;
}

/// Returns the buffers that the statement itself reads and writes: those that a block declares, and
/// those that are accessed outside of blocks and of the statements inside `s`.
std::pair<std::vector<Buffer>, std::vector<Buffer>> own_buffers(const Stmt& s) {
  std::vector<Buffer> reads, writes;
  if (const BlockRealize* realize = s.as<BlockRealize>()) {
    reads = buffers_of(realize->block->reads);
    writes = buffers_of(realize->block->writes);
  }
  if (const Store* store = s.as<Store>()) writes = {store->buffer};
  for_each_own_expression(
      s, [&](const Expr& e) { walk(e, [&](const Load& load) { reads.push_back(load.buffer); }); });
  return {std::move(reads), std::move(writes)};
}

}  // namespace

std::optional<std::string> find_alias(const Program& program, int n) {
  bool has_matches = false;
  for (std::optional<int> scope = program.scope(n); scope; scope = program.scope(*scope))
    has_matches = has_matches || !program.block(*scope).match_buffers.empty();
  if (!has_matches) return std::nullopt;
  const std::vector<Buffer> reads = buffers_of(program.block(n).reads),
                            writes = buffers_of(program.block(n).writes);
  for (const int other : program.statements(*program.scope(n))) {
    // The init of a block runs before the whole body, so a block in the init is not compared with a
    // block in the body.
    if (program.is_in_init(other) != program.is_in_init(n)) continue;
    const auto [read, written] = own_buffers(program.stmt(other));
    const auto find = [&](const std::vector<Buffer>& mine,
                          const std::vector<Buffer>& others) -> std::optional<std::string> {
      for (const Buffer& a : mine)
        for (const Buffer& b : others)
          if (!a.same_as(b) && source_of(program, n, a).same_as(source_of(program, n, b)))
            return "it accesses " + in_backticks(a->name) + ", and " + describe(program, other) +
                   " accesses " + in_backticks(b->name) + ", which is the same memory";
      return std::nullopt;
    };
    if (auto alias = find(writes, read)) return alias;
    if (auto alias = find(writes, written)) return alias;
    if (auto alias = find(reads, written)) return alias;
  }
  return std::nullopt;
}

bool has_kind(const Block& block, IterKind kind) {
  return std::ranges::any_of(block.iters, [&](const IterVar& iter) { return iter.kind() == kind; });
}

void require_unconditional(const Caller& caller, const Program& program, int block, int top) {
  const std::optional<std::vector<Expr>> branches = branches_below(program, block, top);
  if (!branches || !branches->empty())
    refuse(caller, describe(program, block) + " is below a branch, a `while`, an assertion or a " +
                       "variable that is bound to a value");
}

static bool is_pragma(const Stmt& s) {
  const Attr* attr = s.as<Attr>();
  return attr && attr->kind == AttrKind::Pragma;
}

std::optional<std::vector<Expr>> branches_below(const Program& program, int n, int top) {
  std::vector<Expr> result;
  for (int at = n; at != top && *program.parent(at) != top; at = *program.parent(at)) {
    const Stmt& around = program.stmt(*program.parent(at));
    if (const If* branch = around.as<If>())
      result.push_back(branch->then_case.same_as(program.stmt(at))
                           ? branch->condition
                           : arith::simplify(make_not(branch->condition)));
    else if (!around.as<For>() && !around.as<Seq>() && !is_pragma(around))
      return std::nullopt;
  }
  return result;
}

std::optional<Expr> condition_below(const Program& program, int n, int top) {
  const std::optional<std::vector<Expr>> branches = branches_below(program, n, top);
  if (!branches) return std::nullopt;
  Expr result = program.realize(n).predicate;
  for (const Expr& branch : *branches) result = both(result, branch);
  if (effect_of(result) != Effect::Pure) return std::nullopt;
  return result;
}

void require_reduction(const Caller& caller, const Program& program, int block) {
  const auto [block_class, reason] = classify(program, block);
  if (block_class != BlockClass::Reduction)
    refuse(caller, describe(program, block) +
                       " is not a reduction: " + (reason.empty() ? "it has no init" : reason));
}

void require_affine_bindings(const Caller& caller, const Program& program, int block) {
  if (has_affine_bindings(program, block)) return;
  for (const int loop : program.loops_of(block))
    if (constant_int(program.loop(loop).extent).value_or(1) < 1)
      refuse(caller, describe(program, loop) + " has no iterations, so that no instance of " +
                         describe(program, block) + " runs");
  refuse(caller, "the values of the iterators of " + describe(program, block) +
                     " are not digits of its loops, so that its instances cannot be determined");
}

void require_own_domains(const Caller& caller, const Program& program, int block, int top) {
  for (const IterVar& iter : program.block(block).iters)
    for (const int loop : program.loops_of(block)) {
      const Var& var = program.loop(loop).var;
      if (loop > top && (uses_var(iter.dom()->min, var) || uses_var(iter.dom()->extent, var)))
        refuse(caller, "the domain of iterator " + in_backticks(iter.name()) + " of " +
                           describe(program, block) + " depends on loop " +
                           in_backticks(var.name()) + "; declare the whole domain");
    }
}

std::vector<int> writers_below(const Program& program, int top, const Buffer& buffer) {
  std::vector<int> result = program.leaves(top);
  std::erase_if(result, [&](int n) {
    if (program.is_block(n)) return !mentions(program.block(n).writes, buffer);
    const Expr element = make_load(buffer, std::vector<Expr>(buffer->shape.size(), Expr(0)));
    return written_by(program, n, program.stmt(n)).is_stable(element);
  });
  return result;
}

std::vector<int> readers_outside_blocks(const Program& program, int top, const Buffer& buffer) {
  std::vector<int> result = program.statements(top);
  std::erase_if(result, [&](int n) { return !find_own_read(program.stmt(n), buffer); });
  return result;
}

void require_read_by_blocks(const Caller& caller, const Program& program, int block, int top) {
  for (const Buffer& buffer : buffers_of(program.block(block).writes))
    for (const int reader : readers_outside_blocks(program, top, buffer))
      refuse(caller, in_backticks(print_expr(*find_own_read(program.stmt(reader), buffer))) +
                         ", which is outside of blocks, reads " + in_backticks(buffer->name) +
                         ", which " + describe(program, block) +
                         " writes; move the read into a block, whose regions declare it");
}

VarMap bindings_of(const BlockRealize& realize) {
  VarMap map;
  for (std::size_t n = 0; n < realize.values.size(); ++n)
    set_converted(map, realize.block->iters[n].var(), realize.values[n]);
  return map;
}

std::vector<Range> element_at(const std::vector<Expr>& indices) {
  std::vector<Range> region;
  for (const Expr& index : indices)
    region.push_back(Range::from_min_extent(index, make_int(index.dtype(), 1)));
  return region;
}

Expr replace_loads(const Expr& e, const Buffer& buffer,
                   FunctionRef<Expr(const std::vector<Expr>&)> value, const Stmt& domains) {
  Expr result =
      map_children(e, [&](const Expr& c) { return replace_loads(c, buffer, value, domains); });
  if (const Load* load = result.as<Load>(); load && load->buffer.same_as(buffer))
    result = value(load->indices);
  return arith::keep_wrapping(e, result, domains);
}

std::vector<Stmt> parts_of(const Stmt& s) {
  const Seq* seq = s.as<Seq>();
  return seq ? seq->stmts : std::vector<Stmt>{s};
}

Stmt body_of(const Program& program, int n) {
  if (program.is_loop(n)) return program.loop(n).body;
  return program.is_block(n) ? program.block(n).body : program.stmt(n);
}

std::vector<Stmt> parts_in(const Program& program, int at, std::size_t first, std::size_t end) {
  const std::vector<Stmt> parts = parts_of(body_of(program, at));
  return {parts.begin() + static_cast<std::ptrdiff_t>(first),
          parts.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::optional<std::size_t> part_of(const Program& program, int at, int n) {
  if (!program.is_below(n, at)) return std::nullopt;
  const std::vector<Stmt> parts = parts_of(body_of(program, at));
  for (; n != at; n = *program.parent(n))
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].same_as(program.stmt(n))) return i;
  return std::nullopt;
}

Stmt in_loops(const std::vector<LoopDomain>& loops, Stmt body) {
  for (const LoopDomain& loop : std::views::reverse(loops))
    body = make_stmt(For{loop.var, loop.min, loop.extent, ForKind::Serial, std::move(body)});
  return body;
}

Stmt in_loops(const Program& program, const std::vector<int>& loops, Stmt body) {
  for (const int n : std::views::reverse(loops)) {
    For loop = program.loop(n);
    loop.body = std::move(body);
    body = make_stmt(std::move(loop));
  }
  return body;
}

Block plain_block(std::string name, Stmt body) {
  return {.iters = {},
          .reads = {},
          .writes = {},
          .name = std::move(name),
          .init = std::nullopt,
          .body = std::move(body)};
}

PrimFunc with_allocations(const Program& program, int n, const std::vector<Buffer>& buffers) {
  return program.with(n, with_changed_block(program.stmt(n), [&](Block& block) {
                        block.alloc_buffers.insert(block.alloc_buffers.end(), buffers.begin(),
                                                   buffers.end());
                      }));
}

Stmt replace_inside(const Stmt& root, const Stmt& old, const Stmt& with) {
  if (root.same_as(old)) return with;
  return map_statements(root, [&](const Stmt& child) { return replace_inside(child, old, with); });
}

Expr both(const Expr& condition, const Expr& other) {
  if (is_true(condition)) return other;
  if (is_true(other)) return condition;
  return make_binary(BinaryOp::And, condition, other);
}

Stmt without(const Program& program, int block) {
  int at = block;
  // The enclosing loops and branches would be left empty, so they are removed, too.
  for (;;) {
    const int parent = *program.parent(at);
    const If* branch = program.stmt(parent).as<If>();
    if (!program.is_loop(parent) && !(branch && !branch->else_case)) break;
    at = parent;
  }
  const int parent = *program.parent(at);
  const Stmt& old = program.stmt(at);
  if (const Seq* seq = program.stmt(parent).as<Seq>()) {
    std::vector<Stmt> rest;
    for (const Stmt& part : seq->stmts)
      if (!part.same_as(old)) rest.push_back(part);
    return program.with(parent, make_seq(std::move(rest))).body;
  }
  return program.with(at, make_nop()).body;
}

}  // namespace tenon::s_tir
