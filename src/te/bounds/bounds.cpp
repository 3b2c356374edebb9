// Queries on bounds, and their printed form.
#include <algorithm>
#include <iomanip>
#include <ostream>
#include <set>
#include <sstream>

#include "te/bounds/bounds_data.h"
#include "tenon/tir/print.h"

namespace tenon::te {

const AxisMap<Range>& Bounds::ranges() const { return data_->ranges; }
const std::vector<Bounds::Entry>& Bounds::entries() const { return data_->entries; }
const StageGraph* Bounds::graph() const { return data_->graph.get(); }

const Range* Bounds::find(const IterVar& axis) const { return ranges().find(axis); }

const Range& Bounds::operator[](const IterVar& axis) const {
  if (const Range* range = find(axis)) return *range;
  throw BoundError("axis `" + axis.name() + "` does not belong to the schedule: it has no bounds");
}

std::ostream& operator<<(std::ostream& out, const Bounds& bounds) {
  std::size_t stage_width = 5, axis_width = 4;
  for (const std::string& name : bounds.data().stage_names)
    stage_width = std::max(stage_width, name.size());
  for (const Bounds::Entry& entry : bounds.entries())
    axis_width = std::max(axis_width, entry.axis.name().size());
  // An axis that already starts at 0 and its rebased counterpart print as one row.
  std::set<std::array<std::string, 3>> printed;
  auto row = [&](const std::string& stage, const std::string& axis, const std::string& range) {
    if (!printed.insert({stage, axis, range}).second) return;
    out << std::left << std::setw(static_cast<int>(stage_width) + 2) << stage
        << std::setw(static_cast<int>(axis_width) + 2) << axis << range << '\n';
  };
  row("stage", "axis", "range");
  for (const Bounds::Entry& entry : bounds.entries()) {
    const std::string range =
        "[" + print_expr(entry.range.min) + ", +" + print_expr(entry.range.extent) + ")";
    row(bounds.data().stage_names[entry.stage.index()], entry.axis.name(), range);
  }
  return out;
}

}  // namespace tenon::te
