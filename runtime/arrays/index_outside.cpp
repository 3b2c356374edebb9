#include "tenon/support/index_outside.h"

#include "runtime/core/last_error.h"
#include "tenon/runtime/c_api.h"

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
