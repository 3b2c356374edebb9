// State shared by loop generation: the frozen schedule, its bounds, and the buffers and values that
// replace tensors and axes.
#pragma once

#include <map>

#include "te/bounds/lifted_threads.h"
#include "te/operations/body.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/interval.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// The buffer of every tensor. Arguments are given; other buffers are created on demand.
class BufferTable {
 public:
  explicit BufferTable(const StageGraph& graph);

  void set_argument(const Tensor& tensor, const tir::Buffer& buffer);
  bool is_argument(const Tensor& tensor) const;
  /// Whether an output of the operation is an argument.
  bool has_argument(const Operation& op) const;
  /// Whether the tensor is part of a scan's state.
  bool is_scan_state(const Tensor& tensor) const;
  /// Returns the buffer that a read or store of the tensor accesses. The initial state, update and
  /// placeholder of a scan are parts of the scan's buffer.
  tir::Buffer buffer_of(const Tensor& tensor);
  /// Returns the tensor's buffer in the layout set by transform_layout; nullopt if the tensor has
  /// its original layout.
  std::optional<tir::Buffer> stored_buffer_of(const Tensor& tensor);

 private:
  /// Returns the output that owns the tensor's memory: the scan's output if the tensor is stored in
  /// a scan's state, otherwise the tensor itself.
  std::optional<OutputId> id_of(const Tensor& tensor) const;
  static tir::Buffer declare(const FrozenStage& stage, const Tensor& tensor);

  const StageGraph& graph_;
  std::map<OutputId, tir::Buffer> buffers_;
  std::map<OutputId, tir::Buffer> arguments_;
  std::map<OutputId, tir::Buffer> stored_;
  /// Tensors without a stage: placeholders that were never read, and inlined tensors.
  std::vector<std::pair<Tensor, tir::Buffer>> without_stage_;
};

/// Converts a region to the box that contains its elements in the new layout.
std::vector<Range> image_of(const Transform::Map& layout, const std::vector<Range>& region);
/// Converts the indices of an element to its indices in the new layout.
std::vector<Expr> moved(const Transform::Map& layout, const std::vector<Expr>& indices);

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
  /// Whether calls of tensor intrinsics are checked at run time.
  bool check_intrinsics = false;

  /// Adds the values of a stage's axes that are not loop variables (extent 1, bound to a thread,
  /// split, ...), before stages inside its loops are lowered.
  void define(const std::vector<std::pair<Var, Expr>>& values);

  /// Translates an expression: substitutes variables, and replaces reads of tensors by loads. Does
  /// not fold anything.
  Expr lower(const Expr& e, const tir::VarMap& values) const;
  Range lower(const Range& range, const tir::VarMap& values) const;
  Stmt lower(const Stmt& s, const tir::VarMap& values) const;

 private:
  /// `done` are the expressions lowered so far. Inlining makes expressions share parts, and each
  /// part is rebuilt once.
  Expr lower(const Expr& e, const tir::VarMap& values, ExprMemo& done) const;
  Stmt lower(const Stmt& s, const tir::VarMap& values, ExprMemo& done) const;

  tir::VarMap defined_;
};

}  // namespace tenon::te
