// The context of a primitive: its name, its stage, and the user's line. All checks and messages use
// it.
//
//   const StageEdit edit(*this, "vectorize", where);
//   const IterVar axis = edit.leaf(given);
//   if (axis.kind() == IterKind::Reduce) edit.fail(axis, "the axis carries a reduction, ...");
//   edit.attributes(axis).run = RunMark{LoopMark::Vectorized, where};
#pragma once

#include "te/schedule/schedule_data.h"
#include "tenon/te/stage_data.h"

namespace tenon::te {

class StageEdit {
 public:
  /// Throws for a group, which has no loops and no storage, and for a stage that normalize has
  /// inlined.
  StageEdit(const Stage& handle, std::string_view primitive, const SourceLocation& where);
  StageEdit(ScheduleData& schedule, StageNumber number, std::string primitive,
            const SourceLocation& where);

  ScheduleData& schedule() const { return schedule_; }
  StageNumber number() const { return number_; }
  StageData& stage() const { return copy_ ? *copy_ : schedule_.stage(number_); }
  const std::string& primitive() const { return primitive_; }
  const SourceLocation& where() const { return where_; }

  /// Returns the context for a copy of the stage. Primitives that take several steps use it and
  /// then replace the stage.
  StageEdit on(StageData& copy) const;

  /// Returns a text such as "split of stage `C`" or "split of axis `i` of stage `C`".
  std::string subject() const;
  std::string subject(const IterVar& axis) const;
  /// Throws ScheduleError: "<subject>: <text>".
  [[noreturn]] void fail(const std::string& text) const;
  [[noreturn]] void fail(const IterVar& axis, const std::string& text) const;
  /// Adds the text as a warning.
  void warn(const std::string& text) const;

  /// Returns the loop of the axis: the axis itself, or its rebased axis. If neither is a loop any
  /// more, throws and states what the axis has become.
  IterVar leaf(const IterVar& axis) const;
  AxisAttributes& attributes(const IterVar& axis) const;

  /// Whether the axis derives from a data axis. An axis that carries a reduction may derive from
  /// both kinds.
  bool runs_over_elements(const IterVar& axis) const;

  /// Throws if the axis, or any loop of the stage, is tensorized and the primitive would remove
  /// that loop.
  void check_not_tensorized(const IterVar& axis) const;
  void check_not_tensorized() const;
  /// Throws if the stage is stored in a scan's state, which belongs to the scan.
  void check_has_memory() const;
  /// Throws if the stage cannot be inlined.
  void check_can_inline() const;
  /// Throws "<subject>: `foo` is no storage scope; ...".
  tir::StorageScope parse_scope(std::string_view scope) const;

  /// Warns of marks on loops that the primitive has removed. `before` are the previous loops.
  void warn_of_lost_marks(std::span<const IterVar> before) const;
  /// Warns of marks on all loops, which are about to be removed.
  void warn_dropped_marks() const;

 private:
  ScheduleData& schedule_;
  StageNumber number_;
  std::string primitive_;
  SourceLocation where_;
  StageData* copy_ = nullptr;
};

/// Throws "<subject>: `foo` is no storage scope; ...".
tir::StorageScope parse_scope(const std::string& subject, std::string_view scope,
                              const SourceLocation& where);

/// Throws if normalize has inlined the stage.
void check_is_there(const ScheduleData& schedule, StageNumber number, std::string_view primitive,
                    const SourceLocation& where);

}  // namespace tenon::te
