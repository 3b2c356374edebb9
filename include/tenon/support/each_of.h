// A case of `match` for several named alternatives. Unlike `const auto&`, it does not accept
// alternatives that are added later:
//
//   match(value, [](const IntImm& n) { return n.value; },
//         each_of<FloatImm, StringImm>([] { return 0; }));   // a third alternative: does not compile
#pragma once

#include "tenon/support/match.h"

namespace tenon {

/// A case for one alternative whose value is not needed.
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
