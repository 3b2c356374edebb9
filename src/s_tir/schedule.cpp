#include "tenon/s_tir/schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "s_tir/context.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/buffers.h"
#include "s_tir/step.h"
#include "tenon/arith/block_access.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::s_tir {

using namespace tir;

// ---- factors ------------------------------------------------------------------------------------

std::variant<std::monostate, std::int64_t, ExprRV> Factor::value() const {
  if (!number_) return std::monostate();
  if (is_sampled_) return ExprRV(static_cast<int>(*number_));
  return *number_;
}

Factors::Factors(std::initializer_list<Factor> factors) : vector(factors) {}
Factors::Factors(std::vector<Factor> factors) : vector(std::move(factors)) {}
Factors::Factors(const std::vector<ExprRV>& sampled) : vector(sampled.begin(), sampled.end()) {}

// ---- loops --------------------------------------------------------------------------------------

std::vector<LoopRV> Schedule::split(LoopRV loop, const Factors& factors,
                                    const SplitOptions& options, Where where) {
  Step step(own(), InstructionKind::Split, where);
  TraceValue::List written;
  std::vector<std::optional<std::int64_t>> numbers;
  for (const Factor& factor : factors)
    match(
        factor.value(),
        [&](std::monostate) {
          written.emplace_back();
          numbers.push_back(std::nullopt);
        },
        [&](std::int64_t value) {
          written.push_back({value});
          numbers.push_back(value);
        },
        [&](const ExprRV& value) {
          written.push_back({RV(value)});
          numbers.push_back(step.number(value));
        });
  step.with(loop, std::move(written), options.preserve_unit_iters, options.disable_predication);
  return step.apply(loop, s_tir::split, numbers, options);
}

LoopRV Schedule::fuse(const std::vector<LoopRV>& loops, const FuseOptions& options, Where where) {
  Step step(own(), InstructionKind::Fuse, where);
  std::vector<int> fused;
  const Step::Place place = step.with(loops, options.preserve_unit_iters).loops(loops, fused);
  return step.finish(place, s_tir::fuse(place.program, fused, options, where)).front();
}

void Schedule::reorder(const std::vector<LoopRV>& loops, Where where) {
  Step step(own(), InstructionKind::Reorder, where);
  std::vector<int> order;
  const Step::Place place = step.with(loops).loops(loops, order);
  step.finish(place, s_tir::reorder(place.program, order, where));
}

LoopRV Schedule::add_unit_loop(BlockOrLoop target, Where where) {
  return Step(own(), InstructionKind::AddUnitLoop, where)
      .with(target.rv())
      .apply(target.rv(), s_tir::add_unit_loop)
      .front();
}

void Schedule::parallel(LoopRV loop, Where where) {
  Step(own(), InstructionKind::Parallel, where).with(loop).apply(loop, s_tir::parallel);
}

void Schedule::vectorize(LoopRV loop, Where where) {
  Step(own(), InstructionKind::Vectorize, where).with(loop).apply(loop, s_tir::vectorize);
}

void Schedule::unroll(LoopRV loop, Where where) {
  Step(own(), InstructionKind::Unroll, where).with(loop).apply(loop, s_tir::unroll);
}

void Schedule::bind(LoopRV loop, const Name& thread_axis, Where where) {
  Step(own(), InstructionKind::Bind, where)
      .with(loop, thread_axis)
      .apply(loop, s_tir::bind, ThreadTag::parse(thread_axis, where));
}

// ---- memory -------------------------------------------------------------------------------------

BlockRV Schedule::cache_read(BlockRV block, int read_buffer_index, const Name& storage_scope,
                             Where where) {
  return Step(own(), InstructionKind::CacheRead, where)
      .with(block, read_buffer_index, storage_scope)
      .apply(block, s_tir::cache_read, read_buffer_index,
             parse_storage_scope(storage_scope, where));
}

BlockRV Schedule::cache_write(BlockRV block, int write_buffer_index, const Name& storage_scope,
                              Where where) {
  return Step(own(), InstructionKind::CacheWrite, where)
      .with(block, write_buffer_index, storage_scope)
      .apply(block, s_tir::cache_write, write_buffer_index,
             parse_storage_scope(storage_scope, where));
}

namespace {

arith::AccessKind parse_index_type(const Caller& caller, const std::string& type) {
  if (type == "read") return arith::AccessKind::Read;
  if (type == "write") return arith::AccessKind::Write;
  refuse(caller, "the index type must be \"read\" or \"write\", not \"" + type + "\"");
}

}  // namespace

