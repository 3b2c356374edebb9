#include "tenon/inspect/draw.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>

#include "tenon/arith/simplify.h"
#include "tenon/driver/text.h"
#include "tenon/support/error.h"
#include "tenon/te/axis_map.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/print.h"

namespace tenon::te {

namespace {

using tir::print_expr;

std::string range_text(const Range& range) {
  return print_expr(range.min) + ".." + print_expr(arith::simplify(range.min + range.extent));
}

bool is_input(const FrozenStage& stage) { return stage.op.as<Placeholder>() != nullptr; }

// ---- graphs -------------------------------------------------------------------------------------

/// A graph whose vertices have their attributes in DOT syntax, and whose edges have their labels.
using Drawing = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, std::string,
                                      std::string>;

constexpr std::string_view kStyle =
    "node [shape=box, fontname=monospace]\nedge [fontname=monospace]\n";

std::string dot_string(const std::string& text) { return boost::escape_dot_string(text); }

std::string vertex_attributes(const std::string& label, bool is_framed_twice) {
  return "label=" + dot_string(label) + (is_framed_twice ? ", peripheries=2" : "");
}

/// Returns the vertices and edges in DOT syntax. The name of a vertex is `prefix` followed by its
/// number.
std::string body_of(const Drawing& drawing, const std::string& prefix) {
  const auto name = [&](auto vertex) { return prefix + std::to_string(vertex); };
  std::string text;
  for (auto [vertex, end] = boost::vertices(drawing); vertex != end; ++vertex)
    text += name(*vertex) + " [" + drawing[*vertex] + "]\n";
  for (auto [edge, end] = boost::edges(drawing); edge != end; ++edge)
    text += name(boost::source(*edge, drawing)) + " -> " + name(boost::target(*edge, drawing)) +
            (drawing[*edge].empty() ? "" : " [label=" + dot_string(drawing[*edge]) + "]") + "\n";
  return text;
}

/// A title and a drawing.
using Titled = std::pair<std::string, Drawing>;

std::string dot_of(const Titled& graph) {
  return "digraph {\nlabel=" + dot_string(graph.first) + "\nlabelloc=t\n" + std::string(kStyle) +
         body_of(graph.second, "n") + "}\n";
}

Drawing stages_of(const StageGraph& graph) {
  Drawing drawing;
  for (const StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    std::string label = stage.op.name();
    for (int n = 0; n < stage.op.num_outputs(); ++n) {
      const Tensor tensor = stage.op.output(n);
      label += '\n' + tensor.dtype().str() + shape_text(tensor.shape());
    }
    if (!is_input(stage)) label += '\n' + std::string(to_string(stage.scope));
    boost::add_vertex(vertex_attributes(label, stage.is_output), drawing);
  }
  return drawing;
}

std::string relation_name(const Relation& relation) {
  return std::visit(
      []<class R>(const R&) -> std::string {
        if constexpr (std::is_same_v<R, Split>) return "split";
        if constexpr (std::is_same_v<R, Fuse>) return "fuse";
        if constexpr (std::is_same_v<R, Rebase>) return "";  // drawn as the axis itself
        if constexpr (std::is_same_v<R, Singleton>) return "singleton";
        if constexpr (std::is_same_v<R, Transform>) return "transform_layout";
      },
      relation);
}

Titled dataflow_of(const StageGraph& graph) {
  Drawing drawing = stages_of(graph);
  for (const StageId id : graph.ids())
    for (const StageId read : graph.reads(id))
      boost::add_edge(read.index(), id.index(), "", drawing);
  return {"what reads what", std::move(drawing)};
}

Titled attachment_of(const StageGraph& graph) {
  Drawing drawing = stages_of(graph);
  for (const StageId id : graph.ids())
    if (const std::optional<AttachPoint>& place = graph.stage(id).place)
      boost::add_edge(id.index(), place->stage.index(), place->axis.var().name(), drawing);
  return {"what is computed where", std::move(drawing)};
}

Titled axes_of(const Bounds& bounds, const FrozenStage& stage) {
  Drawing drawing;
  AxisMap<std::size_t> vertices;
  for (const IterVar& axis : stage.all_iter_vars) {
    const Relation* made = nullptr;
    for (const Relation& relation : stage.relations)
      if (contains(children_of(relation), axis)) made = &relation;
    const Range* range = bounds.find(axis);
    const std::string attributes = vertex_attributes(
        axis.var().name() + (range ? '\n' + range_text(*range) : ""), stage.has_leaf(axis));
    // A rebased axis has no vertex of its own: it is drawn as its parent.
    if (const Rebase* rebase = made ? std::get_if<Rebase>(made) : nullptr) {
      const std::size_t vertex = vertices.at(rebase->parent);
      drawing[vertex] = attributes;
      vertices.set(axis, vertex);
    } else {
      vertices.set(axis, boost::add_vertex(attributes, drawing));
    }
  }
  for (const Relation& relation : stage.relations) {
    if (std::holds_alternative<Rebase>(relation)) continue;
    for (const IterVar& parent : parents_of(relation))
      for (const IterVar& child : children_of(relation))
        if (vertices.contains(parent) && vertices.contains(child))
          boost::add_edge(vertices.at(parent), vertices.at(child), relation_name(relation),
                          drawing);
  }
  return {"the axes of " + stage.op.name(), std::move(drawing)};
}

}  // namespace

std::string dataflow_dot(const Schedule& schedule, SourceLocation where) {
  return dot_of(dataflow_of(freeze(schedule, where)));
}

std::string attachment_dot(const Schedule& schedule, SourceLocation where) {
  return dot_of(attachment_of(freeze(schedule, where)));
}

std::string axes_dot(const Schedule& schedule, const StageKey& key) {
  const Bounds bounds = infer_bound(schedule, key.where);
  const std::optional<StageId> id = bounds.graph()->find(key.op);
  if (!id)
    throw ScheduleError("there are no axes of `" + key.op.name() +
                            "` to draw: it is not a stage of this schedule, or it was inlined",
                        key.where);
  return dot_of(axes_of(bounds, bounds.graph()->stage(*id)));
}

std::string all_dots(const std::vector<NamedSchedule>& schedules, SourceLocation where) {
  std::string text = "digraph {\ncompound=true\n" + std::string(kStyle);
  std::string last_row;
  for (std::size_t row = 0; row < schedules.size(); ++row) {
    const Bounds bounds = infer_bound(schedules[row].schedule, where);
    const StageGraph& graph = *bounds.graph();
    std::vector<Titled> drawings = {dataflow_of(graph), attachment_of(graph)};
    for (const StageId id : graph.ids())
      if (!is_input(graph.stage(id))) drawings.push_back(axes_of(bounds, graph.stage(id)));
    const std::string& name = schedules[row].name;
    for (std::size_t n = 0; n < drawings.size(); ++n) {
      const std::string prefix = "s" + std::to_string(row) + "g" + std::to_string(n) + "n";
      const std::string title = (name.empty() ? "" : name + ": ") + drawings[n].first;
      text += "subgraph cluster_" + prefix + " {\nlabel=" + dot_string(title) + "\n" +
              body_of(drawings[n].second, prefix) + "}\n";
      // An invisible edge places the row below the previous one.
      if (n == 0 && row > 0)
        text += last_row + " -> " + prefix + "0 [style=invis, lhead=cluster_" + prefix + "]\n";
      if (n == 0) last_row = prefix + std::to_string(boost::num_vertices(drawings[n].second) - 1);
    }
  }
  return text + "}\n";
}

std::string all_dots(const Schedule& schedule, SourceLocation where) {
  return all_dots({{"", schedule}}, where);
}

}  // namespace tenon::te
