/* The runtime's C interface: the contract with generated code, and the way in for other languages.
 * C99.
 *
 *   static int32_t body(void* closure, int64_t begin, int64_t end) {
 *     float* a = closure;
 *     for (int64_t i = begin; i < end; ++i) a[i] += 1;
 *     return kTenonOk;
 *   }
 *   if (tenon_parallel_for(body, a, 0, n) != kTenonOk) puts(tenon_last_error());
 *
 * Every call that can fail returns a status, kTenonOk or another value; the sentence that explains
 * it belongs to the calling thread. Nothing throws through this interface: a body must not let an
 * exception out (one that comes out all the same is caught at the parallel loop and becomes an
 * error, but the frames between need unwind tables for that). */
#ifndef TENON_RUNTIME_C_API_H_
#define TENON_RUNTIME_C_API_H_

#include <stdint.h>

#include "tenon/runtime/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Anything but kTenonOk is a failure; a body may also return a value of its own, which the caller
 * gets. */
enum TenonStatus {
  kTenonOk = 0,
  kTenonError = 1,
  kTenonInvalidArgument = 2,
  kTenonOutOfMemory = 3,
  /* A loop inside a loop that failed: it stopped before its end, the outer loop has the reason. */
  kTenonCancelled = 4
};

/* ---- Errors ---- */

/* The message of this thread's last failure, "" before the first. Valid until this thread's next
 * call into this interface. */
const char* tenon_last_error(void);
/* Keeps a copy of the message for this thread. NULL clears it. */
void tenon_set_last_error(const char* message);

/* ---- Calling generated functions ---- */

/* One argument; its type code says which member holds. */
typedef union {
  int64_t i; /* an integer or a bool */
  double f;  /* a floating number */
  void* p;   /* an address: of a DLTensor, or a handle */
} TenonValue;

/* Which member of a TenonValue holds. */
enum TenonTypeCode {
  kTenonInt = 0,    /* i; also bool, as 0 or 1 */
  kTenonUInt = 1,   /* i holds the bits of an uint64_t */
  kTenonFloat = 2,  /* f */
  kTenonHandle = 3, /* p, an opaque pointer */
  kTenonTensor = 4, /* p, a const DLTensor* */
  kTenonNull = 5    /* p is NULL */
};

/* Every generated function that others may call. It does not check its arguments: tenon_module_call
 * and runtime::Function do, against the function's specification, and only then call it. They
 * guarantee, and the function may rely on it:
 *
 * - The number of arguments and their kinds are those of the specification. An integer parameter,
 * bool and
 *   unsigned ones too, fits its type; it comes as kTenonInt, or above INT64_MAX as kTenonUInt, its bits in i.
 * - A floating parameter comes as kTenonFloat in f, an array as kTenonTensor, a handle as
 * kTenonHandle.
 * - A tensor's `strides` is never NULL. On a CPU or CUDA device its byte_offset is 0: `data` is
 * element 0.
 * - Type, rank, extents, strides, alignment, device and non-overlap are as the specification says.
 *
 * It returns a status and leaves its message with tenon_set_last_error. */
typedef int32_t (*TenonPackedFunction)(const TenonValue* args, const int32_t* type_codes,
                                       int32_t num_args);

/* What code built with checks of its tensor intrinsics calls where one is wrong, a
 * TenonPackedFunction: (what, actual, expected, index...), the first a C string. Fails with the
 * sentence made of them. */
int32_t tenon_element_differs(const TenonValue* args, const int32_t* type_codes, int32_t num_args);

/* What code built with checks of its accesses calls where one is outside, a TenonPackedFunction:
 * (what, dimension, index, first index that there is, how many), the first a C string. Fails with
 * the sentence made of them. */
int32_t tenon_index_outside(const TenonValue* args, const int32_t* type_codes, int32_t num_args);

/* ---- Parallel loops ---- */

typedef int32_t (*TenonLoopBody)(void* closure, int64_t begin, int64_t end);

/* Runs the body on sub-ranges that cover [begin, end) exactly, on up to the set number of threads
 * (tenon_set_num_threads), the calling thread among them. Returns when all is done. Which thread
 * runs which iterations is not defined, so iterations must not depend on each other; then results
 * do not depend on the number of threads.
 *
 * A body that returns another status than kTenonOk stops the loop (sub-ranges that did not start
 * never do), and the caller gets that status and that message. Loops may nest: an inner loop runs
 * on idle threads, or inline where the loops around it keep all threads busy; the stack never grows
 * beyond the static nest. */
int32_t tenon_parallel_for(TenonLoopBody body, void* closure, int64_t begin, int64_t end);

typedef int32_t (*TenonTaskBody)(void* closure, int32_t task_id, int32_t num_tasks);

/* A persistent parallel region (pragma parallel_launch_point): runs body(closure, t, n) for t =
 * 0..n-1, all at the same time on a thread each, so that they may wait for each other in
 * tenon_parallel_barrier. The pool's loops do not promise that; the region therefore starts threads
 * of its own, which costs about 0.1 ms. n is num_tasks, or the set number of threads if that is 0,
 * and fewer (at least one) where the system gives no more threads, or inside another parallel loop
 * or region: the body must be right for any n, dealing out work by t and n. Parallel loops inside a
 * region run inline. */
int32_t tenon_parallel_launch(TenonTaskBody body, void* closure, int32_t num_tasks);

