// The parts of a case that are left out to make it smaller.
#pragma once

#include <vector>

namespace tenon::fuzz {

/// The parts of a program, numbered in the order in which they are made, that a smaller program
/// keeps.
class Kept {
 public:
  /// A part whose number is false is left out; parts beyond its length are kept.
  explicit Kept(std::vector<bool> parts) : parts_(std::move(parts)) {}

  /// Whether the next part is kept.
  bool next() {
    const auto n = static_cast<std::size_t>(count_++);
    return n >= parts_.size() || parts_[n];
  }
  int count() const { return count_; }

 private:
  std::vector<bool> parts_;
  int count_ = 0;
};

}  // namespace tenon::fuzz
