#include "s_tir/script/script_names.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tenon::s_tir::script {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_part(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

/// Reserved words of Python and of scripts, which cannot be variable names.
constexpr auto kKeywords = std::to_array<std::string_view>(
    {"False",   "None",   "True",     "and",      "as",   "assert", "async", "await",
     "break",   "class",  "continue", "def",      "del",  "elif",   "else",  "except",
     "finally", "for",    "from",     "global",   "if",   "import", "in",    "inf",
     "is",      "lambda", "nan",      "nonlocal", "not",  "or",     "pass",  "raise",
     "return",  "try",    "while",    "with",     "yield"});

}  // namespace

const std::string& Names::define(const void* what, const std::string& hint, const char* prefix) {
  std::string base = hint;
  std::ranges::replace_if(
      base, [](char c) { return !is_name_part(c); }, '_');
  if (base.empty() || !is_letter(base.front())) base = prefix + base;
  if (std::ranges::find(kKeywords, base) != kKeywords.end()) base += '_';
  std::string name = base;
  if (const auto known = taken_.find(base); known != taken_.end()) {
    // Increments the suffix while the name is taken; suffixes that have become free are not reused.
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
