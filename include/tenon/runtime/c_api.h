/* The runtime's C interface, for generated code and for other languages. C99.
 *
 *   static int32_t body(void* closure, int64_t begin, int64_t end) {
 *     float* a = closure;
 *     for (int64_t i = begin; i < end; ++i) a[i] += 1;
 *     return kTenonOk;
 *   }
 *   if (tenon_parallel_for(body, a, 0, n) != kTenonOk) puts(tenon_last_error());
 *
 * Every function that can fail returns a status, which is kTenonOk on success. The error message is
 * stored per thread. Exceptions must not pass through this interface. (An exception that leaves a
 * body anyway is caught at the parallel loop and becomes an error, provided that the frames between
 * have unwind tables.) */
#ifndef TENON_RUNTIME_C_API_H_
#define TENON_RUNTIME_C_API_H_

#include <stdint.h>

#include "tenon/runtime/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Status codes. Every value except kTenonOk is a failure. A body may return its own values, which
 * are passed to the caller. */
enum TenonStatus {
  kTenonOk = 0,
  kTenonError = 1,
  kTenonInvalidArgument = 2,
  kTenonOutOfMemory = 3,
  /* The loop was stopped because the enclosing loop failed. That loop's error has the reason. */
  kTenonCancelled = 4
};

/* ---- Errors ---- */

/* Returns the message of this thread's last failure, or "" if no call failed. Valid until this
 * thread's next call into this interface. */
const char* tenon_last_error(void);
/* Stores a copy of the message for this thread. NULL clears it. */
void tenon_set_last_error(const char* message);

/* ---- Calling generated functions ---- */

/* An argument. Its type code selects the member. */
typedef union {
  int64_t i; /* an integer or a bool */
  double f;  /* a float */
  void* p;   /* the address of a DLTensor, or a handle */
} TenonValue;

/* The active member of a TenonValue. */
enum TenonTypeCode {
  kTenonInt = 0,    /* the value is in i; a bool is 0 or 1 */
  kTenonUInt = 1,   /* i holds the bits of an uint64_t */
  kTenonFloat = 2,  /* the value is in f */
  kTenonHandle = 3, /* p is an opaque pointer */
  kTenonTensor = 4, /* p is a const DLTensor* */
  kTenonNull = 5    /* p is NULL */
};

/* The type of exported generated functions. They do not check their arguments; tenon_module_call
 * and runtime::Function check them against the function's specification before the call. The
 * function may therefore assume:
 *
 * - The number and kinds of the arguments match the specification. An integer (also bool and
 *   unsigned) fits its type and is passed as kTenonInt, or above INT64_MAX as kTenonUInt with its
 *   bits in i.
 * - A float is passed as kTenonFloat in f, an array as kTenonTensor, a handle as kTenonHandle.
 * - The strides of a tensor are not NULL. On CPU and CUDA devices, byte_offset is 0, so that `data`
 *   points to element 0.
 * - Type, rank, extents, strides, alignment, device and disjointness match the specification.
 *
 * The function returns a status and stores its message with tenon_set_last_error. */
typedef int32_t (*TenonPackedFunction)(const TenonValue* args, const int32_t* type_codes,
                                       int32_t num_args);

/* Reports a wrong result of a tensor intrinsic; called by code that was built with such checks. A
 * TenonPackedFunction with the arguments (what, actual, expected, index...), of which the first is
 * a C string. Always fails, with a message made from them. */
int32_t tenon_element_differs(const TenonValue* args, const int32_t* type_codes, int32_t num_args);

/* Reports an access that is out of bounds; called by code that was built with such checks. A
 * TenonPackedFunction with the arguments (what, dimension, index, first valid index, number of
 * valid indices), of which the first is a C string. Always fails, with a message made from them. */
int32_t tenon_index_outside(const TenonValue* args, const int32_t* type_codes, int32_t num_args);

/* ---- Parallel loops ---- */

typedef int32_t (*TenonLoopBody)(void* closure, int64_t begin, int64_t end);

