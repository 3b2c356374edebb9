#include "tenon/s_tir/schedule.h"

#include <algorithm>

#include "s_tir/context.h"
#include "s_tir/schedule_state.h"

namespace tenon::s_tir {

using namespace tir;

// ---- state --------------------------------------------------------------------------------------

std::uint64_t Dice::next() {
  // SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::uint64_t Dice::below(std::uint64_t n) {
  const std::uint64_t limit = ~std::uint64_t{0} / n * n;
  for (;;)
    if (const std::uint64_t drawn = next(); drawn < limit) return drawn % n;
}

Schedule::Schedule(IRModule mod, const ScheduleOptions& options, Where where)
    : state_(std::make_shared<State>()) {
  for (const auto& [name, func] : mod.functions)
    if (func.form != Form::Blocks)
      throw TypeError("Schedule: function `" + name +
                          "` is no block program; te::create_prim_func and parse_script make such",
                      where);
  state_->mod = std::move(mod);
  state_->dice = Dice(options.seed);
}

const IRModule& Schedule::mod() const { return state().mod; }
const Trace& Schedule::trace() const { return state().trace; }

Schedule::State& Schedule::own() {
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  return *state_;
}

// ---- steps --------------------------------------------------------------------------------------

namespace {

std::string rv_name(RV rv) {
  const char* letters[] = {"b", "l", "v"};
  return letters[static_cast<int>(rv.kind)] + std::to_string(rv.number);
}

TraceValue list_of(const std::vector<LoopRV>& loops) {
  TraceValue::List list;
  for (const LoopRV& loop : loops) list.push_back({RV(loop)});
  return {std::move(list)};
}

}  // namespace

/// One step under way: looks handles up, and in the end records what was done.
class Step {
 public:
  Step(Schedule::State& state, InstructionKind kind, std::string_view primitive,
       SourceLocation where)
      : state_(state), caller_{primitive, where}, instruction_{kind, {}, {}, {}} {}

  Step& with(TraceValue argument) {
    instruction_.arguments.push_back(std::move(argument));
    return *this;
  }
  void decide(TraceValue decision) { instruction_.decision = std::move(decision); }
  const Caller& caller() const { return caller_; }

  const Meaning& meaning(RV rv) const {
    if (rv.number < 0 || rv.number >= static_cast<int>(state_.meanings.size()))
      refuse(caller_, "`" + rv_name(rv) + "` is no handle of this schedule");
    return state_.meanings[static_cast<std::size_t>(rv.number)];
  }

  const Program& program(const std::string& function) const {
    std::shared_ptr<const Program>& program = state_.programs[function];
    if (!program) program = std::make_shared<const Program>(state_.mod.functions.at(function));
    return *program;
  }

  struct Place {
    std::string function;
    const Program& program;
    int n;
  };
  Place block(BlockRV rv) const {
    const auto* handle = std::get_if<BlockHandle>(&meaning(rv));
    if (!handle) refuse(caller_, "`" + rv_name(rv) + "` is no block");
    const Program& own = program(handle->function);
    const std::optional<int> n = own.find_block(handle->key);
    if (!n)
      refuse(caller_, "block `" + rv_name(rv) + "` is no longer in function `" +
                          handle->function + "`: an earlier step has inlined it");
    return {handle->function, own, *n};
  }
  Place loop(LoopRV rv) const {
    const Meaning& own = meaning(rv);
    if (std::holds_alternative<NoLoop>(own))
      refuse(caller_, "`" + rv_name(rv) + "` is the root and no loop");
    const auto* handle = std::get_if<LoopHandle>(&own);
    if (!handle) refuse(caller_, "`" + rv_name(rv) + "` is no loop");
    const Program& of = program(handle->function);
    const std::optional<int> n = of.find_loop(handle->var);
    if (!n)
      refuse(caller_, "loop `" + handle->var.name() + "` (" + rv_name(rv) +
                          ") is no longer in function `" + handle->function +
                          "`: an earlier step has split, fused or moved it; get_loops gives the "
                          "loops as they are now");
    return {handle->function, of, *n};
  }
  Place block_or_loop(RV rv) const {
    return rv.kind == RV::Kind::Block ? block(BlockRV(rv.number)) : loop(LoopRV(rv.number));
  }
  /// Loops of one function.
  std::vector<int> loops(const std::vector<LoopRV>& rvs, std::string& function) const {
    std::vector<int> result;
    for (const LoopRV& rv : rvs) {
      const Place place = loop(rv);
      if (!function.empty() && place.function != function)
        refuse(caller_, "the loops are of different functions");
      function = place.function;
      result.push_back(place.n);
    }
    if (function.empty()) refuse(caller_, "no loops are given");
    return result;
  }
  std::int64_t number(ExprRV rv) const {
    const auto* value = std::get_if<std::int64_t>(&meaning(rv));
    if (!value) refuse(caller_, "`" + rv_name(rv) + "` is no number");
    return *value;
  }

