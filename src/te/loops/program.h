// What the making of loops shares: the frozen schedule, its bounds, and the buffers and values that
// expressions on tensors and axes turn into.
#pragma once

#include <map>

#include "te/bounds/lifted_threads.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/interval.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// The buffer of every tensor: arguments are given, the others are made when first asked for.
class BufferTable {
 public:
  explicit BufferTable(const StageGraph& graph);

  void set_argument(const Tensor& tensor, const tir::Buffer& buffer);
  bool is_argument(const Tensor& tensor) const;
  /// Whether the tensor is part of the state that a scan keeps.
  bool is_scan_state(const Tensor& tensor) const;
  /// The buffer that a read or a store of the tensor accesses. Initial state, update and
  /// placeholder of a scan are parts of the scan's own buffer.
  tir::Buffer buffer_of(const Tensor& tensor);

 private:
  /// The output that the tensor is, or the scan's output whose memory it is a part of.
  std::optional<OutputId> id_of(const Tensor& tensor) const;
  static tir::Buffer declare(const FrozenStage& stage, const Tensor& tensor);

  const StageGraph& graph_;
  std::map<OutputId, tir::Buffer> buffers_;
  std::map<OutputId, tir::Buffer> arguments_;
  /// Tensors of no stage: placeholders that were never read, inlined ones.
  std::vector<std::pair<Tensor, tir::Buffer>> without_stage_;
};

class Program {
 public:
  Program(const StageGraph& graph, const Bounds& bounds, BufferTable& buffers);

  const StageGraph& graph;
  const Bounds& bounds;
  BufferTable& buffers;
  const LiftedThreads lifted;
  /// The ranges of all axes, as facts and as intervals.
  arith::Facts facts;
  arith::IntervalMap intervals;
  /// Whether calls of tensor intrinsics are checked when they run.
  bool check_intrinsics = false;

  /// Adds the values of axes that are no loops of their own (of extent 1, bound to a thread, split,
  /// ...): those of a stage, before what is computed inside of its loops is lowered.
  void define(const std::vector<std::pair<Var, Expr>>& values);

  /// The expression of the program: variables get their values, reads of tensors become loads.
  /// Nothing is folded.
  Expr lower(const Expr& e, const tir::VarMap& values) const;
  Range lower(const Range& range, const tir::VarMap& values) const;
  Stmt lower(const Stmt& s, const tir::VarMap& values) const;

 private:
  tir::VarMap defined_;
};

}  // namespace tenon::te
