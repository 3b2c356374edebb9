// Reports of failed checks in generated code: a wrong element of a tensor intrinsic's result, and
// an index that is out of bounds.
#include "tenon/runtime/c_api.h"

#include <vector>

#include "runtime/core/last_error.h"
#include "tenon/support/element_differs.h"
#include "tenon/support/index_outside.h"

namespace {

tenon::ElementValue value_of(const TenonValue& value, int32_t code) {
  if (code == kTenonFloat) return value.f;
  return value.i;
}

}  // namespace

/* A TenonPackedFunction: (what, actual, expected, index...). */
int32_t tenon_element_differs(const TenonValue* args, const int32_t* type_codes, int32_t num_args) {
  return tenon::runtime::without_exceptions([&] {
    std::vector<std::int64_t> index;
    for (int32_t n = 3; n < num_args; ++n) index.push_back(args[n].i);
    return tenon::runtime::fail(kTenonError,
                                tenon::element_differs(static_cast<const char*>(args[0].p),
                                                       value_of(args[1], type_codes[1]),
                                                       value_of(args[2], type_codes[2]), index));
  });
}

/* A TenonPackedFunction: (what, dimension, index, min, extent). */
int32_t tenon_index_outside(const TenonValue* args, const int32_t*, int32_t) {
  return tenon::runtime::without_exceptions([&] {
    return tenon::runtime::fail(
        kTenonError,
        tenon::index_outside(
            static_cast<const char*>(args[0].p),
            {.dimension = args[1].i, .index = args[2].i, .min = args[3].i, .extent = args[4].i}));
  });
}