  // ---- results ----

  void replace(const std::string& function, PrimFunc func,
               const std::vector<std::pair<BlockKey, BlockKey>>& renamed = {}) {
    if (!renamed.empty()) {
      const Program& before = program(function);
      for (Meaning& own : state_.meanings) {
        auto* handle = std::get_if<BlockHandle>(&own);
        if (!handle || handle->function != function) continue;
        const std::optional<int> n = before.find_block(handle->key);
        for (const auto& [from, to] : renamed)
          if (n && before.find_block(from) == n) {
            handle->key = to;
            break;
          }
      }
    }
    state_.mod.functions.at(function) = func;
    state_.programs[function] = std::make_shared<const Program>(std::move(func));
  }
  RV give(RV::Kind kind, Meaning own) {
    const RV rv{kind, static_cast<int>(state_.meanings.size())};
    state_.meanings.push_back(std::move(own));
    instruction_.outputs.push_back(rv);
    return rv;
  }
  BlockRV give_block(const std::string& function, const BlockKey& key) {
    return BlockRV(give(RV::Kind::Block, BlockHandle{function, key}).number);
  }
  LoopRV give_loop(const std::string& function, const Var& var) {
    return LoopRV(give(RV::Kind::Loop, LoopHandle{function, var}).number);
  }
  ExprRV give_number(std::int64_t value) {
    return ExprRV(give(RV::Kind::Expr, value).number);
  }
  Dice& dice() { return state_.dice; }

  void record() { state_.trace.steps.push_back(std::move(instruction_)); }