BlockRV Schedule::reindex(BlockRV block, int buffer_index, const Name& buffer_index_type,
                          Where where) {
  Step step(own(), InstructionKind::Reindex, where);
  step.with(block, buffer_index, buffer_index_type);
  const arith::AccessKind kind = parse_index_type(step.caller(), buffer_index_type);
  return step.apply(block, s_tir::reindex, buffer_index, kind);
}

void Schedule::set_scope(BlockRV block, int buffer_index, const Name& storage_scope, Where where) {
  Step(own(), InstructionKind::SetScope, where)
      .with(block, buffer_index, storage_scope)
      .apply(block, s_tir::set_scope, buffer_index, parse_storage_scope(storage_scope, where));
}

void Schedule::storage_align(BlockRV block, const StorageAlignOptions& options, Where where) {
  const auto& [buffer_index, axis, factor, offset] = options;
  Step(own(), InstructionKind::StorageAlign, where)
      .with(block, buffer_index, axis, factor, offset)
      .apply(block, s_tir::storage_align, buffer_index, axis, factor, offset);
}

void Schedule::transform_layout(BlockRV block, int buffer_index, const Name& buffer_index_type,
                                const IndexMap& index_map, Where where) {
  Step step(own(), InstructionKind::TransformLayout, where);
  step.with(block, buffer_index, buffer_index_type, index_map.text());
  const arith::AccessKind kind = parse_index_type(step.caller(), buffer_index_type);
  step.apply(block, s_tir::transform_layout, buffer_index, kind, index_map);
}

void Schedule::transform_block_layout(BlockRV block, const IndexMap& index_map, Where where) {
  Step(own(), InstructionKind::TransformBlockLayout, where)
      .with(block, index_map.text())
      .apply(block, s_tir::transform_block_layout, index_map);
}

// ---- compute locations  -------------------------------------------------------------------------

namespace {

/// Runs the step compute_at or reverse_compute_at. If `loop` is a sampled location that is not a
/// loop, the block is inlined or is not moved.
template <class Moved, class Inlined>
void compute_at_loop(Step step, BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                     Moved moved, Inlined inlined) {
  step.with(block, loop, options.preserve_unit_loops, options.index);
  const SourceLocation where = step.caller().where;
  const Step::Place place = step.block(block);
  if (const auto* none = std::get_if<NoLoop>(&step.meaning(loop))) {
    if (*none == NoLoop::Inline) return step.finish(place, inlined(place.program, place.n, where));
    return step.record();
  }
  step.finish(place, moved(place.program, place.n, step.loop_with(place, loop).n, options, where));
}

}  // namespace

void Schedule::compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                          Where where) {
  compute_at_loop({own(), InstructionKind::ComputeAt, where}, block, loop, options,
                  s_tir::compute_at, s_tir::compute_inline);
}

void Schedule::reverse_compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                                  Where where) {
  compute_at_loop({own(), InstructionKind::ReverseComputeAt, where}, block, loop, options,
                  s_tir::reverse_compute_at, s_tir::reverse_compute_inline);
}

void Schedule::compute_inline(BlockRV block, Where where) {
  Step(own(), InstructionKind::ComputeInline, where)
      .with(block)
      .apply(block, s_tir::compute_inline);
}

void Schedule::reverse_compute_inline(BlockRV block, Where where) {
  Step(own(), InstructionKind::ReverseComputeInline, where)
      .with(block)
      .apply(block, s_tir::reverse_compute_inline);
}

// ---- reductions, blocks, annotations  -----------------------------------------------------------

BlockRV Schedule::decompose_reduction(BlockRV block, LoopRV loop, Where where) {
  Step step(own(), InstructionKind::DecomposeReduction, where);
  const Step::Place place = step.with(block, loop).block(block);
  const int at = step.loop_with(place, loop).n;
  return step.finish(place, s_tir::decompose_reduction(place.program, place.n, at, where));
}

void Schedule::merge_reduction(BlockRV init, BlockRV update, Where where) {
  Step step(own(), InstructionKind::MergeReduction, where);
  step.with(init, update);
  const Step::Place first = step.block(init), second = step.block(update);
  if (first.function != second.function)
    refuse(step.caller(), "the blocks belong to different functions");
  step.finish(first, s_tir::merge_reduction(first.program, first.n, second.n, where));
}

