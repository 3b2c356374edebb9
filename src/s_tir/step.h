// One step of a schedule in progress: looks up handles, and records the step at the end.
//
// Everything that can fail runs before the first change, so a step that throws leaves the schedule
// unchanged.
#pragma once

#include "s_tir/context.h"
#include "s_tir/schedule_state.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

class Step {
 public:
  Step(Schedule::State& state, InstructionKind kind, std::string_view primitive,
       SourceLocation where)
      : state_(state), caller_{primitive, where}, instruction_{kind, {}, {}, {}} {}

  // Add arguments in the order of the table.
  template <class T>
  Step& with(T value) {
    // GCC 12 warns about uninitialized parts of a temporary variant.
    instruction_.arguments.emplace_back().value = std::move(value);
    return *this;
  }
  Step& with(TraceValue value);
  Step& with(const std::vector<LoopRV>& loops);
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
  /// Returns the place of the first loop and stores all loops in `found`. Throws unless they are in
  /// one function.
  Place loops(const std::vector<LoopRV>& rvs, std::vector<int>& found) const;
  std::int64_t number(ExprRV rv) const;
  Rng& dice() { return state_.dice; }

  // ---- results ----

  // These functions replace the function of `place` by the result of a primitive, record the step,
  // and return the new handle.
  void finish(const Place& place, tir::PrimFunc func);
  void finish(const Place& place, Renamed result);
  BlockRV finish(const Place& place, NewBlock result);
  LoopRV finish(const Place& place, FusedLoop result);
  std::vector<LoopRV> finish(const Place& place, SplitLoop result);
  RV give(RV::Kind kind, Meaning own);
  BlockRV give_block(const std::string& function, const BlockKey& key);
  LoopRV give_loop(const std::string& function, const tir::Var& var);
  ExprRV give_number(std::int64_t value);

  void record();

 private:
  /// `renamed`: blocks whose handles then refer to another block.
  void replace(const std::string& function, tir::PrimFunc func,
               const std::vector<std::pair<BlockKey, BlockKey>>& renamed = {});

  Schedule::State& state_;
  Caller caller_;
  Instruction instruction_;
};

}  // namespace tenon::s_tir