 private:
  Schedule::State& state_;
  Caller caller_;
  Instruction instruction_;
};

// Everything that can fail runs before anything is changed: a step that throws leaves all as it
// was. The schedule's own state is what steps look handles up in, so they take it to themselves
// first.

BlockRV Schedule::get_block(const Name& name, const Name& func_name, Where where) {
  Step step(own(), InstructionKind::GetBlock, "get_block", where);
  step.with({std::string(name)}).with({std::string(func_name)});
  if (!mod().functions.contains(func_name)) {
    std::string known;
    for (const auto& [other, func] : mod().functions)
      known += (known.empty() ? "`" : ", `") + other + "`";
    refuse(step.caller(), "there is no function `" + func_name + "`; there is " + known);
  }
  const Program& program = step.program(func_name);
  const std::vector<int> found = program.blocks_named(name);
  if (found.size() != 1) {
    std::string known;
    for (int n = 0; n < program.size(); ++n)
      if (program.is_block(n))
        known += (known.empty() ? "`" : ", `") + program.block(n).name + "`";
    refuse(step.caller(),
           (found.empty() ? "no block" : std::to_string(found.size()) + " blocks") +
               (found.size() > 1 ? " are" : " is") + " called `" + name + "` in function `" +
               func_name + "`; its blocks are " + known);
  }
  const BlockRV result = step.give_block(func_name, program.key_of(found.front()));
  step.record();
  return result;
}

std::vector<LoopRV> Schedule::get_loops(BlockRV block, Where where) {
  Step step(own(), InstructionKind::GetLoops, "get_loops", where);
  step.with({RV(block)});
  const Step::Place place = step.block(block);
  std::vector<LoopRV> result;
  for (const int n : place.program.loops_of(place.n))
    result.push_back(step.give_loop(place.function, place.program.loop(n).var));
  step.record();
  return result;
}

std::vector<BlockRV> Schedule::get_child_blocks(BlockOrLoop parent, Where where) {
  Step step(own(), InstructionKind::GetChildBlocks, "get_child_blocks", where);
  step.with({parent.rv()});
  const Step::Place place = step.block_or_loop(parent.rv());
  std::vector<BlockRV> result;
  for (const int n : place.program.child_blocks(place.n))
    result.push_back(step.give_block(place.function, place.program.key_of(n)));
  step.record();
  return result;
}

std::vector<BlockRV> Schedule::get_producers(BlockRV block, Where where) {
  Step step(own(), InstructionKind::GetProducers, "get_producers", where);
  step.with({RV(block)});
  const Step::Place place = step.block(block);
  std::vector<BlockRV> result;
  for (const int n : producers(place.program, place.n))
    result.push_back(step.give_block(place.function, place.program.key_of(n)));
  step.record();
  return result;
}

std::vector<BlockRV> Schedule::get_consumers(BlockRV block, Where where) {
  Step step(own(), InstructionKind::GetConsumers, "get_consumers", where);
  step.with({RV(block)});
  const Step::Place place = step.block(block);
  std::vector<BlockRV> result;
  for (const int n : consumers(place.program, place.n))
    result.push_back(step.give_block(place.function, place.program.key_of(n)));
  step.record();
  return result;
}

std::int64_t Schedule::get(ExprRV value, Where where) const {
  return Step(*state_, InstructionKind::EnterPostproc, "get", where).number(value);
}
For Schedule::get(LoopRV loop, Where where) const {
  const Step step(*state_, InstructionKind::EnterPostproc, "get", where);
  const Step::Place place = step.loop(loop);
  return place.program.loop(place.n);
}
BlockRealize Schedule::get(BlockRV block, Where where) const {
  const Step step(*state_, InstructionKind::EnterPostproc, "get", where);
  const Step::Place place = step.block(block);
  return place.program.realize(place.n);
}

// ---- sampling -----------------------------------------------------------------------------------

namespace {

/// All lists of n factors of the extent whose last is at most the limit.
void tilings(std::int64_t extent, int n, std::int64_t limit, std::vector<std::int64_t>& tail,
             std::vector<std::vector<std::int64_t>>& result) {
  if (n == 1 && (!tail.empty() || extent <= limit)) {
    result.emplace_back(tail.rbegin(), tail.rend());
    result.back().insert(result.back().begin(), extent);
    return;
  }
  if (n <= 1) return;
  for (std::int64_t factor = 1; factor <= extent; ++factor) {
    if (extent % factor != 0) continue;
    if (tail.empty() && factor > limit) break;
    tail.push_back(factor);
    tilings(extent / factor, n - 1, limit, tail, result);
    tail.pop_back();
  }
}

/// A decision made for another extent: factors that no longer divide become the nearest that do,
/// from the innermost outwards, and the outermost takes the rest.
std::vector<std::int64_t> repaired(std::vector<std::int64_t> tile, std::int64_t extent) {
  std::int64_t rest = extent;
  for (std::size_t n = tile.size(); n-- > 1;) {
    std::int64_t factor = std::max<std::int64_t>(1, std::min(tile[n], rest));
    while (rest % factor != 0) --factor;
    tile[n] = factor;
    rest /= factor;
  }
  tile.front() = rest;
  return tile;
}

}  // namespace

std::vector<ExprRV> Schedule::sample_perfect_tile(LoopRV loop, const PerfectTileOptions& options,
                                                  Where where) {
  Step step(own(), InstructionKind::SamplePerfectTile, "sample_perfect_tile", where);
  step.with({RV(loop)})
      .with({std::int64_t{options.n}})
      .with({std::int64_t{options.max_innermost_factor}});
  const Step::Place place = step.loop(loop);
  const std::optional<std::int64_t> extent = constant_int(place.program.loop(place.n).extent);
  if (options.n < 1) refuse(step.caller(), "n is " + std::to_string(options.n) + ", not 1 or more");
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
  } else if (options.decision) {
    tile = repaired(*options.decision, *extent);
  } else {
    std::vector<std::vector<std::int64_t>> all;
    std::vector<std::int64_t> tail;
    tilings(*extent, options.n, options.max_innermost_factor, tail, all);
    if (all.empty())
      refuse(step.caller(), describe(place.program, place.n) + " cannot be tiled with one factor " +
                                "of at most " + std::to_string(options.max_innermost_factor));
    tile = all[step.dice().below(all.size())];
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
                                    const std::vector<double>& probs,
                                    const CategoricalOptions& options, Where where) {
  Step step(own(), InstructionKind::SampleCategorical, "sample_categorical", where);
  TraceValue::List values, weights;
  for (const std::int64_t candidate : candidates) values.push_back({candidate});
  for (const double weight : probs) weights.push_back({weight});
  step.with({std::move(values)}).with({std::move(weights)});
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

LoopRV Schedule::sample_compute_location(BlockRV block, const ComputeLocationOptions& options,
                                         Where where) {
  Step step(own(), InstructionKind::SampleComputeLocation, "sample_compute_location", where);
  step.with({RV(block)});
  const Step::Place place = step.block(block);
  // The loops of a consumer below which the block can be computed.
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
      index < 0 ? LoopRV(step.give(RV::Kind::Loop, index == -1 ? NoLoop::Root : NoLoop::Inline)
                             .number)
                : step.give_loop(place.function, place.program.loop(locations[index]).var);
  step.record();
  return result;
}

// ---- loops --------------------------------------------------------------------------------------

std::vector<LoopRV> Schedule::split(LoopRV loop, const Factors& factors,
                                    const SplitOptions& options, Where where) {
  Step step(own(), InstructionKind::Split, "split", where);
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
  step.with({RV(loop)})
      .with({std::move(written)})
      .with({options.preserve_unit_iters})
      .with({options.disable_predication});
  const Step::Place place = step.loop(loop);
  const std::string function = place.function;
  SplitLoop result = s_tir::split(place.program, place.n, numbers, options, where);
  step.replace(function, std::move(result.func));
  std::vector<LoopRV> loops;
  for (const Var& var : result.loops) loops.push_back(step.give_loop(function, var));
  step.record();
  return loops;
}

LoopRV Schedule::fuse(const std::vector<LoopRV>& loops, const FuseOptions& options, Where where) {
  Step step(own(), InstructionKind::Fuse, "fuse", where);
  step.with(list_of(loops)).with({options.preserve_unit_iters});
  std::string function;
  const std::vector<int> places = step.loops(loops, function);
  FusedLoop result = s_tir::fuse(step.program(function), places, options, where);
  step.replace(function, std::move(result.func));
  const LoopRV loop = step.give_loop(function, result.loop);
  step.record();
  return loop;
}

void Schedule::reorder(const std::vector<LoopRV>& loops, Where where) {
  Step step(own(), InstructionKind::Reorder, "reorder", where);
  step.with(list_of(loops));
  std::string function;
  const std::vector<int> places = step.loops(loops, function);
  step.replace(function, s_tir::reorder(step.program(function), places, where));
  step.record();
}

void Schedule::parallel(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Parallel, "parallel", where);
  step.with({RV(loop)});
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::parallel(place.program, place.n, where));
  step.record();
}

