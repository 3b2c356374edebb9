// The context of a primitive: its name, its stage, and the user's line. All checks and messages use
// it.
//
//   const StageEdit edit(*this, "vectorize", where);
//   const IterVar axis = edit.leaf(given);
//   if (axis.kind() == IterKind::Reduce) edit.fail(axis, "the axis carries a reduction, ...");
//   edit.attributes(axis).run = tir::ForKind::Vectorized;
#pragma once

#include "te/relations/propagate.h"
#include "te/schedule/schedule_data.h"
#include "tenon/te/stage_data.h"

namespace tenon::te {

class StageEdit {
 public:
  /// Throws if the handle is a group, which has no loops and no storage. Also throws if normalize
  /// has inlined the stage.
  StageEdit(const Stage& handle, std::string_view primitive, const SourceLocation& where);
  StageEdit(ScheduleData& schedule, StageNumber number, std::string primitive,
            const SourceLocation& where);
  StageEdit(const StageEdit&) = default;
  StageEdit& operator=(const StageEdit&) = delete;
  /// Changes the version of the schedule. If the primitive throws, removes its warnings instead.
  ~StageEdit();

  ScheduleData& schedule() const { return schedule_; }
  StageNumber number() const { return number_; }
  StageData& stage() const { return copy_ ? *copy_ : schedule_.stage(number_); }
  const std::string& primitive() const { return primitive_; }
  const SourceLocation& where() const { return where_; }

  /// Returns a context that edits `copy` instead of the stage. A primitive of several steps edits a
  /// copy and replaces the stage at the end.
  StageEdit on(StageData& copy) const;

  /// Returns a text such as "split of stage `C`" or "split of axis `i` of stage `C`".
  std::string subject() const;
  std::string subject(const IterVar& axis) const;
  /// Throws ScheduleError: "<subject>: <text>".
  [[noreturn]] void fail(const std::string& text) const;
  [[noreturn]] void fail(const IterVar& axis, const std::string& text) const;
  /// Adds the text as a warning.
  void warn(const std::string& text) const;

  /// Returns the loop of the axis: the axis itself, or the axis rebased to 0. Throws if neither is
  /// a loop any more; the error states how the axis was replaced.
  IterVar leaf(const IterVar& axis) const;
  AxisAttributes& attributes(const IterVar& axis) const;

  /// Whether the axis derives from a data axis. This may be true for an axis that carries a
  /// reduction, if it is fused from axes of both kinds.
  bool runs_over_elements(const IterVar& axis) const;

  /// Throws if the axis, or any loop of the stage, is tensorized and the primitive would remove
  /// that loop.
  void check_not_tensorized(const IterVar& axis) const;
  void check_not_tensorized() const;
  /// Throws if the stage is stored in a scan's state, which belongs to the scan.
  void check_has_memory() const;
  /// Throws if the stage cannot be inlined.
  void check_can_inline() const;

  /// Warns if the primitive has removed loops with marks. `before` are the loops before the
  /// primitive.
  void warn_of_lost_marks(std::span<const IterVar> before) const;
  /// Warns if loops of the stage have marks. Called before all loops are removed.
  void warn_dropped_marks() const;

 private:
  ScheduleData& schedule_;
  StageNumber number_;
  std::string primitive_;
  SourceLocation where_;
  /// The number of warnings before the primitive.
  std::size_t warnings_;
  StageData* copy_ = nullptr;
  int exceptions_ = std::uncaught_exceptions();
};

/// Throws "<subject>: `foo` is not a storage scope; ...".
tir::StorageScope parse_scope(const std::string& subject, std::string_view scope,
                              const SourceLocation& where);

/// Throws if normalize has inlined the stage.
void check_is_there(const ScheduleData& schedule, StageNumber number, std::string_view primitive,
                    const SourceLocation& where);

// Checks of expressions that users pass to primitives: factors, offsets, conditions.

/// Throws unless `e` is constant during a call of the function: it reads no tensor, calls nothing
/// with varying results, and uses no axis of the schedule. `what` describes it: "the factor".
void check_known_at_call(const StageEdit& edit, const IterVar& axis, const Expr& e,
                         const std::string& what);

/// Throws unless the condition can be evaluated at the stage's stores. It may read placeholders of
/// the schedule, which exist in full, but no other tensors.
void check_store_predicate(const StageEdit& edit, const Expr& condition);

/// Throws if the primitive would remove an axis that the stage's store predicate uses. `staying`
/// are the axes that remain.
void check_predicate_stays(const StageEdit& edit, std::span<const IterVar> staying);

/// Throws unless the value is valid for the pragma's key.
void check_pragma_value(const StageEdit& edit, const IterVar& axis, const std::string& key,
                        const Expr& value);

// Common steps of the dataflow rewrites (cache_read, cache_write, rfactor).

/// Makes axes ax0, ax1, ..., one data-parallel axis per dimension.
std::vector<IterVar> numbered_axes(const std::vector<Expr>& shape);

/// Returns the conditions that the values of root axes, computed from the leaves, are in their
/// ranges. Omits conditions that provably hold.
std::vector<Expr> guards_of(const StageData& stage, std::span<const IterVar> roots,
                            const AxisRanges& ranges, const AxisValues& values,
                            arith::Facts& facts);

Expr zero_of(DataType type);

/// Makes the operation's axes the stage's loops. Attributes of removed axes are dropped with a
/// warning.
void reset_loops(const StageEdit& edit);

/// Throws if a stage is attached to an axis of this one that the rewrite removes.
void check_attached_axes_stay(const StageEdit& edit, std::span<const IterVar> staying);

}  // namespace tenon::te
