#include "tenon/s_tir/analysis.h"

#include <algorithm>

#include "s_tir/context.h"
#include "s_tir/order_checks.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

std::vector<int> siblings(const Program& program, int block) {
  const std::optional<int> scope = program.scope(block);
  return scope ? program.child_blocks(*scope) : std::vector<int>{};
}

std::vector<int> other_writers(const Program& program, int block, const Buffer& buffer) {
  std::vector<int> result = writers_below(program, *program.scope(block), buffer);
  std::erase(result, block);
  return result;
}

/// Whether the second block reads a buffer that the first one writes.
int feeds(const Block& first, const Block& second) {
  return std::ranges::any_of(
      second.reads, [&](const BufferRegion& read) { return mentions(first.writes, read.buffer); });
}

/// Returns a phrase about a reduction iterator that is used in an index of a write.
std::optional<std::string> reduced_index(const Block& block) {
  for (const IterVar& iter : block.iters) {
    if (iter.kind() != IterKind::Reduce) continue;
    for (const BufferRegion& write : block.writes)
      for (const Range& range : write.region)
        if (uses_var(range.min, iter.var()) || uses_var(range.extent, iter.var()))
          return "its iterator `" + iter.name() +
                 "` is a reduction and is used in an index of its output";
  }
  return std::nullopt;
}

using Classified = std::pair<std::optional<BlockClass>, std::string>;
Classified reason(std::string text) { return {std::nullopt, std::move(text)}; }

/// Classifies block `n`, whose buffers are also written by the statements `others`. It can be the
/// init or the update block of a decomposed reduction.
Classified classify_half(const Program& program, int n, const std::vector<int>& others,
                         const Buffer& buffer) {
  const Block& own = program.block(n);
  const int other = others.front();
  const std::string shared = in_backticks(buffer->name) + " is written by " +
                             (program.is_block(other) ? in_backticks(program.block(other).name)
                                                      : describe(program, other)) +
                             " as well";
  if (others.size() > 1 || own.init || !program.is_block(other)) return reason(shared);
  const Block& half = program.block(other);
  const bool is_first = n < other;
  const Block &first = is_first ? own : half, &second = is_first ? half : own;
  const bool fills = !first.init && !second.init && !has_kind(first, IterKind::Reduce) &&
                     has_kind(second, IterKind::Reduce) && !mentions(first.reads, buffer) &&
                     mentions(second.reads, buffer) && first.writes.size() == second.writes.size();
  if (!fills) return reason(shared);
  if (const std::optional<std::string> index = reduced_index(second)) return reason(*index);
  return {is_first ? BlockClass::ReductionInit : BlockClass::ReductionUpdate, {}};
}

}  // namespace

std::string describe(const Program& program, int n) {
  if (program.is_block(n)) return "block `" + program.block(n).name + "`";
  if (!program.is_loop(n)) return "a statement outside of blocks";
  std::string text = "loop `" + program.loop(n).var.name() + "`";
  const std::vector<int> below = program.child_blocks(n);
  if (!below.empty()) text += " around block `" + program.block(below.front()).name + "`";
  return text;
}

std::pair<std::optional<BlockClass>, std::string> classify(const Program& program, int n) {
  const Block& block = program.block(n);
  if (!program.scope(n)) return reason("it is the root of the function");
  if (const std::optional<std::string> alias = find_alias(program, n)) return reason(*alias);
  for (const IterVar& iter : block.iters)
    if (iter.kind() != IterKind::DataParallel && iter.kind() != IterKind::Reduce)
      return reason("its iterator `" + iter.name() + "` is neither spatial nor a reduction");
  for (const Buffer& buffer : buffers_of(block.writes)) {
    const std::vector<int> others = other_writers(program, n, buffer);
    if (!others.empty()) return classify_half(program, n, others, buffer);
  }
  if (!block.init) {
    if (has_kind(block, IterKind::Reduce)) return reason("it reduces and has no init");
    if (feeds(block, block)) return reason("it reads what it writes");
    return {BlockClass::Complete, {}};
  }
  if (const std::optional<std::string> index = reduced_index(block)) return reason(*index);
  return {BlockClass::Reduction, {}};
}

