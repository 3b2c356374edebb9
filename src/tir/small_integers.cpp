#include "tir/small_integers.h"

#include <array>

#include "tir/finish_node.h"

namespace tenon::tir {

namespace {

class SmallIntegers {
 public:
  SmallIntegers() {
    for (std::size_t n = 0; n < kRows.size(); ++n) {
      nodes_[n].reserve(static_cast<std::size_t>(kRows[n].most - kRows[n].least) + 1);
      for (std::int64_t value = kRows[n].least; value <= kRows[n].most; ++value)
        finish<IntImm>(
            nodes_[n].emplace_back(kRows[n].type, std::size_t{0}, Contents(), IntImm{value}));
    }
  }
  /// Returns the node, or null if the constant is not in the table.
  const ExprNode* find(DataType type, std::int64_t value) const {
    for (std::size_t n = 0; n < kRows.size(); ++n)
      if (kRows[n].type == type && value >= kRows[n].least && value <= kRows[n].most)
        return &nodes_[n][static_cast<std::size_t>(value - kRows[n].least)];
    return nullptr;
  }
  static const SmallIntegers& all() {
    /// Never destroyed, because handles may outlive it.
    static const auto* const integers = new SmallIntegers();
    return *integers;
  }

 private:
  struct Row {
    DataType type;
    std::int64_t least, most;
  };
  static constexpr std::array kRows = {Row{{DataType::Code::Int, 32, 1}, -16, 1024},
                                       Row{{DataType::Code::UInt, 1, 1}, 0, 1},
                                       Row{{DataType::Code::Int, 64, 1}, -16, 64}};
  std::array<std::vector<ExprNode>, kRows.size()> nodes_;
};

}  // namespace

const ExprNode* find_small_integer(DataType type, std::int64_t value) {
  return SmallIntegers::all().find(type, value);
}

}  // namespace tenon::tir
