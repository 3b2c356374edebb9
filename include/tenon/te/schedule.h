// Schedules: how a graph of operations is computed. The only thing in the compiler that is edited
// in place.
//
//   te::Schedule s = te::create_schedule({C});
//   te::Tensor BL = s.cache_write(B, "local");
//   s[BL].compute_at(s[C], s[C].axis(0));
#pragma once

#include "tenon/te/stage.h"

namespace tenon::te {

/// What a stage is looked up by, with the line that asks.
struct StageKey {
  StageKey(const Tensor& tensor, SourceLocation where = SourceLocation::current())
      : op(tensor.op()), where(where) {}
  StageKey(const Operation& op, SourceLocation where = SourceLocation::current())
      : op(op), where(where) {}
  Operation op;
  SourceLocation where;
};

class Schedule {
 public:
  /// The stage of the operation, also of one that a dataflow rewrite has replaced. ScheduleError if
  /// it is none of this schedule's.
  Stage operator[](const StageKey& key) const;

  /// Readers take `tensor` from a copy in `scope`: the new tensor, its stage right after the
  /// producer's. No readers given: all of them.
  Tensor cache_read(const Tensor& tensor, const Name& scope, const std::vector<Operation>& readers,
                    SourceLocation where = SourceLocation::current()) const;
  /// The operation is computed into `scope`, in the order of its present loops, and what was its
  /// stage copies from there. Every output of an operation of several must be listed.
  Tensor cache_write(const Tensor& tensor, const Name& scope,
                     SourceLocation where = SourceLocation::current()) const;
  std::vector<Tensor> cache_write(const std::vector<Tensor>& tensors, const Name& scope,
                                  SourceLocation where = SourceLocation::current()) const;
  /// Makes a loop of a reduction a data axis of a new operation `T.rf`, at place `factor_axis` of
  /// its shape (from the end if negative); the old stage reduces over it.
  Tensor rfactor(const Tensor& tensor, const IterVar& axis, int factor_axis = 0,
                 SourceLocation where = SourceLocation::current()) const;
  std::vector<Tensor> rfactor(const std::vector<Tensor>& tensors, const IterVar& axis,
                              int factor_axis = 0,
                              SourceLocation where = SourceLocation::current()) const;

  /// The stages between inputs and outputs as one that can be attached as a whole.
  Stage create_group(const TensorList& outputs, const TensorList& inputs,
                     bool include_inputs = false,
                     SourceLocation where = SourceLocation::current()) const;

  /// A copy in which inlining is done, every root axis starts at 0 and attachments point at loops.
  Schedule normalize(SourceLocation where = SourceLocation::current()) const;
  Schedule copy() const;

  /// In order: producers before consumers.
  std::vector<Stage> stages() const;
  std::vector<Operation> outputs() const;
  /// What was accepted and yet deserves a word, in order.
  const std::vector<std::string>& warnings() const;

  /// The loops as an outline, a line for each (te/draw.h). Throws what infer_bound does for a
  /// schedule that cannot be computed.
  std::string print_loops(SourceLocation where = SourceLocation::current()) const;

  const ScheduleData& data() const { return *data_; }
  explicit Schedule(Shared<ScheduleData> data) : data_(std::move(data)) {}
  // Moving copies, so that a handle is never empty.
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;

 private:
  Shared<ScheduleData> data_;
};

Schedule create_schedule(const Operation& output, SourceLocation where = SourceLocation::current());
Schedule create_schedule(const Tensor& output, SourceLocation where = SourceLocation::current());
Schedule create_schedule(std::initializer_list<Operation> outputs,
                         SourceLocation where = SourceLocation::current());
Schedule create_schedule(const std::vector<Operation>& outputs,
                         SourceLocation where = SourceLocation::current());
Schedule create_schedule(const std::vector<Tensor>& outputs,
                         SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