namespace {

/// Returns the number of dependences from the first block to the second: one per buffer and kind
/// (read after write, write after write, write after read).
int dependences(const Block& first, const Block& second) {
  int count = 0;
  for (const BufferRegion& read : second.reads)
    if (mentions(first.writes, read.buffer)) ++count;
  for (const BufferRegion& write : second.writes) {
    if (mentions(first.writes, write.buffer)) ++count;
    if (mentions(first.reads, write.buffer)) ++count;
  }
  return count;
}

/// Returns the siblings that run before (or after) the block. A sibling is listed `count(first,
/// second)` times, where `first` is the earlier one of the sibling and the block.
std::vector<int> related(const Program& program, int block, bool is_before,
                         int (*count)(const Block& first, const Block& second)) {
  std::vector<int> result;
  for (const int other : siblings(program, block)) {
    if (other == block || (other < block) != is_before) continue;
    const auto [first, second] = std::minmax(other, block);
    result.insert(result.end(), count(program.block(first), program.block(second)), other);
  }
  return result;
}

}  // namespace

std::vector<int> producers(const Program& program, int block) {
  return related(program, block, true, feeds);
}

std::vector<int> consumers(const Program& program, int block) {
  return related(program, block, false, feeds);
}

std::vector<int> dependence_sources(const Program& program, int block) {
  return related(program, block, true, dependences);
}

std::vector<int> dependence_targets(const Program& program, int block) {
  return related(program, block, false, dependences);
}

std::optional<int> other_half(const Program& program, int block) {
  const std::optional<BlockClass> block_class = classify(program, block).first;
  if (block_class != BlockClass::ReductionInit && block_class != BlockClass::ReductionUpdate)
    return std::nullopt;
  for (const Buffer& buffer : buffers_of(program.block(block).writes))
    for (const int other : other_writers(program, block, buffer)) return other;
  return std::nullopt;
}

std::optional<int> allocated_by(const Program& program, const Buffer& buffer, int around) {
  for (std::optional<int> at = around; at; at = program.scope(*at))
    if (program.is_block(*at) && has_same(program.block(*at).alloc_buffers, buffer)) return at;
  return std::nullopt;
}

bool has_affine_bindings(const Program& program, int block) {
  return iter_map_around(program, block).has_value();
}

bool depends_on(const Program& program, int block, int loop) {
  const Var& var = program.loop(loop).var;
  const auto uses = [&](const Expr& e) {
    return uses_var(e, var) || (effect_of(e) != Effect::Pure &&
                                !written_by(program, loop, program.stmt(loop)).is_stable(e));
  };
  const BlockRealize& realize = program.realize(block);
  const std::optional<Expr> condition = condition_below(program, block, loop);
  if (!condition || uses(*condition) || std::ranges::any_of(realize.values, uses)) return true;
  for (const int other : program.loops_below(block, loop))
    if (uses(program.loop(other).min) || uses(program.loop(other).extent)) return true;
  return false;
}

bool runs_after_last(const Program& program, int block, int producer, int loop) {
  if (!depends_on(program, block, loop)) return true;
  // The two blocks run in the same iterations of the loop, and the last of these iterations
  // completes the reduction.
  const Var& var = program.loop(loop).var;
  const BlockRealize &own = program.realize(block), &sum = program.realize(producer);
  std::vector<Expr> spatial;
  for (std::size_t n = 0; n < sum.values.size(); ++n)
    if (sum.block->iters[n].kind() != IterKind::Reduce && uses_var(sum.values[n], var))
      spatial.push_back(sum.values[n]);
  for (const Expr& value : own.values)
    if (uses_var(value, var) && !has_equal(spatial, value)) return false;
  for (const Expr& value : spatial)
    if (!has_equal(own.values, value)) return false;
  const bool is_sum = has_kind(*sum.block, IterKind::Reduce);
  return is_sum && !uses_var(own.predicate, var) && has_affine_bindings(program, producer);
}

