// Calls kernels that have their runtime in them through their C++ header.
#include <vector>

#include <own_matrices.hpp>

using tenon::runtime::ArrayView;
using tenon::runtime::kAny;

int main() {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> out(8, -1);
  own_matrices::twice(ArrayView<const float, kAny, 4>(a.data(), {2, 4}),
                      ArrayView<float, kAny, 4>(out.data(), {2, 4}));
  for (std::size_t n = 0; n < out.size(); ++n)
    if (out[n] != 2 * a[n]) return 1;
  return 0;
}
