/* Selection of the variant of a kernel library for this processor. Included by the C file that
 * write_kernel_library (driver/kernel_library.h) writes. C99.
 *
 *   static const char* const wide[] = {"avx2", "fma", NULL};
 *   static const TenonVariant variants[] = {{"llvm -mcpu=x86-64-v3", wide}};
 *   static int32_t chosen;
 *   if (tenon_choose_variant("kernels", variants, 1, &chosen) == 0) ... */
#ifndef TENON_RUNTIME_KERNEL_VARIANTS_H_
#define TENON_RUNTIME_KERNEL_VARIANTS_H_

#include <stdio.h>

#include "tenon/runtime/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* target;          /* the target as passed to the generator */
  const char* const* features; /* required processor features, NULL-terminated */
} TenonVariant;

/* Returns the index of the last variant that this processor supports. If it supports none, returns
 * -1 and sets this thread's last error to a message that names the first feature of variant 0 that
 * the processor lacks. `chosen` caches the result; it is initially 0, and any thread may write it.
 */
static inline int32_t tenon_choose_variant(const char* library, const TenonVariant* variants,
                                           int32_t count, int32_t* chosen) {
  const char* const* feature;
  char message[512];
  int32_t n = __atomic_load_n(chosen, __ATOMIC_RELAXED);
  if (n > 0) return n - 1;
  for (n = count; n > 0; --n) {
    for (feature = variants[n - 1].features; *feature && tenon_processor_has(*feature);) ++feature;
    if (*feature) continue;
    __atomic_store_n(chosen, n, __ATOMIC_RELAXED);
    return n - 1;
  }
  for (feature = variants[0].features; tenon_processor_has(*feature);) ++feature;
  snprintf(message, sizeof message,
           "the kernels `%s` were compiled for other processors than this one: `%s` needs %s",
           library, variants[0].target, *feature);
  tenon_set_last_error(message);
  return -1;
}

#ifdef __cplusplus
}
#endif

#endif
