#include "te/binds.h"

#include <algorithm>

#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "tenon/te/operation.h"
#include "tenon/te/operation_kind.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Checks that two tensors may share a buffer. One must be computed elementwise from the other, and
/// an element that is overwritten must not be read afterwards.
void check_in_place(const StageGraph& graph, const Tensor& a, const Tensor& b,
                    const std::string& buffer, const SourceLocation& where) {
  const bool in_order = *graph.find(a.op()) < *graph.find(b.op());
  const Tensor& before = in_order ? a : b;
  const Tensor& after = in_order ? b : a;
  const auto refuse = [&](const std::string& reason) {
    throw ScheduleError("binds: buffer `" + buffer + "` holds tensors `" + before.name() +
                            "` and `" + after.name() + "`, but " + reason,
                        where);
  };
  const StageId producer = *graph.find(before.op()), consumer = *graph.find(after.op());
  const FrozenStage& stage = graph.stage(consumer);
  const Compute* compute = stage.op.as<Compute>();
  if (!compute || compute->reduction())
    refuse("`" + after.name() + "` is not computed element by element");
  if (stage.layout || graph.stage(producer).layout) refuse("their layouts are transformed");
  // A stage that is attached to a loop may compute an element twice. The second computation would
  // read the overwritten input.
  for (const Tensor& tensor : {before, after})
    if (!graph.attach_path(*graph.find(tensor.op())).empty())
      refuse("`" + tensor.name() + "` is attached to a loop; compute it at root");
  if (std::ranges::any_of(compute->axis, [&](const IterVar& a) { return stage.rounds_up(a); }))
    refuse("`" + after.name() + "` is rounded up; compute it at root without round_up");
  for (const StageId reader : graph.readers(producer))
    if (reader != consumer)
      refuse("stage `" + graph.stage(reader).origin_op.name() + "` reads `" + before.name() +
             "` as well");
  const auto is_at = [](const Expr& e, const IterVar& axis) { return e.same_as(axis.var()); };
  for (const auto& [tensor, indices] : collect_reads(stage.op))
    if (tensor.op().same_as(graph.stage(producer).op) &&
        !std::ranges::equal(indices, compute->axis, is_at))
      refuse("`" + after.name() + "` reads other elements than the one that it writes");
}

}  // namespace

void check_binds(const StageGraph& graph, const std::vector<std::pair<Tensor, Buffer>>& binds,
                 const SourceLocation& where) {
  for (std::size_t n = 0; n < binds.size(); ++n) {
    const auto& [tensor, buffer] = binds[n];
    if (!graph.find(tensor.op()))
      throw ScheduleError("binds: tensor `" + tensor.name() + "` is not part of this schedule",
                          where);
    check_buffer_of(tensor, buffer, /*compared_at_run_time=*/true, "binds", where);
    if (buffer->scope() != StorageScope::Global)
      throw ScheduleError("binds: buffer `" + buffer.name() + "` for tensor `" + tensor.name() +
                              "` lies in scope \"" + std::string(to_string(buffer->scope())) +
                              "\"; arguments are in global memory",
                          where);
    for (const auto& [other, known] : std::span(binds).first(n)) {
      if (tensor.same_as(other))
        throw ScheduleError("binds: tensor `" + tensor.name() + "` has two buffers, `" +
                                known.name() + "` and `" + buffer.name() + "`",
                            where);
      if (buffer->data.same_as(known->data))
        check_in_place(graph, other, tensor, buffer.name(), where);
    }
  }
}

}  // namespace tenon::te
