#include "s_tir/script/script_names.h"

#include <algorithm>
#include <cctype>

namespace tenon::s_tir::script {

const std::string& Names::define(const void* what, const std::string& hint, const char* prefix) {
  std::string base = hint;
  std::ranges::replace(base, '.', '_');
  if (base.empty() || !std::isalpha(static_cast<unsigned char>(base.front()))) base = prefix + base;
  std::string name = base;
  if (const auto known = taken_.find(base); known != taken_.end()) {
    // Counted on as long as the plain name is taken, also past numbers that are free again.
    do name = base + "_" + std::to_string(++known->second);
    while (taken_.contains(name));
  }
  taken_.emplace(name, 0);
  return names_.insert_or_assign(what, std::move(name)).first->second;
}

void Names::define_as(const void* what, std::string name) {
  names_.insert_or_assign(what, std::move(name));
}

void Names::release(const void* what) {
  const auto found = names_.find(what);
  if (found == names_.end()) return;
  taken_.erase(found->second);
  names_.erase(found);
}

const std::string* Names::find(const void* what) const {
  const auto found = names_.find(what);
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace tenon::s_tir::script
