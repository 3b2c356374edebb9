// Names of variables and buffers in a script: unique in their scope, and free again after the loop
// or block that defines them.
#pragma once

#include <string>
#include <unordered_map>

#include "tenon/tir/block.h"

namespace tenon::s_tir::script {

class Names {
 public:
  /// Defines a name for a variable or buffer, derived from `hint`. Characters that Python does not
  /// allow become `_`; a name that does not begin with a letter gets the prefix; a keyword gets a
  /// trailing `_`. A name that is taken gets `_1`, `_2`, ...; no number is reused while the name is
  /// taken.
  const std::string& define(const void* what, const std::string& hint, const char* prefix);
  /// Defines exactly this name: `A.data` is the data pointer of `A`.
  void define_as(const void* what, std::string name);
  void release(const void* what);
  /// Returns the name; null if it has none.
  const std::string* find(const void* what) const;
  /// Reserves other names: functions, and names that scripts cannot use.
  void reserve(const std::string& name) { taken_.emplace(name, 0); }

 private:
  std::unordered_map<const void*, std::string> names_;
  /// Maps each name to the last number appended to it.
  std::unordered_map<std::string, int> taken_;
};

}  // namespace tenon::s_tir::script