namespace {

/// The box of a buffer that a block writes in one iteration of the loops outside `top`. The block
/// runs under `condition`. `reader_condition` holds in the instances of the consumer that read the
/// box.
class WrittenBox {
 public:
  WrittenBox(const Program& program, int block, int top, const BufferRegion& write, Expr condition,
             const Expr& reader_condition, EmptyProducer empty)
      : program_(program),
        block_(block),
        realize_(program.realize(block)),
        condition_(std::move(condition)),
        write_(write),
        empty_(empty),
        memory_(program.stmt(top)) {
    for (const int loop : program.loops_of(block)) (loop > top ? below_ : loops_).push_back(loop);
    const VarMap bindings = bindings_of(realize_);
    for (const Range& range : write.region) {
      begins_.push_back(substitute(range.min, bindings));
      extents_.push_back(substitute(range.extent, bindings));
    }
    reader_ = conjuncts(reader_condition);
    bind_domains(facts_, domains_around(program, block));
    for (const Expr& part : reader_) scopes_.push_back(facts_.assume(part));
  }

  /// Returns the exact box; nullopt if it is unknown.
  std::optional<std::vector<Range>> find() const {
    const std::optional<Expr> predicate = inner_predicate();
    const Block& block = *realize_.block;
    const auto stores = [&](const Stmt& s) { return stores_region(program_, block_, s, write_); };
    // The init of a block without reduction iterators runs in every instance.
    if (!predicate || (block.init && !stores(*block.init)) ||
        (!(block.init && !has_kind(block, IterKind::Reduce)) && !stores(block.body)))
      return std::nullopt;
    const std::vector<LoopDomain> domains = domains_of(program_, below_);
    const auto map = find_iter_map(begins_, domains, *predicate);
    if (!map) return std::nullopt;
    for (const LoopDomain& loop : unused_of_unknown_extent(*map, domains))
      if (!has_iteration(loop.extent)) return std::nullopt;
    std::vector<Range> box;
    for (std::size_t d = 0; d < begins_.size(); ++d) {
      const std::optional<Range> side = side_of(*map, d);
      // The memory that a bound reads may change between the write and the read.
      if (!side || !memory_.is_stable(side->min) || !memory_.is_stable(side->extent))
        return std::nullopt;
      box.push_back(*side);
    }
    return box;
  }

 private:
  /// Returns the conjunction of the conditions that depend only on loops inside `top`. Any other
  /// condition can prevent the whole write. It is ignored only if the reader's condition implies
  /// it, or if it only keeps an index in bounds. Otherwise returns nullopt.
  std::optional<Expr> inner_predicate() const {
    // The variable of an outer loop with one iteration always equals the loop's minimum.
    VarMap unit;
    for (const int loop : loops_)
      if (is_one(program_.loop(loop).extent))
        set(unit, program_.loop(loop).var, program_.loop(loop).min);
    Expr result = make_true();
    for (const Expr& own : conjuncts(condition_)) {
      const Expr part = substitute(own, unit);
      const std::vector<Var> vars = free_vars(part);
      if (vars.empty() && arith::can_prove(part)) continue;
      const bool is_inner = !vars.empty() && std::ranges::all_of(vars, [&](const Var& var) {
        const std::optional<int> loop = program_.find_loop(var);
        return loop && std::ranges::find(below_, *loop) != below_.end();
      });
      if (is_inner)
        result = both(result, part);
      else if (!has_equal(reader_, own) && !keeps_inside(part))
        return std::nullopt;
    }
    return result;
  }

  bool keeps_inside(const Expr& part) const {
    const Binary* bound = part.as<Binary>();
    if (!bound || (bound->op != BinaryOp::Lt && bound->op != BinaryOp::Ge)) return false;
    for (std::size_t d = 0; d < begins_.size(); ++d) {
      if (!arith::can_prove_equal(begins_[d], bound->a)) continue;
      if (bound->op == BinaryOp::Lt ? arith::can_prove(bound->b >= write_.buffer->shape[d])
                                    : arith::can_prove(bound->b <= 0))
        return true;
    }
    return false;
  }