/* Runs the body on sub-ranges that partition [begin, end), on at most the set number of threads
 * (tenon_set_num_threads), including the calling thread. Returns when all have finished. The
 * assignment of iterations to threads is unspecified, so iterations must be independent; results
 * then do not depend on the number of threads.
 *
 * If a body returns a status other than kTenonOk, sub-ranges that have not started are skipped, and
 * the caller receives that status and message. Loops may nest: an inner loop runs on idle threads,
 * or inline if the loops around it occupy all threads. Stack use is bounded by the static nesting.
 */
int32_t tenon_parallel_for(TenonLoopBody body, void* closure, int64_t begin, int64_t end);

typedef int32_t (*TenonTaskBody)(void* closure, int32_t task_id, int32_t num_tasks);

/* Runs a persistent parallel region (pragma parallel_launch_point): calls body(closure, t, n) for t
 * = 0..n-1, each on its own thread and all concurrently, so that they may synchronize with
 * tenon_parallel_barrier. The thread pool does not guarantee concurrency; the region therefore
 * starts its own threads, which takes about 0.1 ms. n is num_tasks, or the set number of threads if
 * that is 0. It is smaller (at least one) if the system provides fewer threads, or inside another
 * parallel loop or region. The body must be correct for any n and distribute its work by t and n.
 * Parallel loops inside a region run inline. */
int32_t tenon_parallel_launch(TenonTaskBody body, void* closure, int32_t num_tasks);

/* Waits until all tasks of the region have reached the barrier (parallel_barrier_when_finish).
 * Fails instead of waiting forever if another task of the region failed or returned without
 * reaching it; the body must then return that status. */
int32_t tenon_parallel_barrier(void);

/* Sets the number of threads; 0 restores the default. Does not affect running loops. */
int32_t tenon_set_num_threads(int32_t n);
/* Stores the number of threads that a parallel loop may use. Fails if TENON_NUM_THREADS is not a
 * positive number. */
int32_t tenon_num_threads(int32_t* result);

/* ---- Workspaces ---- */

/* Allocates temporary memory from a pool of the calling thread. `alignment` is a hint in bytes, a
 * power of two or 0; the result is aligned to at least 128. `device_type` is a DLDeviceType.
 * Returns NULL on failure. The contents are undefined. */
void* tenon_workspace_alloc(int32_t device_type, int32_t device_id, uint64_t nbytes,
                            int32_t alignment);
/* Frees temporary memory, on any thread. NULL is allowed. */
int32_t tenon_workspace_free(int32_t device_type, int32_t device_id, void* data);

/* ---- Kernels ---- */

/* The kernels of a module, stored in its data. Only `loaded` is modified. */
typedef struct {
  uint32_t version;        /* equals kTenonAbiVersion */
  int32_t device_type;     /* a DLDeviceType */
  const char* manifest;    /* the kernels' parameters (tenon/runtime/kernel_spec.h) */
  const char* source;      /* source text in the device's language, zero-terminated */
  uint64_t source_bytes;   /* length of `source` without the terminator */
  const void* binary;      /* machine code for one architecture, or NULL */
  uint64_t binary_bytes;   /* size of `binary`; 0 if it is NULL */
  const char* portable;    /* PTX for the driver to compile for other architectures, or NULL */
  uint64_t portable_bytes; /* length of `portable` without the terminator */
  void* loaded;            /* state of the runtime, which owns it; initially NULL */
} TenonKernels;

/* Queues a launch of kernel number `kernel` on the device. `launch` has the extents of blockIdx.x,
 * .y, .z and threadIdx.x, .y, .z, and the bytes of dynamic shared memory. An argument is device
 * memory in p, an integer in i or a float in f, as the manifest specifies. The first launch on a
 * device loads the kernels there. Launches on a device execute in order. This function does not
 * wait for them; reading device memory does. A launch with an extent of 0 has no effect. */
int32_t tenon_launch_kernel(TenonKernels* kernels, int32_t kernel, int32_t device_id,
                            const TenonValue* args, int32_t num_args, const int64_t* launch);
/* A queue of a device. Its operations execute in order and may overlap with those of other streams;
 * see tenon/runtime/stream.h. */
