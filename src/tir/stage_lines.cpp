#include "tenon/tir/stage_lines.h"
#include "tenon/tir/expr.h"

namespace tenon::tir {

namespace {

constexpr const char* kKey = "tenon.stage_lines";

}  // namespace

void note_stage_lines(PrimFunc::Attrs& attrs, const std::vector<StageLine>& lines) {
  std::vector<Annotation> list;
  for (const StageLine& line : lines) {
    std::vector<Annotation> parts{{make_string(line.buffer)},
                                  {make_string(line.str())},
                                  {make_int(Bool(), line.is_scheduled ? 1 : 0)}};
    if (line.stores) parts.push_back({make_int(Int(64), *line.stores)});
    list.push_back({std::move(parts)});
  }
  Annotations notes = attrs.others ? *attrs.others : Annotations();
  notes[kKey] = {std::move(list)};
  attrs.others = std::make_shared<const Annotations>(std::move(notes));
}

std::vector<StageLine> stage_lines(const PrimFunc::Attrs& attrs) {
  std::vector<StageLine> lines;
  if (!attrs.others) return lines;
  const auto found = attrs.others->find(kKey);
  if (found == attrs.others->end()) return lines;
  for (const Annotation& each : std::get<std::vector<Annotation>>(found->second.value)) {
    const auto& parts = std::get<std::vector<Annotation>>(each.value);
    const std::string text = annotation_text(parts.at(1)).value_or("");
    const std::size_t comma = text.rfind(", ");
    lines.push_back({annotation_text(parts.at(0)).value_or(""), text.substr(0, comma),
                     comma == std::string::npos ? "" : text.substr(comma + 2),
                     parts.size() > 3 ? annotation_int(parts[3]) : std::nullopt,
                     annotation_int(parts.at(2)).value_or(0) != 0});
  }
  return lines;
}

}  // namespace tenon::tir
