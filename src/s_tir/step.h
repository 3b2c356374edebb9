// The state of a schedule (its module, trace, random generator and the targets of its handles), and
// the steps that change it.
#pragma once

#include <map>

#include "s_tir/context.h"
#include "s_tir/instruction.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/s_tir/program.h"
#include "tenon/s_tir/random.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// The target of a random variable: a block, a loop or a number. Rewrites preserve the ids of
/// blocks and the variables of loops. A loop variable may also be a result of
/// sample_compute_location that is not a loop: the root (the block stays) or inlining.
template <class Id>
struct InFunction {
  std::string function;
  Id id;
};
using BlockHandle = InFunction<BlockId>;
using LoopHandle = InFunction<tir::Var>;
enum class NoLoop : unsigned char { Root, Inline };
using Meaning = std::variant<BlockHandle, LoopHandle, NoLoop, std::int64_t>;

struct Schedule::State {
  tir::IRModule mod;
  Trace trace;
  std::vector<Meaning> meanings;
  Random dice{0};
  /// The analyzed functions, created on demand. Copies of the schedule share them.
  std::map<std::string, std::shared_ptr<const Program>> programs;
};

// One step of a schedule. It looks up handles and records itself at the end.
//
//  Everything that can fail runs before the first change, so a step that throws leaves the schedule
//  unchanged.

class Step {
 public:
  Step(Schedule::State& state, InstructionKind kind, SourceLocation where)
      : state_(state), caller_{info_of(kind).name, where}, instruction_{kind, {}, {}, {}} {}
  /// A query, which is not recorded in the trace.
  Step(Schedule::State& state, std::string_view name, SourceLocation where)
      : state_(state), caller_{name, where} {}

  /// Adds arguments, which are in the order of the instruction table.
  template <class... T>
  Step& with(T... values) {
    (add(std::move(values)), ...);
    return *this;
  }
  void decide(TraceValue decision) { instruction_.decision = std::move(decision); }
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
  /// Looks up the loop. Throws unless it is in the function of `block`.
  Place loop_with(const Place& block, LoopRV rv) const;
  /// Looks up the loops and stores their nodes in `found`. Returns the first loop with its
  /// function. Throws unless all loops are in one function.
  Place loops(const std::vector<LoopRV>& rvs, std::vector<int>& found) const;
  std::int64_t number(ExprRV rv) const;
  Random& dice() { return state_.dice; }

  // ---- results ----

  // These functions replace the function that contains `place` by the result of a primitive, record
  // the step, and return the new handle.
  void finish(const Place& place, tir::PrimFunc func);
  BlockRV finish(const Place& place, NewBlock result);
  std::vector<LoopRV> finish(const Place& place, NewLoops result);
  /// Applies the primitive to the block or loop `target`, and finishes the step with the result.
  template <class Primitive, class... Args>
  auto apply(RV target, Primitive primitive, const Args&... args) {
    const Place place = block_or_loop(target);
    return finish(place, primitive(place.program, place.n, args..., caller_.where));
  }

  RV give(RV::Kind kind, Meaning own);
  BlockRV give_block(const std::string& function, const BlockId& id);
  LoopRV give_loop(const std::string& function, const tir::Var& var);
  ExprRV give_number(std::int64_t value);

  void record();

 private:
  template <class T>
  void add(T value) {
    // Assigns in place, because GCC 12 warns about uninitialized parts of a temporary variant.
    instruction_.arguments.emplace_back().value = std::move(value);
  }
  void add(TraceValue value) { instruction_.arguments.push_back(std::move(value)); }
  void add(const std::vector<LoopRV>& loops);
  void replace(const std::string& function, tir::PrimFunc func);

  Schedule::State& state_;
  Caller caller_;
  Instruction instruction_ = {};
};

}  // namespace tenon::s_tir
