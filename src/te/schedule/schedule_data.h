// What a schedule is, behind its handles: stages and groups by number, their order, and which stage
// stands for which operation, be it the present one or one that it had before.
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::te {

/// Stages that can be attached as one. A group may belong to another.
struct GroupData {
  std::string name;
  Attach attach = AttachRoot{};
  SourceLocation attach_where = {};
  std::optional<int> group = std::nullopt;
};

/// An output of a stage, whichever operation the stage has now.
struct StageOutput {
  StageId stage;
  int index;
  friend bool operator==(const StageOutput&, const StageOutput&) = default;
};

struct ScheduleData {
  /// By number; a stage keeps its number for good.
  std::vector<StageData> stages;
  /// Producers before consumers. Stages that normalize has put into their readers are missing.
  std::vector<StageId> order;
  std::vector<GroupData> groups;
  std::vector<StageId> outputs;
  std::vector<std::string> warnings;
  /// Look up only.
  std::unordered_map<const OperationNode*, StageId> stage_of;
  /// Keeps the keys of stage_of alive.
  std::vector<Operation> known_ops;

  StageData& stage(StageId id) { return stages[static_cast<std::size_t>(id)]; }
  const StageData& stage(StageId id) const { return stages[static_cast<std::size_t>(id)]; }

  std::optional<StageId> find(const Operation& op) const;
  /// ScheduleError naming the primitive if the operation is none of this schedule's.
  StageId require(const Operation& op, std::string_view primitive,
                  const SourceLocation& where) const;
  StageOutput require(const Tensor& tensor, std::string_view primitive,
                      const SourceLocation& where) const;
  std::optional<StageOutput> find(const Tensor& tensor) const;
  /// The tensor that the output is now.
  Tensor tensor(const StageOutput& output) const;
  /// The outputs that a stage reads, in the order of its operation's inputs.
  std::vector<StageOutput> reads(StageId id) const;
  /// The stages in order that read some output of this one.
  std::vector<StageId> readers(StageId id) const;
  std::size_t position(StageId id) const;

  /// A new stage in front of the one at the position.
  StageId insert_stage(const Operation& op, std::size_t position);
  /// The stage's operation from now on.
  void set_op(StageId id, Operation op);

  /// Where the stage really is: a root member of a group is where the group is.
  const Attach& effective_attach(StageId id) const;
  const SourceLocation& effective_attach_where(StageId id) const;
};

/// The loops of an operation before any schedule: its axes but for the opaque ones, which belong to
/// what is computed inside (the update of a scan, an intrinsic).
std::vector<IterVar> loops_of(const Operation& op);

/// "stage `C`", by the name that the user gave.
std::string describe(const StageData& stage);
/// "axis `i` of stage `C`"
std::string describe(const StageData& stage, const IterVar& axis);
/// "`i.outer`, `i.inner`"
std::string describe(std::span<const IterVar> axes);

/// Throws ScheduleError: "split of axis `i` of stage `C`: <text>".
[[noreturn]] void fail(std::string_view primitive, const StageData& stage, const std::string& text,
                       const SourceLocation& where);
[[noreturn]] void fail(std::string_view primitive, const StageData& stage, const IterVar& axis,
                       const std::string& text, const SourceLocation& where);

/// Throws if normalize has put the stage into its readers.
void check_is_there(const ScheduleData& schedule, StageId id, std::string_view primitive,
                    const SourceLocation& where);
/// The dimensions of the output as it is stored: of a new layout, its axes.
std::vector<IterVar> stored_axes(const StageData& stage);
/// The scan whose state the stage begins, continues or stands for; null if there is none.
const StageData* scan_of_state(const ScheduleData& schedule, StageId id);

/// The stage behind a handle; throws if it is a group, which has no loops and no storage, or gone.
StageData& require_stage(ScheduleData& schedule, int index, bool is_group,
                         std::string_view primitive, const SourceLocation& where);

/// The loop that the axis is: itself, or what it was rebased to. Otherwise throws, saying what
/// became of the axis.
IterVar require_leaf(std::string_view primitive, const StageData& stage, const IterVar& axis,
                     const SourceLocation& where);

/// Throws if the axis, or any loop of the stage, is tensorized and the primitive would take that
/// loop away.
void check_not_tensorized(std::string_view primitive, const StageData& stage, const IterVar& axis,
                          const SourceLocation& where);
void check_not_tensorized(std::string_view primitive, const StageData& stage,
                          const SourceLocation& where);

/// Throws "<subject>: `foo` is no storage scope; ...".
tir::StorageScope parse_scope(const std::string& subject, std::string_view scope,
                              const SourceLocation& where);

/// Throws if the stage's own attachment cannot be what a primitive makes it.
void check_can_inline(std::string_view primitive, const StageData& stage,
                      const SourceLocation& where);

}  // namespace tenon::te
