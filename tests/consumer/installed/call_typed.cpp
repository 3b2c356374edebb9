// Calls kernels through their C++ header: what does not fit does not compile, or is refused.
#include <iostream>
#include <vector>

#include <matrices.hpp>

#include "tenon/tir/expr.h"

using tenon::runtime::ArrayView;
using tenon::runtime::kAny;

template <class A>
concept IsFirstFactor = requires(A a, ArrayView<const float, 32, 48> b,
                                 ArrayView<float, 64, 48> c) {
  matrices::product(a, b, c);
};
static_assert(IsFirstFactor<ArrayView<const float, 64, 32>>);
static_assert(IsFirstFactor<ArrayView<float, 64, 32>>);
static_assert(IsFirstFactor<ArrayView<float, kAny, 32>>);
static_assert(!IsFirstFactor<ArrayView<float, 64, 33>>);
static_assert(!IsFirstFactor<ArrayView<float, 64>>);
static_assert(!IsFirstFactor<ArrayView<double, 64, 32>>);
static_assert(!IsFirstFactor<float*>);

namespace {

/// Whether the call is refused with this text in its message.
template <class Call>
bool is_refused(Call&& call, const std::string& text) {
  try {
    call();
  } catch (const tenon::RuntimeError& error) {
    std::cout << error.what() << '\n';
    return std::string(error.what()).find(text) != std::string::npos;
  }
  return false;
}

}  // namespace

int main() {
  std::vector<float> a(64 * 32), b(32 * 48), c(64 * 48);
  for (std::size_t n = 0; n < a.size(); ++n) a[n] = static_cast<float>(n % 7);
  for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<float>(n % 5);
  const ArrayView<const float, 32, 48> B(b.data());
  const ArrayView<float, 64, 48> C(c.data());
  matrices::product(ArrayView<const float, 64, 32>(a.data()), B, C);
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < 48; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < 32; ++k) sum += a[i * 32 + k] * b[k * 48 + j];
      if (c[i * 48 + j] != sum) return 1;
    }

  using Rows = ArrayView<float, kAny, 4>;
  std::vector<float> out(20, -1);
  matrices::twice(Rows(a.data(), {5, 4}), Rows(out.data(), {5, 4}));
  for (std::size_t n = 0; n < out.size(); ++n)
    if (out[n] != 2 * a[n]) return 2;

  if (!is_refused(
          [&] {
            matrices::product(ArrayView<float, kAny, 32>(a.data(), {63, 32}), B, C);
          },
          "63"))
    return 3;
  if (!is_refused(
          [&] {
            matrices::twice(Rows(a.data(), {5, 4}), Rows(out.data(), {4, 4}));
          },
          "argument `B` of `twice`: extent 0 is 4, expected n = 5"))
    return 4;
  if (!is_refused(
          [&] {
            matrices::twice(Rows(a.data(), {5, 4}), Rows(a.data() + 4, {5, 4}));
          },
          "shares memory with `A`"))
    return 5;
  return 0;
}