BlockRV Schedule::rfactor(LoopRV loop, int factor_axis, Where where) {
  return Step(own(), InstructionKind::RFactor, where)
      .with(loop, factor_axis)
      .apply(loop, s_tir::rfactor, factor_axis);
}

BlockRV Schedule::blockize(LoopRV loop, Where where) {
  return Step(own(), InstructionKind::Blockize, where)
      .with(loop, true)
      .apply(loop, s_tir::blockize);
}

void Schedule::tensorize(BlockOrLoop target, const Name& tensor_intrin, Where where) {
  Step step(own(), InstructionKind::Tensorize, where);
  step.with(target.rv(), tensor_intrin, true);
  const std::optional<TensorIntrin> intrin = find_tensor_intrin(tensor_intrin);
  if (!intrin) {
    std::string known;
    for (const std::string& name : tensor_intrin_names()) add_name(known, name);
    refuse(step.caller(), "no tensor intrinsic is called " + in_backticks(tensor_intrin) +
                              (known.empty() ? "; none is registered" : "; there are " + known));
  }
  step.apply(target.rv(), s_tir::tensorize, *intrin);
}

void Schedule::annotate(BlockOrLoop target, const Name& key, const AnnotationValue& value,
                        Where where) {
  Step step(own(), InstructionKind::Annotate, where);
  TraceValue written;
  Annotation noted{Expr(0)};
  match(
      value,
      [&](auto number) {
        written = {number};
        noted.value = Expr(number);
      },
      [&](const ExprRV& rv) {
        written = {RV(rv)};
        noted.value = Expr(step.number(rv));
      },
      [&](const std::string& text) {
        written = {text};
        noted.value = make_string(text);
      });
  if (const double* number = std::get_if<double>(&value); number && !std::isfinite(*number))
    refuse(step.caller(), "the value of " + in_backticks(key) +
                              " is not a finite number, which no trace can represent");
  if (const Expr* e = std::get_if<Expr>(&noted.value))
    if (const auto number = constant_int(*e); number && !e->dtype().is_bool())
      noted.value = *number >= INT32_MIN && *number <= INT32_MAX ? make_int(Int(32), *number) : *e;
  step.with(target.rv(), key, std::move(written));
  step.apply(target.rv(), s_tir::annotate, key, noted);
}

void Schedule::unannotate(BlockOrLoop target, const Name& key, Where where) {
  Step(own(), InstructionKind::Unannotate, where)
      .with(target.rv(), key)
      .apply(target.rv(), s_tir::unannotate, key);
}

void Schedule::enter_postproc() {
  Step(own(), InstructionKind::EnterPostproc, Where::current()).record();
}

// ---- queries ------------------------------------------------------------------------------------

// ---- state --------------------------------------------------------------------------------------

namespace {

/// Whether the blocks inside block `n` read only elements of the buffer that the same instance of
/// `n` has written before. The updates of a reduction satisfy this if its init, or another block,
/// initializes the elements.
bool reads_own_elements(const Program& program, int n, const Buffer& buffer) {
  if (!readers_outside_blocks(program, n, buffer).empty()) return false;
  return std::ranges::all_of(program.child_blocks(n), [&](int reader) {
    const Block& block = program.block(reader);
    if (block.init && mentions(block.writes, buffer) && why_not_begun(program, reader))
      return false;
    const std::vector<int> writers = producers(program, reader);
    return !mentions(block.reads, buffer) || std::ranges::any_of(writers, [&](int writer) {
      return mentions(program.block(writer).writes, buffer) &&
             covers_reads(program, writer, reader, buffer);
    });
  });
}

/// Throws unless the primitives may treat every block as a function of its iterators and regions: a
/// block must use enclosing loops only through its iterators, and its regions must mention every
/// buffer that it accesses.
void require_declared_inputs(const Caller& caller, const Program& program) {
  for (int n = 1; n < program.size(); ++n) {
    if (!program.is_block(n)) continue;
    const Block& block = program.block(n);
    for (const Stmt& part :
         block.init ? std::vector{*block.init, block.body} : std::vector{block.body})
      for (const Var& var : free_vars(part))
        if (program.find_loop(var))
          refuse(caller, describe(program, n) + " uses loop variable `" + var.name() +
                             "`, which is not one of its iterators; bind an iterator to the loop");
    // A block without a signature, such as the root, has no regions to check.
    if (block.iters.empty() && block.reads.empty() && block.writes.empty()) continue;
    const arith::BlockAccess found = arith::find_block_access(block);
    Block init = block;
    init.body = std::exchange(init.init, std::nullopt).value_or(make_nop());
    const std::vector<BufferRegion> begun = arith::find_block_access(init).writes;
    const auto require = [&](const std::vector<BufferRegion>& accessed,
                             const std::vector<BufferRegion>& declared, const char* verb) {
      for (const Buffer& buffer : buffers_of(accessed))
        if (!mentions(declared, buffer) && !mentions(begun, buffer) &&
            (&accessed != &found.reads || !reads_own_elements(program, n, buffer)))
          refuse(caller, describe(program, n) + " " + verb + " `" + buffer->name +
                             "`, which its declared regions omit; declare the access, or leave "
                             "T.reads and T.writes out to have them inferred");
    };
    require(found.reads, block.reads, "reads");
    require(found.writes, block.writes, "writes");
  }
}

}  // namespace

