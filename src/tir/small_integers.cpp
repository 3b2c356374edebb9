#include "tir/small_integers.h"

#include <array>

#include "tir/finish_node.h"

namespace tenon::tir {

namespace {

class SmallIntegers {
 public:
  SmallIntegers() {
    for (std::size_t n = 0; n < kTypes.size(); ++n) {
      nodes_[n].reserve(kMost - kLeast + 1);
      for (std::int64_t value = kLeast; value <= kMost; ++value)
        finish<IntImm>(
            nodes_[n].emplace_back(kTypes[n], std::size_t{0}, Contents(), IntImm{value}));
    }
  }
  /// Null if it is not among them.
  const ExprNode* find(DataType type, std::int64_t value) const {
    if (value < kLeast || value > kMost) return nullptr;
    for (std::size_t n = 0; n < kTypes.size(); ++n)
      if (kTypes[n] == type) return &nodes_[n][static_cast<std::size_t>(value - kLeast)];
    return nullptr;
  }
  static const SmallIntegers& all() {
    static const auto* const integers = new SmallIntegers();  // as long as any handle
    return *integers;
  }

 private:
  static constexpr std::array kTypes = {DataType{DataType::Code::Int, 32, 1},
                                        DataType{DataType::Code::Int, 64, 1},
                                        DataType{DataType::Code::UInt, 1, 1}};
  static constexpr std::int64_t kLeast = -16, kMost = 255;
  std::array<std::vector<ExprNode>, kTypes.size()> nodes_;
};

}  // namespace

const ExprNode* find_small_integer(DataType type, std::int64_t value) {
  return SmallIntegers::all().find(type, value);
}

}  // namespace tenon::tir
