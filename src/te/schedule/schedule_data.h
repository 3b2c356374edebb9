// What a schedule is, behind its handles: stages and groups by number, their order, and which stage
// stands for which operation, be it the present one or one that it had before.
#pragma once

#include <set>
#include <unordered_set>

#include "tenon/te/schedule.h"
#include "tenon/te/stage_data.h"

namespace tenon::te {

/// Stages that can be attached as one. A group may belong to another.
struct GroupData {
  std::string name;
  Attach attach = AttachRoot{};
  SourceLocation attach_where = {};
  std::optional<GroupNumber> group = std::nullopt;
};

using StageOutput = OutputOf<StageNumber>;

/// Where a stage really is, and the line that says so.
struct AttachedWhere {
  const Attach& attach;
  const SourceLocation& where;
};

struct ScheduleData {
  /// By number; a stage keeps its number for good.
  std::vector<StageData> stages;
  /// Producers before consumers. Stages that normalize has put into their readers are missing.
  std::vector<StageNumber> order;
  std::vector<GroupData> groups;
  std::vector<StageNumber> outputs;
  std::vector<std::string> warnings;
  /// Warnings that the user has been told of. That is nothing that a schedule says, so that one
  /// that is only read may note it.
  mutable std::set<std::string> told;
  /// Look up only.
  std::unordered_map<const OperationNode*, StageNumber> stage_of;
  /// Keeps the keys of stage_of alive.
  std::vector<Operation> known_ops;

  StageData& stage(StageNumber number) { return stages[number.index()]; }
  const StageData& stage(StageNumber number) const { return stages[number.index()]; }
  GroupData& group(GroupNumber number) { return groups[number.index()]; }
  const GroupData& group(GroupNumber number) const { return groups[number.index()]; }

  std::optional<StageNumber> find(const Operation& op) const;
  std::optional<StageOutput> find(const Tensor& tensor) const;
  /// ScheduleError naming the primitive if the operation is none of this schedule's.
  StageNumber require(const Operation& op, std::string_view primitive,
                      const SourceLocation& where) const;
  StageOutput require(const Tensor& tensor, std::string_view primitive,
                      const SourceLocation& where) const;
  /// The tensor that the output is now.
  Tensor tensor(const StageOutput& output) const;
  /// The outputs that a stage reads, in the order of its operation's inputs.
  const std::vector<StageOutput>& reads(StageNumber number) const;
  /// The stages in order that read some output of this one.
  std::vector<StageNumber> readers(StageNumber number) const;
  /// The same, by age.
  const std::set<StageNumber>& readers_by_age(StageNumber number) const;
  std::size_t position(StageNumber number) const;
  /// Whether some operation has the name, or had it before.
  bool has_operation_named(const std::string& name) const;
  /// The scan whose state the stage begins, continues or stands for; null if there is none.
  const StageData* scan_of_state(StageNumber number) const;

  /// A new stage in front of the one at the position.
  StageNumber insert_stage(const Operation& op, std::size_t position);
  /// The stage's operation from now on.
  void set_op(StageNumber number, Operation op);

  /// Where the stage really is: a root member of a group is where the group is.
  AttachedWhere effective_attach(StageNumber number) const;
  std::string hint_for_stranger(const Operation& op) const;

 private:
  /// Keeps what is told of operations in step with the stage's present one.
  void register_op(StageNumber number);
  void register_scan(StageNumber number);
  /// What fills the state of the scan, unless it fills that of an older one.
  void claim_state(StageNumber number);

  /// By number.
  std::vector<std::vector<StageOutput>> reads_;
  std::vector<std::set<StageNumber>> readers_;
  std::vector<std::optional<StageNumber>> scan_of_state_;
  /// By age.
  std::vector<StageNumber> scans_;
  std::unordered_set<std::string> names_;
};

/// The loops of an operation before any schedule: its axes but for the opaque ones, which belong to
/// what is computed inside (the update of a scan, an intrinsic).
std::vector<IterVar> loops_of(const Operation& op);

/// The dimensions of the output as it is stored: of a new layout, its axes.
std::vector<IterVar> stored_axes(const StageSpec& stage);

/// "stage `C`", by the name that the user gave.
std::string describe(const StageSpec& stage);
/// "axis `i` of stage `C`"
std::string describe(const StageSpec& stage, const IterVar& axis);
/// "`i.outer`, `i.inner`"
std::string describe(std::span<const IterVar> axes);

/// Throws ScheduleError: "split of axis `i` of stage `C`: <text>".
[[noreturn]] void fail(std::string_view primitive, const StageSpec& stage, const std::string& text,
                       const SourceLocation& where);
[[noreturn]] void fail(std::string_view primitive, const StageSpec& stage, const IterVar& axis,
                       const std::string& text, const SourceLocation& where);

/// Keeps a warning with its line, unless it is there already.
void warn_once(ScheduleData& schedule, const std::string& text, const SourceLocation& where);

}  // namespace tenon::te
