// Traces: what was done to a block program, step by step, as text that can be read back and done
// again on another program.
//
//   b0 = sch.get_block(name="C", func_name="main")
//   l1, l2, l3 = sch.get_loops(block=b0)
//   v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=16, decision=[8, 16])
//   l6, l7 = sch.split(loop=l2, factors=[v4, v5], preserve_unit_iters=True)
//
// Every instruction is a row of one table (its names in Python and JSON, its arguments, what it
// gives): recording, printing, parsing and replaying go by that table.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/error.h"

namespace tenon::s_tir {

/// What a schedule hands out: a block, a loop, or a number that was sampled. The numbers count all
/// three together, from 0, in the order in which they came about.
struct RV {
  /// What it stands for.
  enum class Kind : unsigned char { Block, Loop, Expr };
  Kind kind;
  int number;
  friend bool operator==(const RV&, const RV&) = default;
};

/// What stands for a block in a trace, by its number in the text: b0.
class BlockRV {
 public:
  explicit BlockRV(int number) : number_(number) {}
  int number() const { return number_; }
  operator RV() const { return {RV::Kind::Block, number_}; }

 private:
  int number_;
};
/// What stands for a loop: l1.
class LoopRV {
 public:
  explicit LoopRV(int number) : number_(number) {}
  int number() const { return number_; }
  operator RV() const { return {RV::Kind::Loop, number_}; }

 private:
  int number_;
};
/// What stands for a number that was sampled: v2.
class ExprRV {
 public:
  explicit ExprRV(int number) : number_(number) {}
  int number() const { return number_; }
  operator RV() const { return {RV::Kind::Expr, number_}; }

 private:
  int number_;
};

/// One step; trace_steps.h has what is in it.
struct Instruction;

/// How traces are written. V09: bare lines. V17: a function with a header, and the arguments that
/// came since (`index` of compute_at, `disable_predication` of split).
enum class TraceStyle : unsigned char { V09, V17 };

/// The steps of a schedule.
struct Trace {
  std::vector<Instruction> steps;

  Trace();
  // In the source file, where Instruction is complete.
  Trace(const Trace& other);
  Trace(Trace&& other) noexcept;
  Trace& operator=(const Trace& other);
  Trace& operator=(Trace&& other) noexcept;
  ~Trace();

  /// Without the instructions of which no later step uses what they give, and that change nothing.
  /// What stands behind enter_postproc goes as well if `remove_postproc`.
  Trace simplified(bool remove_postproc = false) const;

  /// Names number what is given in the order of the text. No newline at the end.
  std::string text(TraceStyle style = TraceStyle::V09) const;
  /// [[[kind, inputs, attributes, outputs], ...], [[position, decision], ...]]
  std::string json() const;

  /// The same steps with the same values and decisions, in the same order.
  friend bool operator==(const Trace& a, const Trace& b);
};

/// In the bare form.
std::ostream& operator<<(std::ostream& out, const Trace& trace);

/// Either style of text, or JSON (which begins with a bracket). TypeError for what is no
/// trace (an unknown call or argument, a name that no line above gives), with line and column where
/// it is text.
Trace parse_trace(std::string_view text);

}  // namespace tenon::s_tir
