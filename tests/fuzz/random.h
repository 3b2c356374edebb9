// Numbers by chance, the same ones for the same seed on every machine.
#pragma once

#include <random>
#include <vector>

namespace tenon::fuzz {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  /// In [lo, hi].
  int between(int lo, int hi) {
    return lo + static_cast<int>(engine_() % static_cast<unsigned>(hi - lo + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  /// A new engine of the standard library, seeded from this one.
  std::mt19937 engine() { return std::mt19937(static_cast<unsigned>(between(0, 1 << 30))); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<int>(from.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t n = list.size(); n > 1; --n)
      std::swap(list[n - 1], list[static_cast<std::size_t>(between(0, static_cast<int>(n) - 1))]);
  }

 private:
  std::mt19937 engine_;
};

}  // namespace tenon::fuzz
