/* What the headers of saved functions use (codegen/c_header.h). C99. */
#ifndef TENON_RUNTIME_PASS_ARRAY_H_
#define TENON_RUNTIME_PASS_ARRAY_H_

#include "tenon/runtime/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array in the form that packed functions take: with strides, for which there is room, and
 * without an offset. 0, and the message as this thread's last error, if it is NULL or has another
 * number of dimensions. */
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
