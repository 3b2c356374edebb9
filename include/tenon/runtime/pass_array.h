/* Helpers for the headers of saved functions (codegen/c_header.h). C99. */
#ifndef TENON_RUNTIME_PASS_ARRAY_H_
#define TENON_RUNTIME_PASS_ARRAY_H_

#include <stdio.h>

#include "tenon/runtime/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this processor has all `features` (NULL-terminated) that the function requires. If not,
 * returns 0 and stores a message in this thread's last error. `checked` caches a positive result;
 * it is initially 0, and any thread may write it. */
static inline int tenon_check_processor(const char* function, const char* const* features,
                                        int32_t* checked) {
  char message[512];
  size_t used;
  const char* const* feature;
  int32_t missing = 0;
  if (__atomic_load_n(checked, __ATOMIC_RELAXED)) return 1;
  used = (size_t)snprintf(message, sizeof message,
                          "function `%s` was compiled for a processor with ", function);
  for (feature = features; *feature; ++feature)
    if (!tenon_processor_has(*feature) && used < sizeof message)
      used += (size_t)snprintf(message + used, sizeof message - used, missing++ ? ", %s" : "%s",
                               *feature);
  if (missing == 0) {
    __atomic_store_n(checked, 1, __ATOMIC_RELAXED);
    return 1;
  }
  if (used < sizeof message)
    snprintf(message + used, sizeof message - used, ", which this one does not have");
  tenon_set_last_error(message);
  return 0;
}

/* Copies an array to the form that packed functions require: with strides, stored in `strides`, and
 * without an offset. Returns 0 and stores `message` in this thread's last error if the array is
 * NULL or has another rank. */
static inline int tenon_pass_array(const DLTensor* given, int32_t rank, DLTensor* copy,
                                   int64_t* strides, const char* message) {
  int32_t d;
  int64_t step = 1;
  if (!given || given->ndim != rank) {
    tenon_set_last_error(message);
    return 0;
  }
  *copy = *given;
  copy->data = (char*)given->data + given->byte_offset;
  copy->byte_offset = 0;
  for (d = rank - 1; d >= 0; --d) {
    strides[d] = given->strides ? given->strides[d] : step;
    step *= given->shape[d];
  }
  copy->strides = strides;
  return 1;
}

#ifdef __cplusplus
}
#endif

#endif
