#include "codegen/c_like/names.h"

#include <algorithm>

#include "codegen/c_like/helpers.h"
#include "tenon/codegen/c_names.h"

namespace tenon::codegen {

bool is_reserved(std::string_view identifier) {
  return is_reserved_in_c(identifier) || is_helper_name(identifier);
}

bool Names::is_taken(const std::string& name) const {
  return is_reserved(name) ||
         std::ranges::any_of(scopes_, [&](const auto& scope) { return scope.contains(name); });
}

std::string Names::free_name(std::string_view wanted) const {
  std::string base = as_identifier(wanted);
  if (!is_taken(base)) return base;
  // A numeric suffix makes the name unique. If the name with a suffix, such as `M_1`, would have a
  // reserved prefix, "v_" is prepended.
  if (has_reserved_beginning(base + "_")) base = "v_" + base;
  std::string name = base;
  for (int n = 1; is_taken(name); ++n) name = base + "_" + std::to_string(n);
  return name;
}

std::string Names::take(std::string_view wanted) {
  std::string name = free_name(wanted);
  scopes_.back().insert(name);
  return name;
}

std::string Names::take_for_good(std::string_view wanted) {
  std::string name = free_name(wanted);
  reserve(name);
  return name;
}

}  // namespace tenon::codegen