void Schedule::vectorize(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Vectorize, "vectorize", where);
  step.with({RV(loop)});
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::vectorize(place.program, place.n, where));
  step.record();
}

void Schedule::unroll(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Unroll, "unroll", where);
  step.with({RV(loop)});
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::unroll(place.program, place.n, where));
  step.record();
}

void Schedule::bind(LoopRV loop, const Name& thread_axis, Where where) {
  Step step(own(), InstructionKind::Bind, "bind", where);
  step.with({RV(loop)}).with({std::string(thread_axis)});
  const ThreadTag thread = ThreadTag::parse(thread_axis, where);
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::bind(place.program, place.n, thread, where));
  step.record();
}

// ---- memory -------------------------------------------------------------------------------------

BlockRV Schedule::cache_read(BlockRV block, int read_buffer_index, const Name& storage_scope,
                             Where where) {
  Step step(own(), InstructionKind::CacheRead, "cache_read", where);
  step.with({RV(block)})
      .with({std::int64_t{read_buffer_index}})
      .with({std::string(storage_scope)});
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  const std::string function = place.function;
  NewBlock result = s_tir::cache_read(place.program, place.n, read_buffer_index, scope, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV copy = step.give_block(function, result.block);
  step.record();
  return copy;
}

BlockRV Schedule::cache_write(BlockRV block, int write_buffer_index, const Name& storage_scope,
                              Where where) {
  Step step(own(), InstructionKind::CacheWrite, "cache_write", where);
  step.with({RV(block)})
      .with({std::int64_t{write_buffer_index}})
      .with({std::string(storage_scope)});
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  const std::string function = place.function;
  NewBlock result = s_tir::cache_write(place.program, place.n, write_buffer_index, scope, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV copy = step.give_block(function, result.block);
  step.record();
  return copy;
}

void Schedule::set_scope(BlockRV block, int buffer_index, const Name& storage_scope,
                         Where where) {
  Step step(own(), InstructionKind::SetScope, "set_scope", where);
  step.with({RV(block)}).with({std::int64_t{buffer_index}}).with({std::string(storage_scope)});
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  step.replace(place.function,
               s_tir::set_scope(place.program, place.n, buffer_index, scope, where));
  step.record();
}

void Schedule::storage_align(BlockRV block, const StorageAlignOptions& options, Where where) {
  Step step(own(), InstructionKind::StorageAlign, "storage_align", where);
  step.with({RV(block)})
      .with({std::int64_t{options.buffer_index}})
      .with({std::int64_t{options.axis}})
      .with({std::int64_t{options.factor}})
      .with({std::int64_t{options.offset}});
  const Step::Place place = step.block(block);
  step.replace(place.function,
               s_tir::storage_align(place.program, place.n, options.buffer_index, options.axis,
                                    options.factor, options.offset, where));
  step.record();
}

// ---- places of computation ----------------------------------------------------------------------

void Schedule::compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                          Where where) {
  Step step(own(), InstructionKind::ComputeAt, "compute_at", where);
  step.with({RV(block)})
      .with({RV(loop)})
      .with({options.preserve_unit_loops})
      .with({std::int64_t{options.index}});
  const Step::Place place = step.block(block);
  if (const auto* none = std::get_if<NoLoop>(&step.meaning(loop))) {
    // A drawn location may be where the block is, or none at all.
    if (*none == NoLoop::Inline)
      step.replace(place.function, s_tir::compute_inline(place.program, place.n, where));
    step.record();
    return;
  }
  const Step::Place target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop are of different functions");
  step.replace(place.function,
               s_tir::compute_at(place.program, place.n, target.n, options, where));
  step.record();
}

void Schedule::reverse_compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                                  Where where) {
  Step step(own(), InstructionKind::ReverseComputeAt, "reverse_compute_at", where);
  step.with({RV(block)})
      .with({RV(loop)})
      .with({options.preserve_unit_loops})
      .with({std::int64_t{options.index}});
  const Step::Place place = step.block(block);
  if (const auto* none = std::get_if<NoLoop>(&step.meaning(loop))) {
    if (*none == NoLoop::Inline)
      step.replace(place.function, s_tir::reverse_compute_inline(place.program, place.n, where));
    step.record();
    return;
  }
  const Step::Place target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop are of different functions");
  step.replace(place.function,
               s_tir::reverse_compute_at(place.program, place.n, target.n, options, where));
  step.record();
}

