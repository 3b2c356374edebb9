#include "te/binds.h"

#include <algorithm>

#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "tenon/te/operation.h"
#include "tenon/te/operation_kind.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Checks that two tensors may share a buffer: one is computed elementwise from the other, and
/// overwritten elements have no other reader.
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
  const FrozenStage& stage = graph.stage(*graph.find(after.op()));
  const Compute* compute = stage.op.as<Compute>();
  if (!compute || compute->reduction())
    refuse("`" + after.name() + "` is not computed element by element");
  if (stage.layout || graph.stage(*graph.find(before.op())).layout)
    refuse("their layouts are transformed");
  // An element that is computed twice reads what its first computation has written.
  for (const Tensor& tensor : {before, after})
    if (const StageId id = *graph.find(tensor.op()); !graph.attach_path(id).empty())
      refuse("`" + tensor.name() + "` is attached to a loop; compute it at root");
  if (std::ranges::any_of(compute->axis, [&](const IterVar& a) { return stage.rounds_up(a); }))
    refuse("`" + after.name() + "` is rounded up; compute it at root without round_up");
  for (const TensorReaders& output : graph.output_readers(*graph.find(before.op())))
    for (const StageId reader : output.readers)
      if (reader != *graph.find(after.op()))
        refuse("stage `" + graph.stage(reader).origin_op.name() + "` reads `" + before.name() +
               "` as well");
  for (const TensorReads& reads : collect_reads(stage.op)) {
    if (!reads.tensor.op().same_as(graph.stage(*graph.find(before.op())).op)) continue;
    for (const std::vector<Expr>& indices : reads.indices) {
      const bool is_own =
          std::equal(indices.begin(), indices.end(), compute->axis.begin(), compute->axis.end(),
                     [](const Expr& e, const IterVar& axis) { return e.same_as(axis.var()); });
      if (!is_own)
        refuse("`" + after.name() + "` reads other elements than the one that it writes");
    }
  }
}

}  // namespace

void check_binds(const StageGraph& graph, const std::vector<std::pair<Tensor, Buffer>>& binds,
                 const SourceLocation& where) {
  for (const auto& [tensor, buffer] : binds) {
    if (!graph.find(tensor.op()))
      throw ScheduleError("binds: tensor `" + tensor.name() + "` is not part of this schedule",
                          where);
    check_buffer_of(tensor, buffer, ShapeRule::NotContradicted, "binds", where);
    if (buffer->scope() != StorageScope::Global)
      throw ScheduleError("binds: buffer `" + buffer.name() + "` for tensor `" + tensor.name() +
                              "` lies in scope \"" + std::string(to_string(buffer->scope())) +
                              "\"; arguments are in global memory",
                          where);
  }
  for (std::size_t n = 0; n < binds.size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      if (binds[n].first.same_as(binds[m].first))
        throw ScheduleError("binds: tensor `" + binds[n].first.name() + "` has two buffers, `" +
                                binds[m].second.name() + "` and `" + binds[n].second.name() + "`",
                            where);
  for (std::size_t n = 0; n < binds.size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      if (binds[n].second->data.same_as(binds[m].second->data))
        check_in_place(graph, binds[m].first, binds[n].first, binds[n].second.name(), where);
}

}  // namespace tenon::te
