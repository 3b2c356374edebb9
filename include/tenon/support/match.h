// match: exhaustive case analysis of a closed variant. A forgotten case is a compile error.
//
//   int n = match(shape, [](const Circle& c) { return 1; }, [](const Square& s) { return 4; });
#pragma once

#include <utility>
#include <variant>

#pragma GCC visibility push(default)

namespace tenon {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
/// Of the types of its cases.
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

/// What the case for the variant's alternative returns; one without a case does not compile.
template <class Variant, class... Case>
decltype(auto) match(Variant&& value, Case&&... cases) {
  return std::visit(Overloaded{std::forward<Case>(cases)...}, std::forward<Variant>(value));
}

}  // namespace tenon

#pragma GCC visibility pop
