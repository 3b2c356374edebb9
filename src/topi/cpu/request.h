// Finds the operations that a CPU schedule computes together: an operator with the elementwise maps
// of its result, or a map with the maps of its inputs.
#pragma once

#include <functional>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

using te::Tensor;

/// An operator `core`, and the last of the elementwise maps that are applied to its result. If
/// there are no maps, `out` is the result of the operator itself.
struct Request {
  Tensor out, core;
  /// The maps between `core` and `out`, excluding the operation of `out`.
  std::vector<te::Operation> between;

  bool is_mapped() const { return !out.op().same_as(core.op()); }
  void inline_maps(const te::Schedule& s) const;
  /// Returns the stage that computes the operator's sums, in local memory. It is the operator
  /// itself if maps read it, and otherwise a new stage, of which the operator's stage becomes a
  /// copy.
  Tensor sums_in_registers(const te::Schedule& s) const;
  /// Inlines the reshapes that only the operator reads.
  void inline_reshapes(const te::Schedule& s) const;
};

using IsCore = bool (*)(const Tensor& x);

/// Returns the request for `out`: an operator for which `is_core` holds, or an elementwise map of
/// such an operator. Nullopt if there is no such operator, or if other stages read the results in
/// between.
std::optional<Request> find_request(const te::Schedule& s, const Tensor& out, IsCore is_core);
/// Like find_request, for a schedule of this tensor alone. Throws ScheduleError if there is no
/// request. `kind` describes the expected operator in the message.
Request checked_request(const char* function, const te::Schedule& s, const Tensor& out,
                        IsCore is_core, const char* kind, const SourceLocation& where);

using ArrangeCore =
    std::function<void(const te::Schedule&, const Request&, const tir::TargetFacts&)>;

/// Returns the schedule of `out` to which `arrange` has been applied. The other parameters are
/// those of checked_request.
te::Schedule schedule_core(const char* function, const Tensor& out, IsCore is_core,
                           const char* kind, const ArrangeCore& arrange,
                           const tir::TargetFacts& target, const SourceLocation& where);

/// Returns the operations that can be computed together with `out`, consumers first. The first one
/// is `out`. An operation is added if only operations of the group read it and `joins(operation,
/// its readers)` holds. The search visits the inputs of an operation only if `continues` holds for
/// it.
std::vector<te::Operation> group_with(
    const te::Schedule& s, const te::Operation& out,
    const std::function<bool(const te::Operation&)>& continues,
    const std::function<bool(const te::Operation&, const std::vector<te::Operation>&)>& joins);

/// Whether the stage is unscheduled and only the given operations read it.
bool is_only_for(const te::Schedule& s, const te::Stage& stage,
                 const std::vector<te::Operation>& readers);
/// Whether `x` is computed by an unscheduled map that only `reader` reads.
bool is_map_only_for(const te::Schedule& s, const Tensor& x, const te::Operation& reader);
bool reads(const te::Operation& reader, const te::Operation& op);

/// Lets the compiler reorder the serial loops of all stages (te::Stage::autotune_loops), except the
/// stages of `scheduled`, which the user has scheduled.
void leave_loops_to_compiler(const te::Schedule& s, const std::vector<te::Operation>& scheduled);

/// Inlines the maps that only the operation of the tensor and other inlined maps read. A map is not
/// inlined if that would compute many elements of it for one element of the tensor.
void inline_maps(const te::Schedule& s, const Tensor& out);

}  // namespace tenon::topi::cpu
