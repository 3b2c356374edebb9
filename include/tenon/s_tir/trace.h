// Traces: the steps applied to a block program, as text that can be parsed and replayed on another
// program.
//
//   b0 = sch.get_block(name="C", func_name="main")
//   l1, l2, l3 = sch.get_loops(block=b0)
//   v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=16, decision=[8, 16])
//   l6, l7 = sch.split(loop=l2, factors=[v4, v5], preserve_unit_iters=True)
//
// Every instruction is a row of one table (its names in Python and JSON, its arguments and
// results), which recording, printing, parsing and replaying share.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/error.h"

namespace tenon::s_tir {

/// A handle that a schedule returns: a block, a loop or a sampled number. Handles of all kinds are
/// numbered together, from 0, in creation order.
struct RV {
  /// The kind of value.
  enum class Kind : unsigned char { Block, Loop, Expr };
  Kind kind;
  int number;
  friend bool operator==(const RV&, const RV&) = default;
};

/// A handle whose kind is known statically.
template <RV::Kind kKind>
class TypedRV {
 public:
  explicit TypedRV(int number) : number_(number) {}
  int number() const { return number_; }
  operator RV() const { return {kKind, number_}; }

 private:
  int number_;
};
/// A handle of a block: b0 in the text of a trace.
using BlockRV = TypedRV<RV::Kind::Block>;
/// A handle of a loop: l1.
using LoopRV = TypedRV<RV::Kind::Loop>;
/// A handle of a sampled number: v2.
using ExprRV = TypedRV<RV::Kind::Expr>;

/// A step, defined in trace_steps.h.
struct Instruction;

/// The text form of traces. V09: bare lines. V17: a function with a header, and later additions to
/// the arguments (`index` of compute_at, `disable_predication` of split).
enum class TraceStyle : unsigned char { V09, V17 };

/// The steps of a schedule.
struct Trace {
  std::vector<Instruction> steps;

  Trace();
  // Defined in the source file, where Instruction is complete.
  Trace(const Trace& other);
  Trace(Trace&& other) noexcept;
  Trace& operator=(const Trace& other);
  Trace& operator=(Trace&& other) noexcept;
  ~Trace();

  /// Returns the trace without instructions that have no effect and whose results are unused. With
  /// `remove_postproc`, also without everything after enter_postproc.
  Trace simplified(bool remove_postproc = false) const;

  /// Returns the text, without a final newline. Results are numbered in textual order.
  std::string text(TraceStyle style = TraceStyle::V09) const;
  /// Returns [[[kind, inputs, attributes, outputs], ...], [[position, decision], ...]].
  std::string json() const;

  /// Whether both have the same steps, with the same values and decisions, in the same order.
  friend bool operator==(const Trace& a, const Trace& b);
};

/// Prints the V09 text.
std::ostream& operator<<(std::ostream& out, const Trace& trace);

/// Parses either text form, or JSON (which begins with a bracket). TypeError for an unknown call or
/// argument and for an undefined name; for text, with line and column.
Trace parse_trace(std::string_view text);

}  // namespace tenon::s_tir