  std::optional<Range> side_of(const IterMap& map, std::size_t d) const {
    const DigitSum& value = map.values[d];
    if (value.digits.empty()) return Range::from_min_extent(value.base, extents_[d]);
    const Digit& digit = value.digits.front();
    const std::optional<std::int64_t> width = constant_int(extents_[d]);
    if (!width || *width < digit.scale) return std::nullopt;
    const std::optional<Expr> count = extent_of(map, digit, domains_of(program_, below_));
    if (!count || digit.scale < 1) return std::nullopt;
    // The length of an empty loop must be 0. The formula gives 0 only if the tiles do not overlap.
    if (*width != digit.scale && !has_iteration(*count)) return std::nullopt;
    const Expr length = *count * digit.scale + (*width - digit.scale);
    return Range::from_min_extent(value.base, cast(begins_[d].dtype(), length));
  }

  /// Whether a loop with the given extent, inside `top`, runs at least once when the box is read.
  /// Also true for a loop that may be empty if an empty producer counts as writing its elements
  /// (`empty_`).
  bool has_iteration(const Expr& extent) const {
    if (empty_ == EmptyProducer::Counts ||
        (memory_.is_stable(extent) && arith::can_prove(extent > 0, facts_)))
      return true;
    // The extent is the same in all iterations of the loops around `top` if it uses only variables
    // that are defined outside the scope and variables of loops inside `top`.
    std::vector<Var> fixed = free_vars(program_.block(*program_.scope(block_)).body);
    for (const int loop : below_) fixed.push_back(program_.loop(loop).var);
    const auto is_fixed = [&](const Var& var) { return has_same(fixed, var); };
    return empty_ == EmptyProducer::CountsIfAlwaysEmpty &&
           std::ranges::all_of(free_vars(extent), is_fixed) &&
           arith::WrittenMemory(program_.func().body).is_stable(extent);
  }

  const Program& program_;
  int block_;
  const BlockRealize& realize_;
  Expr condition_;
  const BufferRegion& write_;
  EmptyProducer empty_;
  arith::WrittenMemory memory_;
  /// The domains of the loops, and the reader's condition.
  arith::Facts facts_;
  std::vector<arith::Facts::Scope> scopes_;
  /// The loops around the block, outside and inside `top`.
  std::vector<int> loops_, below_;
  std::vector<Expr> begins_, extents_, reader_;
};

/// Whether a consumer may read incomplete results of a reduction. This is the case if a loop at or
/// outside `top` determines a reduction iterator of the producer, and the loop's last iteration
/// does not run all instances of the consumer again.
bool reads_unfinished(const Program& program, int producer, int consumer, int top) {
  return std::ranges::any_of(program.loops_of(producer), [&](int loop) {
    return loop <= top && !is_one(program.loop(loop).extent) &&
           feeds_reduction(program, producer, loop) &&
           !runs_after_last(program, consumer, producer, loop);
  });
}

}  // namespace

bool covers_reads(const Program& program, int producer, int consumer, const Buffer& buffer,
                  EmptyProducer empty) {
  const int top = program.common(producer, consumer);
  const std::optional<Expr> condition = condition_below(program, producer, top);
  if (!condition || reads_unfinished(program, producer, consumer, top)) return false;
  const BlockRealize& reader = program.realize(consumer);
  const Expr reads = condition_below(program, consumer, top).value_or(reader.predicate);
  arith::Facts facts;
  bind_domains(facts, domains_around(program, consumer));
  const auto runs = facts.assume(reads);
  const arith::IntervalMap relaxed = relaxed_below(program, consumer, top);
  const VarMap bindings = bindings_of(reader);
  // The declared read regions may be larger than what the body reads.
  const std::vector<BufferRegion> read_regions = arith::find_block_access(*reader.block).reads;
  for (const BufferRegion& write : program.block(producer).writes) {
    if (!write.buffer.same_as(buffer)) continue;
    const auto box = WrittenBox(program, producer, top, write, *condition, reads, empty).find();
    if (!box) return false;
    for (const BufferRegion& read : read_regions) {
      if (!read.buffer.same_as(buffer)) continue;
      for (std::size_t d = 0; d < box->size(); ++d) {
        const auto own = arith::Interval::from_range(substitute(read.region[d], bindings));
        const arith::Interval values = arith::values_of(own, relaxed, facts);
        const auto end = values.max() ? std::optional(*values.max() + 1) : std::nullopt;
        if (!covers((*box)[d], values.min(), end, buffer->shape[d], facts)) return false;
      }
    }
  }
  return true;
}

}  // namespace tenon::s_tir
