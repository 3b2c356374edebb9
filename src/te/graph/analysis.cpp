#include "tenon/te/analysis.h"

#include "te/graph/scan_axes.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

// ---- scans --------------------------------------------------------------------------------------

namespace {

void check_scan(std::string_view function, const Operation& op, const SourceLocation& where) {
  if (op.as<Scan>()) return;
  throw TypeError(std::string(function) + ": operation `" + op.name() + "` is no scan", where);
}

}  // namespace

std::vector<Operation> scan_body(const Operation& scan, SourceLocation where) {
  check_scan("scan_body", scan, where);
  const StageGraph graph = freeze(create_schedule(scan, where), where);
  std::vector<Operation> body;
  for (StageId stage : stages_of_step(graph, *graph.find(scan)))
    body.push_back(graph.stage(stage).op);
  return body;
}

std::vector<IterVar> scan_fixed_axes(const Operation& scan, SourceLocation where) {
  check_scan("scan_fixed_axes", scan, where);
  const StageGraph graph = freeze(create_schedule(scan, where), where);
  return fixed_axes(graph, *graph.find(scan));
}

// ---- buffers ------------------------------------------------------------------------------------

bool needs_compact_buffers(const StageGraph& graph) {
  for (StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    if (stage.op.as<Extern>() || stage.op.as<TensorCompute>()) return true;
    for (const auto& [axis, attributes] : stage.attributes)
      if (attributes.tensorize) return true;
  }
  return false;
}

bool needs_compact_buffers(const Stmt& body) {
  bool found = false;
  tir::walk(body, [&](const tir::BufferView&) { found = true; });
  return found;
}

}  // namespace tenon::te
