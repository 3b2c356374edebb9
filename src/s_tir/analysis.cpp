#include "tenon/s_tir/analysis.h"

#include <algorithm>

#include "s_tir/context.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

std::vector<int> siblings(const Program& program, int block) {
  const std::optional<int> scope = program.scope(block);
  return scope ? program.child_blocks(*scope) : std::vector<int>{};
}

std::vector<int> other_writers(const Program& program, int block, const Buffer& buffer) {
  std::vector<int> result;
  for (const int other : siblings(program, block))
    if (other != block && mentions(program.block(other).writes, buffer)) result.push_back(other);
  return result;
}

bool reads_what_it_writes(const Block& block) {
  return std::any_of(block.writes.begin(), block.writes.end(), [&](const BufferRegion& write) {
    return mentions(block.reads, write.buffer);
  });
}

bool has_kind(const Block& block, IterKind kind) {
  return std::any_of(block.iters.begin(), block.iters.end(),
                     [&](const IterVar& iter) { return iter.kind() == kind; });
}

/// A name of an iterator that reduces and is in an index of what the block writes.
std::optional<std::string> reduced_index(const Block& block) {
  for (const IterVar& iter : block.iters) {
    if (iter.kind() != IterKind::Reduce) continue;
    for (const BufferRegion& write : block.writes)
      for (const Range& range : write.region)
        if (uses_var(range.min, iter.var()) || uses_var(range.extent, iter.var()))
          return iter.name();
  }
  return std::nullopt;
}

Classified reason(std::string text) { return {std::nullopt, std::move(text)}; }

/// Of a block that is not the only writer of what it writes.
Classified classify_half(const Program& program, int n, const std::vector<int>& others,
                         const Buffer& buffer) {
  const Block& own = program.block(n);
  const std::string shared = quoted(buffer->name) + " is written by `" +
                             program.block(others.front()).name + "` as well";
  if (others.size() > 1 || own.init) return reason(shared);
  const int other = others.front();
  const Block& half = program.block(other);
  const bool is_first = n < other;
  const Block &first = is_first ? own : half, &second = is_first ? half : own;
  const bool fills = !first.init && !second.init && !has_kind(first, IterKind::Reduce) &&
                     !mentions(first.reads, buffer) && mentions(second.reads, buffer) &&
                     first.writes.size() == second.writes.size();
  if (!fills) return reason(shared);
  if (const std::optional<std::string> iter = reduced_index(second))
    return reason("its iterator `" + *iter + "` reduces and is in an index of what it writes");
  return {is_first ? BlockClass::ReductionInit : BlockClass::ReductionUpdate, {}};
}

}  // namespace

std::string describe(const Program& program, int n) {
  if (program.is_block(n)) return "block `" + program.block(n).name + "`";
  std::string text = "loop `" + program.loop(n).var.name() + "`";
  const std::vector<int> below = program.child_blocks(n);
  if (!below.empty()) text += " around block `" + program.block(below.front()).name + "`";
  return text;
}

Classified classify(const Program& program, int n) {
  const Block& block = program.block(n);
  if (!program.scope(n)) return reason("it is the root of the function");
  for (const IterVar& iter : block.iters)
    if (iter.kind() != IterKind::DataParallel && iter.kind() != IterKind::Reduce)
      return reason("its iterator `" + iter.name() + "` is neither spatial nor reduces");
  for (const Buffer& buffer : buffers_of(block.writes)) {
    const std::vector<int> others = other_writers(program, n, buffer);
    if (!others.empty()) return classify_half(program, n, others, buffer);
  }
  if (!block.init) {
    if (has_kind(block, IterKind::Reduce)) return reason("it reduces and has no init");
    if (reads_what_it_writes(block)) return reason("it reads what it writes");
    return {BlockClass::Complete, {}};
  }
  if (const std::optional<std::string> iter = reduced_index(block))
    return reason("its iterator `" + *iter + "` reduces and is in an index of what it writes");
  return {BlockClass::Reduction, {}};
}