Schedule::Schedule(IRModule mod, const ScheduleOptions& options, Where where)
    : state_(std::make_shared<State>()) {
  for (auto& [name, func] : mod.functions) {
    if (func.form != Form::Blocks)
      throw TypeError(
          "Schedule: function `" + name +
              "` is not a block program; te::create_prim_func and parse_script make block programs",
          where);
    func.body = with_covering_regions(func).body;
    func.body = with_own_ids(func.body);
    require_declared_inputs({"Schedule", where}, Program(func));
  }
  state_->mod = std::move(mod);
  state_->dice = Random::with_state(options.seed * 0x9E3779B97F4A7C15ull + 0x123456789ull);
}

const IRModule& Schedule::mod() const { return state().mod; }
const Trace& Schedule::trace() const { return state().trace; }

Schedule::State& Schedule::own() {
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  return *state_;
}

// ---- look-up  -----------------------------------------------------------------------------------

BlockRV Schedule::get_block(const Name& name, const Name& func_name, Where where) {
  Step step(own(), InstructionKind::GetBlock, where);
  step.with(name, func_name);
  if (!mod().functions.contains(func_name)) {
    std::string known;
    for (const auto& [other, func] : mod().functions) add_name(known, other);
    refuse(step.caller(), "no function is called `" + func_name + "`; there is " + known);
  }
  const Program& program = step.program(func_name);
  const std::vector<int> found = program.blocks_named(name);
  if (found.size() != 1) {
    std::string known;
    for (int n = 0; n < program.size(); ++n)
      if (program.is_block(n)) add_name(known, program.block(n).name);
    refuse(step.caller(), (found.empty() ? "no block" : std::to_string(found.size()) + " blocks") +
                              (found.size() > 1 ? " are" : " is") + " called `" + name +
                              "` in function `" + func_name + "`; its blocks are " + known);
  }
  const BlockRV result = step.give_block(func_name, program.block(found.front()).id);
  step.record();
  return result;
}

std::vector<LoopRV> Schedule::get_loops(BlockRV block, Where where) {
  Step step(own(), InstructionKind::GetLoops, where);
  step.with(block);
  const Step::Place place = step.block(block);
  std::vector<LoopRV> result;
  for (const int n : place.program.loops_of(place.n))
    result.push_back(step.give_loop(place.function, place.program.loop(n).var));
  step.record();
  return result;
}

namespace {

using BlocksOf = std::vector<int> (*)(const Program& program, int n);

/// Returns handles of the blocks that are related to a block or loop, and records the step.
std::vector<BlockRV> related(Step step, RV to, BlocksOf blocks) {
  step.with(to);
  const Step::Place place = step.block_or_loop(to);
  std::vector<BlockRV> result;
  for (const int n : blocks(place.program, place.n))
    result.push_back(step.give_block(place.function, place.program.block(n).id));
  step.record();
  return result;
}

std::vector<int> children(const Program& program, int n) { return program.child_blocks(n); }

}  // namespace

std::vector<BlockRV> Schedule::get_child_blocks(BlockOrLoop parent, Where where) {
  return related({own(), InstructionKind::GetChildBlocks, where}, parent.rv(), children);
}

std::vector<BlockRV> Schedule::get_producers(BlockRV block, Where where) {
  return related({own(), InstructionKind::GetProducers, where}, block, dependence_sources);
}

std::vector<BlockRV> Schedule::get_consumers(BlockRV block, Where where) {
  return related({own(), InstructionKind::GetConsumers, where}, block, dependence_targets);
}