void Schedule::compute_inline(BlockRV block, Where where) {
  Step step(own(), InstructionKind::ComputeInline, "compute_inline", where);
  step.with({RV(block)});
  const Step::Place place = step.block(block);
  step.replace(place.function, s_tir::compute_inline(place.program, place.n, where));
  step.record();
}

void Schedule::reverse_compute_inline(BlockRV block, Where where) {
  Step step(own(), InstructionKind::ReverseComputeInline, "reverse_compute_inline", where);
  step.with({RV(block)});
  const Step::Place place = step.block(block);
  step.replace(place.function, s_tir::reverse_compute_inline(place.program, place.n, where));
  step.record();
}

// ---- reductions, blocks, notes ------------------------------------------------------------------

BlockRV Schedule::decompose_reduction(BlockRV block, LoopRV loop, Where where) {
  Step step(own(), InstructionKind::DecomposeReduction, "decompose_reduction", where);
  step.with({RV(block)}).with({RV(loop)});
  const Step::Place place = step.block(block), target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop are of different functions");
  const std::string function = place.function;
  NewBlock result = s_tir::decompose_reduction(place.program, place.n, target.n, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV init = step.give_block(function, result.block);
  step.record();
  return init;
}

void Schedule::merge_reduction(BlockRV init, BlockRV update, Where where) {
  Step step(own(), InstructionKind::MergeReduction, "merge_reduction", where);
  step.with({RV(init)}).with({RV(update)});
  const Step::Place first = step.block(init), second = step.block(update);
  if (first.function != second.function)
    refuse(step.caller(), "the blocks are of different functions");
  step.replace(first.function, s_tir::merge_reduction(first.program, first.n, second.n, where));
  step.record();
}

BlockRV Schedule::rfactor(LoopRV loop, int factor_axis, Where where) {
  Step step(own(), InstructionKind::RFactor, "rfactor", where);
  step.with({RV(loop)}).with({std::int64_t{factor_axis}});
  const Step::Place place = step.loop(loop);
  const std::string function = place.function;
  NewBlock result = s_tir::rfactor(place.program, place.n, factor_axis, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV partial = step.give_block(function, result.block);
  step.record();
  return partial;
}

BlockRV Schedule::blockize(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Blockize, "blockize", where);
  step.with({RV(loop)}).with({true});
  const Step::Place place = step.loop(loop);
  const std::string function = place.function;
  NewBlock result = s_tir::blockize(place.program, place.n, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV block = step.give_block(function, result.block);
  step.record();
  return block;
}

void Schedule::annotate(BlockOrLoop target, const Name& key, const AnnotationValue& value,
                        Where where) {
  Step step(own(), InstructionKind::Annotate, "annotate", where);
  TraceValue written;
  Annotation noted{Expr(0)};
  match(
      value,
      [&](std::int64_t number) {
        written = {number};
        noted.value = Expr(number);
      },
      [&](const ExprRV& rv) {
        written = {RV(rv)};
        noted.value = Expr(step.number(rv));
      },
      [&](bool flag) {
        written = {flag};
        noted.value = Expr(flag);
      },
      [&](double number) {
        written = {number};
        noted.value = Expr(number);
      },
      [&](const std::string& text) {
        written = {text};
        noted.value = make_string(text);
      });
  if (const Expr* e = std::get_if<Expr>(&noted.value))
    if (const auto number = constant_int(*e); number && !e->dtype().is_bool())
      noted.value = *number >= INT32_MIN && *number <= INT32_MAX ? make_int(Int(32), *number) : *e;
  step.with({target.rv()}).with({std::string(key)}).with(std::move(written));
  const Step::Place place = step.block_or_loop(target.rv());
  step.replace(place.function,
               s_tir::annotate(place.program, place.n, key, std::move(noted), where));
  step.record();
}

void Schedule::unannotate(BlockOrLoop target, const Name& key, Where where) {
  Step step(own(), InstructionKind::Unannotate, "unannotate", where);
  step.with({target.rv()}).with({std::string(key)});
  const Step::Place place = step.block_or_loop(target.rv());
  step.replace(place.function, s_tir::unannotate(place.program, place.n, key, where));
  step.record();
}

void Schedule::enter_postproc() {
  Step step(own(), InstructionKind::EnterPostproc, "enter_postproc", Where::current());
  step.record();
}

}  // namespace tenon::s_tir
