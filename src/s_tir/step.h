// The state of a schedule: the module, the targets of its handles, the trace, and the random
// generator.
#pragma once

#include <map>

#include "s_tir/context.h"
#include "s_tir/instruction.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/s_tir/program.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// The target of a random variable. Rewrites preserve the ids of blocks and variables of loops. A
/// loop may also be one of the results of sample_compute_location that are not loops: the root, or
/// inlining.
struct BlockHandle {
  std::string function;
  BlockId id;
};
struct LoopHandle {
  std::string function;
  tir::Var var;
};
enum class NoLoop : unsigned char { Root, Inline };
using Meaning = std::variant<BlockHandle, LoopHandle, NoLoop, std::int64_t>;

/// A small random generator with the same results on every platform.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x123456789ull) {}
  /// Returns a uniform number in [0, n).
  std::uint64_t below(std::uint64_t n);
  /// Returns a uniform number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t next();
  std::uint64_t state_;
};

struct Schedule::State {
  tir::IRModule mod;
  Trace trace;
  std::vector<Meaning> meanings;
  Rng dice{0};
  /// The functions as programs, created on demand and shared by copies.
  std::map<std::string, std::shared_ptr<const Program>> programs;
};

// One step of a schedule in progress: looks up handles, and records the step at the end.
//
// Everything that can fail runs before the first change, so a step that throws leaves the schedule
// unchanged.

class Step {
 public:
  Step(Schedule::State& state, InstructionKind kind, SourceLocation where)
      : state_(state), caller_{info_of(kind).name, where}, instruction_{kind, {}, {}, {}} {}
  /// A look-up, which is not recorded.
  Step(Schedule::State& state, std::string_view name, SourceLocation where)
      : state_(state), caller_{name, where} {}

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
  /// Returns the position of the first loop, and stores all loops in `found`. Throws unless they
  /// are in one function.
  Place loops(const std::vector<LoopRV>& rvs, std::vector<int>& found) const;
  std::int64_t number(ExprRV rv) const;
  Rng& dice() { return state_.dice; }

  // ---- results ----

  // These functions replace the function of `place` by the result of a primitive, record the step,
  // and return the new handle.
  void finish(const Place& place, tir::PrimFunc func);
  BlockRV finish(const Place& place, NewBlock result);
  LoopRV finish(const Place& place, FusedLoop result);
  std::vector<LoopRV> finish(const Place& place, SplitLoop result);
  /// Finishes with the result of the primitive for the block or loop `target`.
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
  void replace(const std::string& function, tir::PrimFunc func);

  Schedule::State& state_;
  Caller caller_;
  Instruction instruction_ = {};
};

}  // namespace tenon::s_tir
