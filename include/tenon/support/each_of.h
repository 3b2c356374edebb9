// A case of `match` for several alternatives by name, where `const auto&` would also take those
// that are added later:
//
//   match(value, [](const IntImm& n) { return n.value; },
//         each_of<FloatImm, StringImm>([] { return 0; }));   // a third alternative: does not compile
#pragma once

#include "tenon/support/match.h"

namespace tenon {

/// A case of one alternative that does not look at it.
template <class Alternative, class F>
struct CaseOf {
  F f;
  decltype(auto) operator()(const Alternative&) const { return f(); }
};

template <class... Alternative, class F>
auto each_of(F f) {
  return Overloaded{CaseOf<Alternative, F>{f}...};
}

}  // namespace tenon
