// The instructions of traces and their arguments. Needed only to inspect or construct individual
// steps; trace.h suffices to record, print and replay.
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
  // These members are defined in the source file. If they are inlined, GCC 12 warns about
  // uninitialized parts of the variant.
  TraceValue(const TraceValue& other);
  TraceValue(TraceValue&& other) noexcept;
  TraceValue& operator=(const TraceValue& other);
  TraceValue& operator=(TraceValue&& other) noexcept;
  ~TraceValue();

  Variant value;

  /// Structural equality.
  friend bool operator==(const TraceValue& a, const TraceValue& b);
};

/// The primitives that a trace can contain.
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
  AddUnitLoop,
  Parallel,
  Vectorize,
  Unroll,
  Bind,
  CacheRead,
  CacheWrite,
  Reindex,
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
  TransformBlockLayout,
  Annotate,
  Unannotate,
  EnterPostproc,
};

/// Returns the name of the method in C++ and Python: "compute_at".
std::string_view name_of(InstructionKind kind);
/// Whether the result is a list, which Python unpacks with a comma even if it has one element.
bool gives_list(InstructionKind kind);

/// A step. Arguments are in the order of the instruction table (instruction.h); a list of loops or
/// factors is one argument.
struct Instruction {
  InstructionKind kind;
  std::vector<TraceValue> arguments;
  std::vector<RV> outputs;
  /// The sampled value, for instructions that sample.
  std::optional<TraceValue> decision;

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

}  // namespace tenon::s_tir
