// Random programs: a few small operations, every access inside its tensor, every result exact: sums
// and products of floats only where no bit is lost, so that the order of a reduction does not show.
#pragma once

#include <tenon/tenon.h>

#include <random>

namespace tenon::fuzz {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  /// In [lo, hi].
  int between(int lo, int hi) {
    return lo + static_cast<int>(engine_() % static_cast<unsigned>(hi - lo + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<int>(from.size()) - 1))];
  }

 private:
  std::mt19937 engine_;
};

struct RandomProgram {
  /// The symbolic size, where there is one: any positive number.
  std::optional<Var> size;
  /// Every output of every operation among `stages`.
  std::vector<te::Tensor> inputs, stages;
  /// One sentence each.
  std::vector<std::string> text;
};

RandomProgram random_program(Random& random);

}  // namespace tenon::fuzz
