// Values of the interpreter: one number per lane.
#pragma once

#include <vector>

#include "tenon/interp/scalar.h"

namespace tenon::interp {

/// A scalar or a vector.
class Value {
 public:
  Value(Scalar one) : one_(one) {}
  explicit Value(std::vector<Scalar> lanes) : one_(lanes.front()), lanes_(std::move(lanes)) {}
  std::size_t size() const { return lanes_.empty() ? 1 : lanes_.size(); }
  Scalar operator[](std::size_t lane) const { return lanes_.empty() ? one_ : lanes_[lane]; }
  std::int64_t integer() const { return one_.i; }

 private:
  Scalar one_;
  std::vector<Scalar> lanes_;
};

}  // namespace tenon::interp
