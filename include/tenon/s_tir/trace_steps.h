// What traces are made of: instructions and their arguments. For who reads or writes traces step by
// step; who records, prints and replays them needs trace.h alone.
//
//   for (const Instruction& step : trace.steps)
//     if (step.kind == InstructionKind::Split) ...
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenon/s_tir/trace.h"

namespace tenon::s_tir {

/// An argument, an attribute or a decision. `std::monostate` is None.
struct TraceValue {
  using List = std::vector<TraceValue>;
  using Variant = std::variant<std::monostate, bool, std::int64_t, double, std::string, RV, List>;

  TraceValue();
  TraceValue(Variant v);  // NOLINT(google-explicit-constructor)
  // In the source file: inlined, GCC 12 takes the parts of the variant for uninitialized.
  TraceValue(const TraceValue& other);
  TraceValue(TraceValue&& other) noexcept;
  TraceValue& operator=(const TraceValue& other);
  TraceValue& operator=(TraceValue&& other) noexcept;
  ~TraceValue();

  Variant value;

  /// Whether both are written alike.
  friend bool operator==(const TraceValue& a, const TraceValue& b);
};

/// The primitives that traces have.
enum class InstructionKind : unsigned char {
  GetBlock,
  GetLoops,
  GetChildBlocks,
  GetProducers,
  GetConsumers,
  SamplePerfectTile,
  SampleCategorical,
  SampleComputeLocation,
  Fuse,
  Split,
  Reorder,
  Parallel,
  Vectorize,
  Unroll,
  Bind,
  CacheRead,
  CacheWrite,
  ComputeAt,
  ReverseComputeAt,
  ComputeInline,
  ReverseComputeInline,
  DecomposeReduction,
  MergeReduction,
  RFactor,
  StorageAlign,
  SetScope,
  Blockize,
  Tensorize,
  TransformLayout,
  Annotate,
  Unannotate,
  EnterPostproc,
};

/// One step. Arguments stand in the order of the table (instruction.h); a list of loops or factors
/// is one argument.
struct Instruction {
  InstructionKind kind;
  std::vector<TraceValue> arguments;
  std::vector<RV> outputs;
  /// Of instructions that sample: what was drawn.
  std::optional<TraceValue> decision;

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

}  // namespace tenon::s_tir