std::vector<int> producers(const Program& program, int block) {
  std::vector<int> result;
  for (const int other : siblings(program, block)) {
    if (other >= block) break;
    const std::vector<BufferRegion>& reads = program.block(block).reads;
    const bool writes_it = std::any_of(
        reads.begin(), reads.end(), [&](const BufferRegion& read) {
          return mentions(program.block(other).writes, read.buffer);
        });
    if (writes_it) result.push_back(other);
  }
  return result;
}

std::vector<int> consumers(const Program& program, int block) {
  std::vector<int> result;
  for (const int other : siblings(program, block)) {
    if (other <= block) continue;
    const std::vector<BufferRegion>& reads = program.block(other).reads;
    const bool reads_it = std::any_of(
        reads.begin(), reads.end(), [&](const BufferRegion& read) {
          return mentions(program.block(block).writes, read.buffer);
        });
    if (reads_it) result.push_back(other);
  }
  return result;
}

std::optional<int> other_half(const Program& program, int block) {
  const std::optional<BlockClass> block_class = classify(program, block).block_class;
  if (block_class != BlockClass::ReductionInit && block_class != BlockClass::ReductionUpdate)
    return std::nullopt;
  for (const Buffer& buffer : buffers_of(program.block(block).writes))
    for (const int other : other_writers(program, block, buffer)) return other;
  return std::nullopt;
}

std::optional<int> allocated_by(const Program& program, const Buffer& buffer, int around) {
  for (std::optional<int> at = around; at; at = program.scope(*at)) {
    if (!program.is_block(*at)) continue;
    for (const Buffer& own : program.block(*at).alloc_buffers)
      if (own.same_as(buffer)) return at;
  }
  return std::nullopt;
}

namespace {
std::optional<IterMap> iter_map_of(const Program& program, int block) {
  const BlockRealize& realize = program.realize(block);
  return find_iter_map(realize.values, domains_around(program, block), realize.predicate);
}
}  // namespace

bool has_affine_bindings(const Program& program, int block) {
  return iter_map_of(program, block).has_value();
}

std::vector<int> repeating_loops(const Program& program, int block) {
  const std::vector<int> loops = program.loops_of(block);
  const std::optional<IterMap> map = iter_map_of(program, block);
  std::vector<int> result;
  // The marks of the loops are the first ones, in the order of the loops.
  const std::vector<std::int64_t> count = map ? told_apart(*map) : std::vector<std::int64_t>();
  for (std::size_t n = 0; n < loops.size(); ++n) {
    if (is_one(program.loop(loops[n]).extent)) continue;
    if (!map || count[n] != map->marks[n].extent) result.push_back(loops[n]);
  }
  return result;
}

bool tells_writes_apart(const Block& block, const IterVar& iter) {
  if (iter.dom() && is_one(iter.dom()->extent)) return true;
  std::vector<LoopDomain> domains;
  std::size_t position = 0;
  for (const IterVar& other : block.iters) {
    if (!other.dom()) return false;
    if (other.same_as(iter)) position = domains.size();
    domains.push_back({other.var(), other.dom()->min, other.dom()->extent});
  }
  return std::all_of(block.writes.begin(), block.writes.end(), [&](const BufferRegion& write) {
    std::vector<Expr> begins;
    for (const Range& range : write.region) begins.push_back(range.min);
    const std::optional<IterMap> map = find_iter_map(begins, domains, make_true());
    if (!map) return false;
    for (std::size_t d = 0; d < begins.size(); ++d)
      for (const Digit& digit : map->values[d].digits) {
        const std::optional<std::int64_t> width = constant_int(write.region[d].extent);
        if (!width || digit.scale < *width) return false;
      }
    return told_apart(*map)[position] == map->marks[position].extent;
  });
}

