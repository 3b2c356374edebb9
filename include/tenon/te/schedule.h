// Schedules: how to compute a graph of operations. A schedule is the only value in the compiler
// that is modified in place.
//
//   te::Schedule s = te::create_schedule({C});
//   te::Tensor BL = s.cache_write(B, "local");
//   s[BL].compute_at(s[C], s[C].axis(0));
#pragma once

#include "tenon/te/stage.h"

namespace tenon::te {

/// The tensor or operation whose stage is looked up in a schedule, with the line of the lookup.
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
  /// Returns the stage of the operation, also if a rewrite has replaced the operation.
  /// ScheduleError if it does not belong to this schedule.
  Stage operator[](const StageKey& key) const;

  /// Makes `readers` (default: all) read a copy of `tensor` in `scope`. Returns the copy, whose
  /// stage follows the producer's.
  Tensor cache_read(const Tensor& tensor, const Name& scope, const std::vector<Operation>& readers,
                    SourceLocation where = SourceLocation::current()) const;
  /// Moves the computation of the operation to a new stage that writes a tensor in `scope`. The new
  /// stage takes over the loops. The old stage copies this tensor to the operation's output.
  /// Returns the new tensors. All outputs of the operation must be listed.
  Tensor cache_write(const Tensor& tensor, const Name& scope,
                     SourceLocation where = SourceLocation::current()) const;
  std::vector<Tensor> cache_write(const std::vector<Tensor>& tensors, const Name& scope,
                                  SourceLocation where = SourceLocation::current()) const;
  /// Factors a reduction: turns one reduction loop into a data axis of a new operation `T.rf`, at
  /// position `factor_axis` of its shape (from the end if negative). The old stage reduces over
  /// that axis. Returns the factored tensors.
  Tensor rfactor(const Tensor& tensor, const IterVar& axis, int factor_axis = 0,
                 SourceLocation where = SourceLocation::current()) const;
  std::vector<Tensor> rfactor(const std::vector<Tensor>& tensors, const IterVar& axis,
                              int factor_axis = 0,
                              SourceLocation where = SourceLocation::current()) const;

  /// Makes a group of the stages between inputs and outputs. The group can be attached as a whole.
  Stage create_group(const TensorList& outputs, const TensorList& inputs,
                     bool include_inputs = false,
                     SourceLocation where = SourceLocation::current()) const;

  /// Returns a copy in which inlined stages are substituted into their readers, root axes start at
  /// 0, and each attached stage names a current loop of its parent.
  Schedule normalize(SourceLocation where = SourceLocation::current()) const;
  Schedule copy() const;

  /// Returns the stages, producers before consumers.
  std::vector<Stage> stages() const;
  std::vector<Operation> outputs() const;
  /// Warnings, oldest first.
  const std::vector<std::string>& warnings() const;

  /// Returns an outline with one line per loop: its range and its marks. Attached stages
  /// appear inside the loop that they are attached to. Throws the errors of infer_bound.
  std::string print_loops(SourceLocation where = SourceLocation::current()) const;

  const ScheduleData& data() const { return *data_; }
  explicit Schedule(Shared<ScheduleData> data) : data_(std::move(data)) {}
  // A move copies, so that a moved-from handle is not empty.
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
