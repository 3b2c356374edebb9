// AxisMap: a map from iteration variables, compared by identity, to values. The map cannot be
// iterated over, because the order would depend on memory addresses.
//
//   AxisMap<Range> ranges;  ranges.set(i, Range(0, 16));  ranges.at(i).extent
#pragma once

#include <unordered_map>

#include "tenon/tir/handles.h"

namespace tenon::te {

template <class T>
class AxisMap {
 public:
  /// Returns the value of the axis, or null.
  const T* find(const tir::IterVar& axis) const {
    auto it = values_.find(axis.get());
    return it == values_.end() ? nullptr : &it->second;
  }
  bool contains(const tir::IterVar& axis) const { return find(axis) != nullptr; }
  /// Returns the value of the axis. Precondition: the axis has a value.
  const T& at(const tir::IterVar& axis) const {
    const T* value = find(axis);
    if (!value) internal_error("no value for axis `" + axis.name() + "`");
    return *value;
  }
  T value_or(const tir::IterVar& axis, T otherwise) const {
    const T* value = find(axis);
    return value ? *value : std::move(otherwise);
  }
  void set(const tir::IterVar& axis, T value) {
    values_.insert_or_assign(axis.get(), std::move(value));
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::unordered_map<const tir::IterVarNode*, T> values_;
};

}  // namespace tenon::te
