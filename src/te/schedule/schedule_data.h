// The data of a schedule: stages and groups by number, their order, and the stage of each
// operation, including operations that a rewrite has replaced.
#pragma once

#include <set>
#include <unordered_set>

#include "tenon/te/schedule.h"
#include "tenon/te/stage_data.h"

namespace tenon::te {

/// Stages that are attached together. Groups can be nested.
struct GroupData {
  std::string name;
  Attach attach = AttachRoot{};
  SourceLocation attach_where = {};
  std::optional<GroupNumber> group = std::nullopt;
};

using StageOutput = OutputOf<StageNumber>;

struct ScheduleData {
  /// Changes with every primitive, so that bounds computed for an earlier version can be rejected.
  std::size_t version = 0;
  /// The stages, indexed by number. A stage's number never changes.
  std::vector<StageData> stages;
  /// The numbers of the stages, producers first. Does not contain stages that normalize has
  /// inlined.
  std::vector<StageNumber> order;
  std::vector<GroupData> groups;
  std::vector<StageNumber> outputs;
  std::vector<ReplacedSplit> replaced_splits;
  std::vector<std::string> warnings;
  /// Warnings that have been reported. Mutable, because reporting does not change the schedule.
  mutable std::set<std::string> reported_warnings;
  /// The stage of each operation; never iterated.
  std::unordered_map<const OperationNode*, StageNumber> stage_of;
  /// Keeps the keys of stage_of alive.
  std::vector<Operation> known_ops;

  StageData& stage(StageNumber number) { return stages[number.index()]; }
  const StageData& stage(StageNumber number) const { return stages[number.index()]; }
  GroupData& group(GroupNumber number) { return groups[number.index()]; }
  const GroupData& group(GroupNumber number) const { return groups[number.index()]; }

  std::optional<StageNumber> find(const Operation& op) const;
  std::optional<StageOutput> find(const Tensor& tensor) const;
  /// Returns the stage's number. Throws ScheduleError, naming the primitive, if the operation does
  /// not belong to this schedule.
  StageNumber require(const Operation& op, std::string_view primitive,
                      const SourceLocation& where) const;
  StageOutput require(const Tensor& tensor, std::string_view primitive,
                      const SourceLocation& where) const;
  /// Returns the current tensor of the output.
  Tensor tensor(const StageOutput& output) const;
  /// Returns the outputs that a stage reads, in the order of its operation's inputs.
  const std::vector<StageOutput>& reads(StageNumber number) const;
  /// Returns the stages that read an output of this one, in schedule order.
  std::vector<StageNumber> readers(StageNumber number) const;
  /// Returns the stages that read an output of this one, ordered by number.
  const std::set<StageNumber>& readers_by_age(StageNumber number) const;
  std::size_t position(StageNumber number) const;
  /// Whether an operation has or had the name.
  bool has_operation_named(const std::string& name) const;
  /// Returns the scan for which the stage is an initial state, an update or the state's
  /// placeholder; null for other stages.
  const StageData* scan_of_state(StageNumber number) const;

  /// Inserts a new stage before the given position.
  StageNumber insert_stage(const Operation& op, std::size_t position);
  /// Replaces the stage's operation.
  void set_op(StageNumber number, Operation op);

  /// Returns the attachment of the stage, or of its group if the stage is at the group's root, and
  /// the line that set it.
  std::pair<const Attach&, const SourceLocation&> effective_attach(StageNumber number) const;
  std::string hint_for_stranger(const Operation& op) const;

 private:
  /// Updates the tables for the stage's current operation.
  void register_op(StageNumber number);
  void register_scan(StageNumber number);
  /// Records which stages are parts of the scan's state. A part that belongs to an older scan is
  /// not changed.
  void claim_state(StageNumber number);

  /// The reads and readers of each stage, indexed by stage number.
  std::vector<std::vector<StageOutput>> reads_;
  std::vector<std::set<StageNumber>> readers_;
  std::vector<std::optional<StageNumber>> scan_of_state_;
  /// The scans, in creation order.
  std::vector<StageNumber> scans_;
  std::unordered_set<std::string> names_;
};

/// Inserts copies of initial states and updates that cannot be stored in the scan's state. This is
/// the case if they are arguments, states of another scan, or also used elsewhere.
void copy_shared_parts(ScheduleData& schedule, StageNumber scan);

/// Returns the loops of an operation that has not been scheduled: its axes, without opaque axes.
/// Opaque axes belong to inner computations (the update of a scan, an intrinsic).
std::vector<IterVar> loops_of(const Operation& op);

/// Returns the axes of the stored output. If its layout is transformed, these are the axes of the
/// new layout.
std::vector<IterVar> stored_axes(const StageSpec& stage);

/// Returns "stage `C`", with the name that the user gave.
std::string describe(const StageSpec& stage);
/// Returns "axis `i` of stage `C`".
std::string describe(const StageSpec& stage, const IterVar& axis);
/// Returns "`i.outer`, `i.inner`".
std::string describe(std::span<const IterVar> axes);

/// Throws ScheduleError: "split of axis `i` of stage `C`: <text>".
[[noreturn]] void fail(std::string_view primitive, const StageSpec& stage, const std::string& text,
                       const SourceLocation& where);
[[noreturn]] void fail(std::string_view primitive, const StageSpec& stage, const IterVar& axis,
                       const std::string& text, const SourceLocation& where);

/// Adds a warning with its line, unless it exists already.
void warn_once(ScheduleData& schedule, const std::string& text, const SourceLocation& where);

}  // namespace tenon::te