std::int64_t Schedule::get(ExprRV value, Where where) const {
  return Step(*state_, "get", where).number(value);
}
For Schedule::get(LoopRV loop, Where where) const {
  const Step step(*state_, "get", where);
  const Step::Place place = step.loop(loop);
  return place.program.loop(place.n);
}
BlockRealize Schedule::get(BlockRV block, Where where) const {
  const Step step(*state_, "get", where);
  const Step::Place place = step.block(block);
  return place.program.realize(place.n);
}

// ---- sampling -----------------------------------------------------------------------------------

namespace {

/// Returns the divisors in ascending order. Trial division is fast enough, because extents to be
/// tiled are at most kMaxTiledExtent.
std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t d = 1; d <= number / d; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d != number / d) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

constexpr std::int64_t kMaxTiledExtent = std::int64_t{1} << 40;
constexpr int kMaxTileFactors = 64;

/// Returns the prime factors in ascending order, each once.
std::vector<std::int64_t> prime_factors(std::int64_t number) {
  std::vector<std::int64_t> primes;
  for (std::int64_t d = 2; number > 1; ++d) {
    if (d > number / d) d = number;
    if (number % d == 0) primes.push_back(d);
    while (number % d == 0) number /= d;
  }
  return primes;
}

/// Draws a list of `factors` numbers whose product is the extent. The last one is at most
/// `max_last`. All such lists are equally likely. Nullopt if there are no such lists. The lists are
/// counted without enumeration, because their number grows polynomially with `factors`.
std::optional<std::vector<std::int64_t>> drawn_tile(std::int64_t extent, int factors,
                                                    std::int64_t max_last, Random& dice) {
  const std::vector<std::int64_t> all_divisors = divisors(extent), primes = prime_factors(extent);
  // Returns the number of lists of n factors of the number whose last factor does not exceed the
  // limit. It is exact up to 2^53.
  const std::function<double(std::int64_t, int, std::int64_t)> count_of =
      [&](std::int64_t number, int n, std::int64_t limit) -> double {
    if (n == 1) return number <= limit ? 1 : 0;
    if (number > limit) {
      double sum = 0;
      for (const std::int64_t d : all_divisors)
        if (d <= limit && number % d == 0) sum += count_of(number / d, n - 1, number);
      return sum;
    }
    // Each prime's exponent is distributed over the n factors independently.
    double result = 1;
    for (const std::int64_t prime : primes) {
      int exponent = 0;
      for (std::int64_t rest = number; rest % prime == 0; rest /= prime) ++exponent;
      for (int k = 1; k <= exponent; ++k) result = result * (n - 1 + k) / k;
    }
    return result;
  };
  constexpr double kExact = 9007199254740992;
  const double all = count_of(extent, factors, max_last);
  if (all == 0) return std::nullopt;
  const bool is_exact = all < kExact;
  double point = is_exact ? static_cast<double>(dice.below(static_cast<std::uint64_t>(all))) : 0;
  std::vector<std::int64_t> tile(static_cast<std::size_t>(factors), 1);
  std::int64_t rest = extent, limit = max_last;
  for (int n = factors; n > 1; --n) {
    if (!is_exact) point = dice.unit() * count_of(rest, n, limit);
    std::int64_t& factor = tile[static_cast<std::size_t>(n - 1)];
    for (const std::int64_t d : all_divisors) {
      if (rest % d != 0 || d > limit) continue;
      factor = d;
      const double lists = count_of(rest / d, n - 1, rest);
      if (point < lists) break;
      point -= lists;
    }
    rest /= factor;
    limit = rest;
  }
  tile.front() = rest;
  return tile;
}

/// Adapts a decision that was made for another extent. Processes factors from the innermost
/// outwards, and replaces those that do not divide the extent by the nearest divisor. The outermost
/// factor becomes the quotient.
std::vector<std::int64_t> repaired(std::vector<std::int64_t> tile, std::int64_t extent) {
  const std::vector<std::int64_t> all = divisors(extent);
  std::int64_t rest = extent;
  for (std::size_t n = tile.size(); n-- > 1;) {
    const std::int64_t wanted = tile[n];
    tile[n] = 1;
    for (const std::int64_t d : all)
      if (d <= wanted && rest % d == 0) tile[n] = d;
    rest /= tile[n];
  }
  tile.front() = rest;
  return tile;
}

}  // namespace

