#include "tenon/codegen/artifact.h"

#include <algorithm>

#include "tenon/support/error.h"

namespace tenon::codegen {

std::string Artifact::source(std::string_view kind) const {
  const std::vector<std::string> kinds = impl_->source_kinds();
  if (std::ranges::find(kinds, kind) != kinds.end()) return impl_->source(kind);
  std::string known;
  for (const std::string& name : kinds) known += (known.empty() ? "`" : ", `") + name + "`";
  throw RuntimeError("compiled code has no source of kind `" + std::string(kind) + "`; there is " +
                     known);
}

}  // namespace tenon::codegen
