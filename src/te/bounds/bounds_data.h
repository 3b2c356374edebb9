// The data behind a Bounds handle.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tenon/te/axis_map.h"
#include "tenon/te/infer_bound.h"

namespace tenon::te {

struct Bounds::Data {
  AxisMap<Range> ranges;
  std::vector<Entry> entries;
  std::vector<std::string> stage_names;
  std::shared_ptr<const StageGraph> graph;
};

}  // namespace tenon::te