namespace {

/// What is written in one iteration of the loops above `top`: exactly this box, if any is known.
std::optional<std::vector<Range>> written_box(const Program& program, int block, int top,
                                              const BufferRegion& write) {
  std::vector<int> below;
  for (const int loop : program.loops_of(block))
    if (loop > top) below.push_back(loop);
  const BlockRealize& realize = program.realize(block);
  const VarMap bindings = bindings_of(realize);
  std::vector<Expr> begins;
  for (const Range& range : write.region) begins.push_back(substitute(range.min, bindings));
  const std::optional<IterMap> map =
      find_iter_map(begins, domains_of(program, below), realize.predicate);
  if (!map) return std::nullopt;
  // Conditions on loops outside would cut the box where they fail.
  for (const Expr& part : conjuncts(realize.predicate)) {
    const std::vector<Var> vars = free_vars(part);
    const bool is_inner = std::all_of(vars.begin(), vars.end(), [&](const Var& var) {
      const std::optional<int> loop = program.find_loop(var);
      return loop && std::find(below.begin(), below.end(), *loop) != below.end();
    });
    if (!is_inner) return std::nullopt;
  }
  std::vector<Range> box;
  for (std::size_t d = 0; d < begins.size(); ++d) {
    const DigitSum& value = map->values[d];
    Expr extent = substitute(write.region[d].extent, bindings);
    if (!value.digits.empty()) {
      const Digit& digit = value.digits.front();
      const std::optional<std::int64_t> width = constant_int(extent);
      if (!width || *width < digit.scale) return std::nullopt;
      if (digit.extent == kUnknownExtent) {
        const auto* loop = std::get_if<Var>(&map->marks[digit.mark].source);
        const auto* number = std::get_if<DigitSum>(&map->marks[digit.mark].source);
        if (number && number->digits.size() == 1)
          loop = std::get_if<Var>(&map->marks[number->digits[0].mark].source);
        if (!loop || digit.scale != 1) return std::nullopt;
        extent = program.loop(*program.find_loop(*loop)).extent + (*width - 1);
      } else {
        extent = make_int(begins[d].dtype(), digit.scale * (digit.extent - 1) + *width);
      }
    }
    box.push_back(Range::from_min_extent(value.base, extent));
  }
  return box;
}

bool contains(const Range& outer, const arith::Interval& inner, const Expr& size,
              const arith::Facts& facts) {
  // A read that a condition keeps inside of the buffer may look as if it went beyond.
  const auto at_most = [&](const Expr& a, const Expr& b) {
    return arith::can_prove(a <= b, facts);
  };
  const Expr end = outer.min + outer.extent;
  const bool begins = at_most(outer.min, Expr(0)) || (inner.min() && at_most(outer.min, *inner.min()));
  const bool ends = at_most(size, end) || (inner.max() && at_most(*inner.max() + 1, end));
  return begins && ends;
}

}  // namespace

bool covers_reads(const Program& program, int producer, int consumer, const Buffer& buffer) {
  const int top = program.common(producer, consumer);
  const BlockRealize& reader = program.realize(consumer);
  arith::Facts facts;
  bind_domains(facts, domains_around(program, consumer));
  arith::IntervalMap relaxed;
  for (const int loop : program.loops_of(consumer))
    if (loop > top) {
      const For& own = program.loop(loop);
      relaxed.set(own.var, arith::Interval::from_range(Range::from_min_extent(own.min, own.extent)));
    }
  const VarMap bindings = bindings_of(reader);
  for (const BufferRegion& write : program.block(producer).writes) {
    if (!write.buffer.same_as(buffer)) continue;
    const auto box = written_box(program, producer, top, write);
    if (!box) return false;
    for (const BufferRegion& read : reader.block->reads) {
      if (!read.buffer.same_as(buffer)) continue;
      for (std::size_t d = 0; d < box->size(); ++d) {
        const Expr begin = substitute(read.region[d].min, bindings);
        const Expr end = begin + substitute(read.region[d].extent, bindings) - 1;
        const arith::Interval low = arith::values_of(begin, relaxed, facts);
        const arith::Interval high = arith::values_of(end, relaxed, facts);
        if (!low.min() || !high.max()) return false;
        if (!contains((*box)[d], arith::Interval::of(*low.min(), *high.max()), buffer->shape[d],
                      facts))
          return false;
      }
    }
  }
  return true;
}

}  // namespace tenon::s_tir
