// Names of variables and buffers in a script: unique where they stand, and free again after the
// loop or block that defines them.
#pragma once

#include <string>
#include <unordered_map>

#include "tenon/tir/block.h"

namespace tenon::s_tir::script {

class Names {
 public:
  /// A new name for a variable or buffer, like `hint`: what is not part of a Python name is `_`,
  /// a keyword ends in `_`, and where the name is taken, `_1`, `_2`, ... follows, each number once
  /// while it is taken. One that does not begin with a letter gets the prefix.
  const std::string& define(const void* what, const std::string& hint, const char* prefix);
  /// As it is: `A.data` is the data pointer of `A`.
  void define_as(const void* what, std::string name);
  void release(const void* what);
  /// Null for what has no name here.
  const std::string* find(const void* what) const;
  /// Takes the names of others out of the way: functions, and what a script cannot name.
  void reserve(const std::string& name) { taken_.emplace(name, 0); }

 private:
  std::unordered_map<const void*, std::string> names_;
  /// With the last number that was put behind each.
  std::unordered_map<std::string, int> taken_;
};

}  // namespace tenon::s_tir::script