typedef struct TenonStreamHandle* TenonStream;

int32_t tenon_stream_create(int32_t device_type, int32_t device_id, TenonStream* stream);
/* Frees a stream; NULL is allowed. Threads that have set it keep using it. */
int32_t tenon_stream_free(TenonStream stream);
/* Sets the stream for the calling thread's subsequent kernels and copies on the device. NULL: the
 * device's default stream, which is the initial one. */
int32_t tenon_set_stream(int32_t device_type, int32_t device_id, TenonStream stream);
/* Makes later operations in `stream` wait for all operations queued so far in `other`. */
int32_t tenon_stream_wait(TenonStream stream, TenonStream other);
/* Waits for all operations in the stream; NULL: on the device. */
int32_t tenon_synchronize(int32_t device_type, int32_t device_id, TenonStream stream);

/* Unloads the kernels. Must be called before their memory is freed. */
void tenon_release_kernels(TenonKernels* kernels);

/* ---- The processor ---- */

/* Whether this processor and its operating system support the feature, given by its LLVM name
 * ("avx2"). 1 for a name that cannot be queried. */
int32_t tenon_processor_has(const char* feature);

/* Requests the tile registers (Intel AMX) from the operating system, which permits them per
 * process; code that uses them calls this first. Fails if the processor lacks them, or if the
 * system refuses them (Linux does if the signal stack of a thread is too small). */
int32_t tenon_enable_tiles(void);

/* ---- Exported modules ---- */

/* A table of the functions that generated code calls. */
typedef struct {
  uint32_t version; /* equals kTenonAbiVersion */
  /* Each member is the function tenon_<member>. */
  void (*set_last_error)(const char* message);
  int32_t (*parallel_for)(TenonLoopBody body, void* closure, int64_t begin, int64_t end);
  int32_t (*parallel_launch)(TenonTaskBody body, void* closure, int32_t num_tasks);
  int32_t (*parallel_barrier)(void);
  void* (*workspace_alloc)(int32_t device_type, int32_t device_id, uint64_t nbytes,
                           int32_t alignment);
  int32_t (*workspace_free)(int32_t device_type, int32_t device_id, void* data);
  int32_t (*launch_kernel)(TenonKernels* kernels, int32_t kernel, int32_t device_id,
                           const TenonValue* args, int32_t num_args, const int64_t* launch);
} TenonRuntimeApi;

enum { kTenonAbiVersion = 3 };

const TenonRuntimeApi* tenon_runtime_api(void);

/* A shared library of generated code exports
 *
 *   const char tenon_module_manifest[];              the specifications (tenon/runtime/spec.h)
 *   int32_t <symbol>(args, type_codes, num_args);    for every function in the manifest
 *
 * and optionally `const TenonRuntimeApi* tenon_runtime_api_slot`, which the loader sets, so that
 * the library needs no symbols of the process, and `TenonKernels* tenon_module_kernels[]`, the
 * NULL-terminated list of kernels that its functions launch. tenon_module_call checks the arguments
 * against the specifications. */
typedef struct TenonModule TenonModule;

/* Loads a shared library. Returns NULL on failure. */
TenonModule* tenon_module_load(const char* path);
void tenon_module_free(TenonModule* module);
/* Calls a function by name after checking the arguments. */
int32_t tenon_module_call(TenonModule* module, const char* function, const TenonValue* args,
                          const int32_t* type_codes, int32_t num_args);

/* ---- Code linked into the program ---- */

/* Registers the functions of `manifest`, in its order, under the prefix of a system library.
 * Objects compiled for a system library call this before main. The arguments must stay valid until
 * the object unregisters them, which it does when the library that contains it is closed. (A
 * runtime::Module::system_library keeps that library open.) Invalid arguments are reported when the
 * system library is opened. */
void tenon_register_system_library(const char* prefix, const char* manifest,
                                   const TenonPackedFunction* functions);
void tenon_unregister_system_library(const TenonPackedFunction* functions);

#ifdef __cplusplus
}
#endif

#endif