std::vector<ExprRV> Schedule::sample_perfect_tile(LoopRV loop, const PerfectTileOptions& options,
                                                  Where where) {
  Step step(own(), InstructionKind::SamplePerfectTile, where);
  step.with(loop, options.n, options.max_innermost_factor);
  const Step::Place place = step.loop(loop);
  const std::optional<std::int64_t> extent = constant_int(place.program.loop(place.n).extent);
  if (options.n < 1 || options.n > kMaxTileFactors)
    refuse(step.caller(),
           "n is " + std::to_string(options.n) + ", not 1 to " + std::to_string(kMaxTileFactors));
  if (options.max_innermost_factor < 1)
    refuse(step.caller(), "max_innermost_factor is " +
                              std::to_string(options.max_innermost_factor) + ", not 1 or more");
  std::vector<std::int64_t> tile;
  if (options.decision && options.decision->size() != static_cast<std::size_t>(options.n))
    refuse(step.caller(), "the decision has " + std::to_string(options.decision->size()) +
                              " factors, and n is " + std::to_string(options.n));
  if (!extent) {
    refuse(step.caller(), describe(place.program, place.n) +
                              " has no constant extent, so that it has no factors to draw");
  } else if (*extent < 1 || *extent > kMaxTiledExtent) {
    refuse(step.caller(), describe(place.program, place.n) + " has " + std::to_string(*extent) +
                              " iterations; factors are drawn for 1 to 2^40");
  } else if (options.decision) {
    tile = repaired(*options.decision, *extent);
  } else {
    const auto drawn = drawn_tile(*extent, options.n, options.max_innermost_factor, step.dice());
    if (!drawn)
      refuse(step.caller(), describe(place.program, place.n) + " cannot be tiled with one factor " +
                                "of at most " + std::to_string(options.max_innermost_factor));
    tile = *drawn;
  }
  TraceValue::List decision;
  std::vector<ExprRV> result;
  for (const std::int64_t factor : tile) {
    decision.push_back({factor});
    result.push_back(step.give_number(factor));
  }
  step.decide({std::move(decision)});
  step.record();
  return result;
}

ExprRV Schedule::sample_categorical(const std::vector<std::int64_t>& candidates,
                                    const std::vector<double>& probs, const ChoiceOptions& options,
                                    Where where) {
  Step step(own(), InstructionKind::SampleCategorical, where);
  TraceValue::List values, weights;
  for (const std::int64_t candidate : candidates) values.emplace_back(candidate);
  for (const double weight : probs) weights.emplace_back(weight);
  step.with(std::move(values), std::move(weights));
  if (candidates.empty() || candidates.size() != probs.size())
    refuse(step.caller(), std::to_string(candidates.size()) + " candidates and " +
                              std::to_string(probs.size()) + " probabilities are given");
  double total = 0;
  for (const double weight : probs) {
    if (!(weight >= 0)) refuse(step.caller(), "a probability is negative");
    total += weight;
  }
  if (!(total > 0)) refuse(step.caller(), "all probabilities are zero");
  const int count = static_cast<int>(candidates.size());
  int index = 0;
  if (options.decision && *options.decision >= 0 && *options.decision < count) {
    index = *options.decision;
  } else {
    double point = step.dice().unit() * total;
    while (index + 1 < count && point >= probs[static_cast<std::size_t>(index)])
      point -= probs[static_cast<std::size_t>(index++)];
  }
  step.decide({std::int64_t{index}});
  const ExprRV result = step.give_number(candidates[static_cast<std::size_t>(index)]);
  step.record();
  return result;
}

LoopRV Schedule::sample_compute_location(BlockRV block, const ChoiceOptions& options, Where where) {
  Step step(own(), InstructionKind::SampleComputeLocation, where);
  step.with(block);
  const Step::Place place = step.block(block);
  // The loops around a consumer at which the block can be computed.
  std::vector<int> locations;
  const std::vector<int> readers = consumers(place.program, place.n);
  if (!readers.empty())
    for (const int loop : place.program.loops_of(readers.front())) {
      try {
        s_tir::compute_at(place.program, place.n, loop, {}, where);
        locations.push_back(loop);
      } catch (const ScheduleError&) {
        continue;
      }
    }
  const int count = static_cast<int>(locations.size());
  int index = options.decision.value_or(-1);
  if (!options.decision || index < -2 || index >= count)
    index = static_cast<int>(step.dice().below(static_cast<std::uint64_t>(count) + 1)) - 1;
  step.decide({std::int64_t{index}});
  const LoopRV result =
      index < 0
          ? LoopRV(step.give(RV::Kind::Loop, index == -1 ? NoLoop::Root : NoLoop::Inline).number)
          : step.give_loop(place.function, place.program.loop(locations[index]).var);
  step.record();
  return result;
}

}  // namespace tenon::s_tir
