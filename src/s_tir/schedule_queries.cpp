#include <algorithm>

#include "s_tir/step.h"

namespace tenon::s_tir {

using namespace tir;

// ---- state --------------------------------------------------------------------------------------

std::uint64_t Rng::next() {
  // SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::uint64_t Rng::below(std::uint64_t n) {
  const std::uint64_t limit = ~std::uint64_t{0} / n * n;
  for (;;)
    if (const std::uint64_t drawn = next(); drawn < limit) return drawn % n;
}

Schedule::Schedule(IRModule mod, const ScheduleOptions& options, Where where)
    : state_(std::make_shared<State>()) {
  for (const auto& [name, func] : mod.functions)
    if (func.form != Form::Blocks)
      throw TypeError(
          "Schedule: function `" + name +
              "` is not a block program; te::create_prim_func and parse_script make block programs",
          where);
  state_->mod = std::move(mod);
  state_->dice = Rng(options.seed);
}

const IRModule& Schedule::mod() const { return state().mod; }
const Trace& Schedule::trace() const { return state().trace; }

Schedule::State& Schedule::own() {
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  return *state_;
}

// ---- look-up  -----------------------------------------------------------------------------------

BlockRV Schedule::get_block(const Name& name, const Name& func_name, Where where) {
  Step step(own(), InstructionKind::GetBlock, "get_block", where);
  step.with(name).with(func_name);
  if (!mod().functions.contains(func_name)) {
    std::string known;
    for (const auto& [other, func] : mod().functions)
      known += (known.empty() ? "`" : ", `") + other + "`";
    refuse(step.caller(), "there is not a function `" + func_name + "`; there is " + known);
  }
  const Program& program = step.program(func_name);
  const std::vector<int> found = program.blocks_named(name);
  if (found.size() != 1) {
    std::string known;
    for (int n = 0; n < program.size(); ++n)
      if (program.is_block(n)) known += (known.empty() ? "`" : ", `") + program.block(n).name + "`";
    refuse(step.caller(), (found.empty() ? "no block" : std::to_string(found.size()) + " blocks") +
                              (found.size() > 1 ? " are" : " is") + " called `" + name +
                              "` in function `" + func_name + "`; its blocks are " + known);
  }
  const BlockRV result = step.give_block(func_name, program.key_of(found.front()));
  step.record();
  return result;
}

std::vector<LoopRV> Schedule::get_loops(BlockRV block, Where where) {
  Step step(own(), InstructionKind::GetLoops, "get_loops", where);
  step.with(RV(block));
  const Step::Place place = step.block(block);
  std::vector<LoopRV> result;
  for (const int n : place.program.loops_of(place.n))
    result.push_back(step.give_loop(place.function, place.program.loop(n).var));
  step.record();
  return result;
}

namespace {

using BlocksOf = std::vector<int> (*)(const Program& program, int n);

/// Returns handles of the blocks related to a block or loop, and records the step.
std::vector<BlockRV> related(Step step, RV to, BlocksOf blocks) {
  step.with(to);
  const Step::Place place = step.block_or_loop(to);
  std::vector<BlockRV> result;
  for (const int n : blocks(place.program, place.n))
    result.push_back(step.give_block(place.function, place.program.key_of(n)));
  step.record();
  return result;
}

std::vector<int> children(const Program& program, int n) { return program.child_blocks(n); }

}  // namespace

std::vector<BlockRV> Schedule::get_child_blocks(BlockOrLoop parent, Where where) {
  return related({own(), InstructionKind::GetChildBlocks, "get_child_blocks", where}, parent.rv(),
                 children);
}

std::vector<BlockRV> Schedule::get_producers(BlockRV block, Where where) {
  return related({own(), InstructionKind::GetProducers, "get_producers", where}, block,
                 dependence_sources);
}

std::vector<BlockRV> Schedule::get_consumers(BlockRV block, Where where) {
  return related({own(), InstructionKind::GetConsumers, "get_consumers", where}, block,
                 dependence_targets);
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

}  // namespace tenon::s_tir
