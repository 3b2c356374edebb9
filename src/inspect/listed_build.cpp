#include "inspect/listed_build.h"

namespace tenon {

const ListedProgram::Part& ListedProgram::add(const tir::PrimFunc& func, bool has_heading) {
  if (has_heading) lines.push_back("@" + func.attrs.global_symbol + ":");
  parts.push_back({tir::list_statements(func), static_cast<int>(lines.size())});
  const std::vector<std::string>& own = parts.back().listing.lines;
  lines.insert(lines.end(), own.begin(), own.end());
  return parts.back();
}

tir::PrimFunc ListedBuild::listed(const tir::PrimFunc& func) {
  const ListedProgram::Part& part = program.add(func, has_headings_);
  for (const tir::ListedStmt& each : part.listing.stmts)
    lines_.emplace(&each.stmt.node(), part.lines_before + each.first);
  return part.listing.func;
}

}  // namespace tenon
