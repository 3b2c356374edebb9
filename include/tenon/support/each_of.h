// A case of `match` for several named alternatives. Unlike `const auto&`, it does not accept
// alternatives that are added later:
//
//   match(value, [](const IntImm& n) { return n.value; },
//         each_of<FloatImm, StringImm>([] { return 0; }));   // a third alternative: does not compile
#pragma once

#include "tenon/support/match.h"

namespace tenon {

template <class... Alternative, class F>
auto each_of(F f) {
  return Overloaded{[f](const Alternative&) -> decltype(auto) { return f(); }...};
}

}  // namespace tenon
