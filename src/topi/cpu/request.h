// Operations that a CPU schedule computes together: an operator with the elementwise maps of its
// result, or a map with the maps of its inputs.
#pragma once

#include <functional>

#include "tenon/te/schedule.h"

namespace tenon::topi::cpu {

using te::Tensor;

/// An operator and the last map of its elements. Without maps, `out` is the operator itself.
struct Request {
  Tensor out, core;
  /// The maps between `core` and `out`.
  std::vector<te::Operation> between;

  bool is_mapped() const { return !out.op().same_as(core.op()); }
  void inline_maps(const te::Schedule& s) const;
  /// Inlines reshapes that only the operator reads.
  void inline_reshapes(const te::Schedule& s) const;
};

using IsCore = bool (*)(const Tensor& x);

/// Returns the request if the tensor is such an operator, or an elementwise map of one whose
/// intermediate stages have no other readers; nullopt otherwise.
std::optional<Request> find_request(const te::Schedule& s, const Tensor& out, IsCore is_core);
/// Like find_request, for a schedule of this tensor alone. Throws ScheduleError, at `where`, with
/// `kind` as the description of the expected operator.
Request checked_request(const char* function, const te::Schedule& s, const Tensor& out,
                        IsCore is_core, const char* kind, const SourceLocation& where);

/// Returns, readers first, the operations that can be computed with `out`, which is the first:
/// those that `joins` accepts and that only other operations of the group read. `joins` gets the
/// operation and the group so far. The inputs of an operation are visited if `continues` holds.
std::vector<te::Operation> group_with(
    const te::Schedule& s, const te::Operation& out,
    const std::function<bool(const te::Operation&)>& continues,
    const std::function<bool(const te::Operation&, const std::vector<te::Operation>&)>& joins);

/// Whether the stage is unscheduled and only the given operations read it.
bool is_only_for(const te::Schedule& s, const te::Stage& stage,
                 const std::vector<te::Operation>& readers);
bool reads(const te::Operation& reader, const te::Operation& op);
bool is_one_of(const te::Operation& op, const std::vector<te::Operation>& all);

/// Lets the compiler reorder the serial loops of all stages (te::Stage::autotune_loops) except
/// those of the operations that the user has scheduled.
void leave_loops_to_compiler(const te::Schedule& s, const std::vector<te::Operation>& scheduled);

/// Inlines the maps whose results only the tensor or other inlined maps read.
void inline_maps(const te::Schedule& s, const Tensor& out);

}  // namespace tenon::topi::cpu
