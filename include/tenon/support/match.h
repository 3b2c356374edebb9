// match: exhaustive case analysis of a closed variant. A forgotten case is a compile error.
//
//   int n = match(shape, [](const Circle& c) { return 1; }, [](const Square& s) { return 4; });
#pragma once

#include <utility>
#include <variant>

namespace tenon {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
/// Deduces the types of the cases.
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

namespace match_detail {
/// std::visit from alternative kFrom on, as a chain of comparisons. Compilers turn the chain into
/// one jump table and inline the cases, whereas std::visit calls each case through a function
/// pointer.
template <std::size_t kFrom, class Variant, class F>
decltype(auto) visit_from(Variant&& value, F& f) {
  if constexpr (kFrom + 1 < std::variant_size_v<std::remove_cvref_t<Variant>>) {
    if (value.index() != kFrom) return visit_from<kFrom + 1>(std::forward<Variant>(value), f);
  }
  return f(std::get<kFrom>(std::forward<Variant>(value)));
}
}  // namespace match_detail

/// Returns the result of the case for the variant's alternative. An alternative without a case does
/// not compile.
template <class Variant, class... Case>
decltype(auto) match(Variant&& value, Case&&... cases) {
  Overloaded visitor{std::forward<Case>(cases)...};
  return match_detail::visit_from<0>(std::forward<Variant>(value), visitor);
}

}  // namespace tenon