/* Waits until all tasks of the region have come here (parallel_barrier_when_finish). Fails, rather
 * than waiting for ever, when another task of the region failed or left without coming; the body
 * then returns that status. */
int32_t tenon_parallel_barrier(void);

/* 0: back to the default. Loops that run already go on as they are. */
int32_t tenon_set_num_threads(int32_t n);
/* Writes the number of threads that a parallel loop may use. Fails if TENON_NUM_THREADS is no
 * positive number. */
int32_t tenon_num_threads(int32_t* result);

/* ---- Workspaces ---- */

/* Temporary memory, from a pool of the calling thread. `alignment` is a hint in bytes, a power of
 * two or 0; the result has at least 128. `device_type` is a DLDeviceType. NULL on failure. The
 * contents are undefined.
 */
void* tenon_workspace_alloc(int32_t device_type, int32_t device_id, uint64_t nbytes,
                            int32_t alignment);
/* Any thread may give it back. NULL is fine. */
int32_t tenon_workspace_free(int32_t device_type, int32_t device_id, void* data);

/* ---- Kernels ---- */

/* The kernels of a module, as data of its own. All but `loaded` stays as it is. */
typedef struct {
  uint32_t version;        /* kTenonAbiVersion */
  int32_t device_type;     /* a DLDeviceType */
  const char* manifest;    /* what the kernels take (tenon/runtime/kernel_spec.h) */
  const char* source;      /* in the language of the device, ends in 0 */
  uint64_t source_bytes;   /* without the 0 */
  const void* binary;      /* machine code of one architecture, or NULL */
  uint64_t binary_bytes;   /* 0 without one */
  const char* portable;    /* PTX, which the driver compiles for other architectures, or NULL */
  uint64_t portable_bytes; /* without the 0 that it ends in */
  void* loaded;            /* the runtime's: NULL at first */
} TenonKernels;

/* Starts kernel number `kernel` on the device: `launch` has the extents of blockIdx.x, .y and .z,
 * those of threadIdx.x, .y and .z, and the bytes of dynamic shared memory. An argument is memory of
 * the device in p, an integer in i, a floating number in f, as the manifest says. The first launch
 * on a device loads the kernels there. Launches on a device run in order; this does not wait for
 * their end, what reads memory of the device does. With an extent of 0 there is nothing to start.
 */
int32_t tenon_launch_kernel(TenonKernels* kernels, int32_t kernel, int32_t device_id,
                            const TenonValue* args, int32_t num_args, const int64_t* launch);
/* A queue of a device: what is started in it runs in order, beside what is started in others.
 * tenon/runtime/stream.h says more. */
typedef struct TenonStreamHandle* TenonStream;

int32_t tenon_stream_create(int32_t device_type, int32_t device_id, TenonStream* stream);
/* NULL is fine. A thread that has set it goes on with it. */
int32_t tenon_stream_free(TenonStream stream);
/* Where the calling thread starts kernels and copies of the device from now on. NULL: in the
 * device's own stream, as at first. */
int32_t tenon_set_stream(int32_t device_type, int32_t device_id, TenonStream stream);
/* What is started in the stream from now on waits for all that was started in the other one. */
int32_t tenon_stream_wait(TenonStream stream, TenonStream other);
/* Waits for all that was started in the stream; NULL: on the device. */
int32_t tenon_synchronize(int32_t device_type, int32_t device_id, TenonStream stream);

/* Drops what the runtime has loaded, before the kernels' memory goes. */
void tenon_release_kernels(TenonKernels* kernels);

/* ---- The processor ---- */

/* Whether this processor, and the system that it runs, have the feature, by LLVM's name ("avx2").
 * 1 for a name that cannot be asked for. */
int32_t tenon_processor_has(const char* feature);

/* ---- Exported modules ---- */

/* What generated code calls, as a table. */
typedef struct {
  uint32_t version; /* kTenonAbiVersion */
  /* What the functions of these names do, with tenon_ before them. */
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

/* A shared library that holds generated code exports
 *
 *   const char tenon_module_manifest[];              its functions' specifications (tenon/runtime/spec.h)
 *   int32_t <symbol>(args, type_codes, num_args);    for every function there
 *
 * and may export `const TenonRuntimeApi* tenon_runtime_api_slot`, which loading sets, so that the
 * library needs no symbol of the process, and `TenonKernels* tenon_module_kernels[]`, the kernels
 * that its functions launch, up to a NULL. Specifications are checked on every call below. */
typedef struct TenonModule TenonModule;

/* NULL on failure. */
TenonModule* tenon_module_load(const char* path);
void tenon_module_free(TenonModule* module);
/* Calls by name, after checking the arguments. */
int32_t tenon_module_call(TenonModule* module, const char* function, const TenonValue* args,
                          const int32_t* type_codes, int32_t num_args);

/* ---- Code linked into the program ---- */

/* What an object that was compiled for a system library calls before main: the functions of
 * `manifest`, in its order, under the library's prefix. All must stay where they are until the
 * object takes them back, which it does when the library that it is part of is closed. (A
 * runtime::Module::system_library keeps that library open.) A mistake in them is an error of who
 * asks for the library. */
void tenon_register_system_library(const char* prefix, const char* manifest,
                                   const TenonPackedFunction* functions);
void tenon_unregister_system_library(const TenonPackedFunction* functions);

#ifdef __cplusplus
}
#endif

#endif
