// C identifiers for variables of the IR, whose names need be neither identifiers nor unique.
//
//   Names names;
//   names.take("i.outer")   // "i_outer"
//   names.open();
//   names.take("i.outer")   // "i_outer_1": the other is in scope
//   names.close();          // and may be taken again
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tenon::codegen {

/// Whether C, what the emitted text includes, or a helper function gives the name a meaning.
bool is_reserved(std::string_view identifier);

class Names {
 public:
  Names() { open(); }
  /// In scope until the block around it is closed.
  std::string take(std::string_view wanted);
  /// Until the end.
  std::string take_for_good(std::string_view wanted);
  /// Taken from now on, and for good.
  void reserve(std::string_view name) { scopes_.front().insert(std::string(name)); }
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }

 private:
  std::string free_name(std::string_view wanted) const;
  bool is_taken(const std::string& name) const;
  std::vector<std::unordered_set<std::string>> scopes_;
};

}  // namespace tenon::codegen
