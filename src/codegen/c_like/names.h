// C identifiers for IR variables, whose names need not be identifiers or unique.
//
//   Names names;
//   names.take("i.outer")   // "i_outer"
//   names.open();
//   names.take("i.outer")   // "i_outer_1": "i_outer" is in scope
//   names.close();          // "i_outer_1" is free again
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tenon::codegen {

/// Whether the name is reserved: by C, by a header that the text includes, or by a helper function.
bool is_reserved(std::string_view identifier);

class Names {
 public:
  Names() { open(); }
  /// Returns an unused identifier and reserves it until the current scope is closed.
  std::string take(std::string_view wanted);
  /// Returns an unused identifier and reserves it permanently.
  std::string take_for_good(std::string_view wanted);
  bool is_taken(const std::string& name) const;
  /// Reserves the name permanently.
  void reserve(std::string_view name) { scopes_.front().insert(std::string(name)); }
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }

 private:
  std::string free_name(std::string_view wanted) const;
  std::vector<std::unordered_set<std::string>> scopes_;
};

}  // namespace tenon::codegen
