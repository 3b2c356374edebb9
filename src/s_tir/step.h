// One step of a schedule in progress: looks up handles, and records the step at the end.
//
// Everything that can fail runs before the first change, so a step that throws leaves the schedule
// unchanged.
#pragma once

#include "s_tir/context.h"
#include "s_tir/schedule_state.h"

namespace tenon::s_tir {

class Step {
 public:
  Step(Schedule::State& state, InstructionKind kind, std::string_view primitive,
       SourceLocation where)
      : state_(state), caller_{primitive, where}, instruction_{kind, {}, {}, {}} {}

  // Append an argument. Arguments must be added in the order of the instruction table.
  Step& with(RV rv);
  Step& with(bool flag);
  Step& with(int number);
  Step& with(const std::string& text);
  Step& with(const std::vector<LoopRV>& loops);
  Step& with_value(TraceValue value);
  void decide(TraceValue decision);
  const Caller& caller() const { return caller_; }

  // ---- handle look-up ----

  struct Place {
    std::string function;
    const Program& program;
    int n;
  };
  const Meaning& meaning(RV rv) const;
  const Program& program(const std::string& function) const;
  Place block(BlockRV rv) const;
  Place loop(LoopRV rv) const;
  Place block_or_loop(RV rv) const;
  /// Returns the loops and stores the name of their function. Throws unless they are in one
  /// function.
  std::vector<int> loops(const std::vector<LoopRV>& rvs, std::string& function) const;
  std::int64_t number(ExprRV rv) const;
  Rng& dice() { return state_.dice; }

  // ---- results ----

  /// Replaces a function by its new version. `renamed`: blocks whose handles then refer to another
  /// block.
  void replace(const std::string& function, tir::PrimFunc func,
               const std::vector<std::pair<BlockKey, BlockKey>>& renamed = {});
  RV give(RV::Kind kind, Meaning own);
  BlockRV give_block(const std::string& function, const BlockKey& key);
  LoopRV give_loop(const std::string& function, const tir::Var& var);
  ExprRV give_number(std::int64_t value);

  void record();

 private:
  Schedule::State& state_;
  Caller caller_;
  Instruction instruction_;
};

}  // namespace tenon::s_tir
