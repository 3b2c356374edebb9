#include "s_tir/step.h"

#include "s_tir/instruction.h"

namespace tenon::s_tir {

using namespace tir;

void Step::add(const std::vector<LoopRV>& loops) {
  TraceValue::List list;
  for (const LoopRV& loop : loops) list.emplace_back().value = RV(loop);
  add(std::move(list));
}

const Meaning& Step::meaning(RV rv) const {
  if (rv.number < 0 || rv.number >= static_cast<int>(state_.meanings.size()))
    refuse(caller_, "`" + rv_name(rv) + "` is not a handle of this schedule");
  return state_.meanings[static_cast<std::size_t>(rv.number)];
}

const Program& Step::program(const std::string& function) const {
  std::shared_ptr<const Program>& program = state_.programs[function];
  if (!program) program = std::make_shared<const Program>(state_.mod.functions.at(function));
  return *program;
}

Step::Place Step::block(BlockRV rv) const {
  const auto* handle = std::get_if<BlockHandle>(&meaning(rv));
  if (!handle) refuse(caller_, "`" + rv_name(rv) + "` is not a block");
  const Program& own = program(handle->function);
  const std::optional<int> n = own.find_block(handle->id);
  if (!n)
    refuse(caller_, "block `" + rv_name(rv) + "` is no longer in function `" + handle->function +
                        "`: an earlier step has inlined it");
  return {handle->function, own, *n};
}

Step::Place Step::loop(LoopRV rv) const {
  const Meaning& own = meaning(rv);
  if (std::holds_alternative<NoLoop>(own))
    refuse(caller_, "`" + rv_name(rv) + "` is the root block, not a loop");
  const auto* handle = std::get_if<LoopHandle>(&own);
  if (!handle) refuse(caller_, "`" + rv_name(rv) + "` is not a loop");
  const Program& of = program(handle->function);
  const std::optional<int> n = of.find_loop(handle->id);
  if (!n)
    refuse(
        caller_,
        "loop `" + handle->id.name() + "` (" + rv_name(rv) + ") is no longer in function `" +
            handle->function +
            "`: an earlier step has split, fused or moved it; get_loops returns the current loops");
  return {handle->function, of, *n};
}

Step::Place Step::loop_with(const Place& block, LoopRV rv) const {
  const Place place = loop(rv);
  if (place.function != block.function)
    refuse(caller_, "the block and the loop belong to different functions");
  return place;
}

Step::Place Step::block_or_loop(RV rv) const {
  return rv.kind == RV::Kind::Block ? block(BlockRV(rv.number)) : loop(LoopRV(rv.number));
}

Step::Place Step::loops(const std::vector<LoopRV>& rvs, std::vector<int>& found) const {
  if (rvs.empty()) refuse(caller_, "no loops are given");
  const Place first = loop(rvs.front());
  for (const LoopRV& rv : rvs) {
    const Place place = loop(rv);
    if (place.function != first.function)
      refuse(caller_, "the loops belong to different functions");
    found.push_back(place.n);
  }
  return first;
}

std::int64_t Step::number(ExprRV rv) const {
  const auto* value = std::get_if<std::int64_t>(&meaning(rv));
  if (!value) refuse(caller_, "`" + rv_name(rv) + "` is not a number");
  return *value;
}

void Step::replace(const std::string& function, PrimFunc func) {
  state_.mod.functions.at(function) = func;
  state_.programs[function] = std::make_shared<const Program>(std::move(func));
}

void Step::finish(const Place& place, PrimFunc func) {
  replace(place.function, std::move(func));
  record();
}

BlockRV Step::finish(const Place& place, NewBlock result) {
  replace(place.function, std::move(result.func));
  const BlockRV block = give_block(place.function, result.block);
  record();
  return block;
}

std::vector<LoopRV> Step::finish(const Place& place, NewLoops result) {
  replace(place.function, std::move(result.func));
  std::vector<LoopRV> loops;
  for (const Var& var : result.loops) loops.push_back(give_loop(place.function, var));
  record();
  return loops;
}

RV Step::give(RV::Kind kind, Meaning own) {
  const RV rv{kind, static_cast<int>(state_.meanings.size())};
  state_.meanings.push_back(std::move(own));
  instruction_.outputs.push_back(rv);
  return rv;
}
BlockRV Step::give_block(const std::string& function, const BlockId& id) {
  return BlockRV(give(RV::Kind::Block, BlockHandle{function, id}).number);
}
LoopRV Step::give_loop(const std::string& function, const Var& var) {
  return LoopRV(give(RV::Kind::Loop, LoopHandle{function, var}).number);
}
ExprRV Step::give_number(std::int64_t value) { return ExprRV(give(RV::Kind::Expr, value).number); }

void Step::record() { state_.trace.steps.push_back(std::move(instruction_)); }

}  // namespace tenon::s_tir
