// What is computed together, for schedules for processors: an operator with the maps behind it, a
// map with those in front of it.
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::topi::cpu {

using te::Tensor;

/// An operator and a map of its elements, which is itself where there is none.
struct Request {
  Tensor out, core;
  /// The maps between them.
  std::vector<te::Operation> between;

  bool is_mapped() const { return !out.op().same_as(core.op()); }
  void inline_between(const te::Schedule& s) const;
};

using IsCore = bool (*)(const Tensor& x);

/// Nothing if the tensor is neither such an operator nor a map of the elements of one, and of no
/// more, that no other stage needs.
std::optional<Request> find_request(const te::Schedule& s, const Tensor& out, IsCore is_core);
/// The same of a schedule of this tensor alone. ScheduleError, at `where`, with `kind` in words.
Request checked_request(const char* function, const te::Schedule& s, const Tensor& out,
                        IsCore is_core, const char* kind, const SourceLocation& where);

/// Whether the stage is still as the schedule was created, and only the given operations read it.
bool is_only_for(const te::Schedule& s, const te::Stage& stage,
                 const std::vector<te::Operation>& readers);
bool reads(const te::Operation& reader, const te::Operation& op);
bool is_one_of(const te::Operation& op, const std::vector<te::Operation>& all);

/// Lets the compiler rearrange the serial loops of all stages (te::Stage::autotune_loops) but those
/// of the operations that the user has scheduled.
void leave_loops_to_compiler(const te::Schedule& s, const std::vector<te::Operation>& scheduled);

/// Inlines the maps that only the tensor, or others of them, are computed from.
void inline_maps(const te::Schedule& s, const Tensor& out);

}  // namespace tenon::topi::cpu
