/* A standalone subset of the runtime for compiled kernels: parallel loops on its own threads,
 * temporary memory, the message of the last error. The contracts are those of
 * tenon/runtime/c_api.h; devices are not supported. C11 and POSIX threads.
 *
 * A program links either this or libtenon_runtime. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* declares syscall() */
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "tenon/runtime/c_api.h"

/* Weak symbols: several saved files that contain this code (SaveOptions in tenon/runtime/module.h) can
 * be linked into one program, which then uses one copy. */
#ifdef TENON_IN_SAVED_CODE
#pragma weak tenon_last_error
#pragma weak tenon_set_last_error
#pragma weak tenon_element_differs
#pragma weak tenon_index_outside
#pragma weak tenon_processor_has
#pragma weak tenon_enable_tiles
#pragma weak tenon_workspace_alloc
#pragma weak tenon_workspace_free
#pragma weak tenon_set_num_threads
#pragma weak tenon_num_threads
#pragma weak tenon_parallel_for
#pragma weak tenon_parallel_launch
#pragma weak tenon_parallel_barrier
#pragma weak tenon_launch_kernel
#endif

enum { kMessageBytes = 512, kMaxThreads = 256, kAlignment = 128 };

/* ---- Errors ---- */

static _Thread_local char last_error[kMessageBytes];

const char* tenon_last_error(void) { return last_error; }

void tenon_set_last_error(const char* message) {
  snprintf(last_error, sizeof last_error, "%s", message ? message : "");
}

static int32_t fail(int32_t status, const char* message) {
  tenon_set_last_error(message);
  return status;
}

static int write_value(char* out, size_t room, const TenonValue* value, int32_t code) {
  if (code == kTenonFloat) return snprintf(out, room, "%.17g", value->f);
  return snprintf(out, room, "%lld", (long long)value->i);
}

int32_t tenon_element_differs(const TenonValue* args, const int32_t* type_codes, int32_t num_args) {
  char message[kMessageBytes], actual[40], expected[40];
  int32_t n;
  size_t used;
  write_value(actual, sizeof actual, &args[1], type_codes[1]);
  write_value(expected, sizeof expected, &args[2], type_codes[2]);
  used = (size_t)snprintf(message, sizeof message, "%s: got %s, expected %s at [",
                          (const char*)args[0].p, actual, expected);
  for (n = 3; n < num_args && used < sizeof message; ++n)
    used += (size_t)snprintf(message + used, sizeof message - used, n > 3 ? ", %lld" : "%lld",
                             (long long)args[n].i);
  if (used < sizeof message) snprintf(message + used, sizeof message - used, "]");
  return fail(kTenonError, message);
}

int32_t tenon_index_outside(const TenonValue* args, const int32_t* type_codes, int32_t num_args) {
  char message[kMessageBytes];
  (void)type_codes, (void)num_args;
  snprintf(message, sizeof message, "%s at index %lld of dimension %lld, which has %lld from %lld",
           (const char*)args[0].p, (long long)args[2].i, (long long)args[1].i, (long long)args[4].i,
           (long long)args[3].i);
  return fail(kTenonError, message);
}

/* ---- The processor ---- */

#if defined(__x86_64__) || defined(__i386__)
typedef struct {
  unsigned eax, ebx, ecx, edx;
} Registers;

static Registers leaf_7_1(void) {
  Registers r = {0, 0, 0, 0};
  if (!__get_cpuid_count(7, 1, &r.eax, &r.ebx, &r.ecx, &r.edx)) r.eax = r.edx = 0;
  return r;
}
#endif

#if defined(__x86_64__) && defined(__linux__)
/* Linux permits the tile registers (XTILEDATA) per process, by ARCH_REQ_XCOMP_PERM. */
static int has_tiles(void) {
  enum { kRequestPermission = 0x1023, kTileData = 18 };
  static atomic_int is_permitted;
  if (!atomic_load_explicit(&is_permitted, memory_order_relaxed) &&
      syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0)
    atomic_store_explicit(&is_permitted, 1, memory_order_relaxed);
  return atomic_load_explicit(&is_permitted, memory_order_relaxed);
}
#else
static int has_tiles(void) { return 0; }
#endif

int32_t tenon_enable_tiles(void) {
  if (has_tiles()) return kTenonOk;
  return fail(kTenonError, "the system does not permit the tile registers (Intel AMX)");
}

int32_t tenon_processor_has(const char* feature) {
  if (strncmp(feature, "amx-", 4) == 0 && !has_tiles()) return 0;
#if defined(__x86_64__) || defined(__i386__)
#define TENON_FEATURE(name) \
  if (strcmp(feature, name) == 0) return __builtin_cpu_supports(name) != 0;
#define TENON_FEATURE_BIT(name, which, bit) \
  if (strcmp(feature, name) == 0) return (int32_t)(leaf_7_1().which >> bit & 1);
#include "runtime/processor_features.inc"
#undef TENON_FEATURE
#undef TENON_FEATURE_BIT
#elif defined(__aarch64__) && defined(__linux__)
#define TENON_ARM_FEATURE(name, word, bit) \
  if (strcmp(feature, name) == 0) return (int32_t)(getauxval(word == 1 ? AT_HWCAP : AT_HWCAP2) >> bit & 1);
#include "runtime/processor_features.inc"
#undef TENON_ARM_FEATURE
#endif
  (void)feature;
  return 1;
}

/* ---- Workspaces ---- */

void* tenon_workspace_alloc(int32_t device_type, int32_t device_id, uint64_t nbytes,
                            int32_t alignment) {
  const size_t step = alignment > kAlignment ? (size_t)alignment : (size_t)kAlignment;
  void* data = NULL;
  (void)device_id;
  if (device_type != kDLCPU) {
    tenon_set_last_error("the standalone runtime does not support devices");
    return NULL;
  }
  if (nbytes > SIZE_MAX - step ||
      !(data = aligned_alloc(step, nbytes == 0 ? step : (nbytes + step - 1) / step * step)))
    tenon_set_last_error("out of memory for a temporary array");
  return data;
}

int32_t tenon_workspace_free(int32_t device_type, int32_t device_id, void* data) {
  (void)device_type, (void)device_id;
  free(data);
  return kTenonOk;
}

/* ---- Threads ---- */

static atomic_int wanted_threads;

int32_t tenon_set_num_threads(int32_t n) {
  if (n < 0 || n > kMaxThreads) return fail(kTenonInvalidArgument, "not a number of threads");
  atomic_store(&wanted_threads, n);
  return kTenonOk;
}

int32_t tenon_num_threads(int32_t* result) {
  const char* given = getenv("TENON_NUM_THREADS");
  long n = atomic_load(&wanted_threads);
  if (n == 0 && given && *given) {
    char* end;
    n = strtol(given, &end, 10);
    if (*end != 0 || n < 1) return fail(kTenonError, "TENON_NUM_THREADS is not a positive number");
  }
  if (n == 0) n = sysconf(_SC_NPROCESSORS_ONLN);
  *result = n < 1 ? 1 : n > kMaxThreads ? kMaxThreads : (int32_t)n;
  return kTenonOk;
}

/* ---- Parallel loops ----
 *
 * Helper threads are started by the first loop and then wait for further ones. They serve one loop
 * at a time: a loop that starts while they are busy, on another thread or in a body, runs on its
 * caller alone. They end when the library is closed or the process exits. */

typedef struct {
  TenonLoopBody body;
  void* closure;
  int64_t end, grain;
  atomic_llong next;        /* the first iteration not yet taken by a thread */
  atomic_int status;        /* kTenonOk, or the status of the first sub-range that failed */
  int helpers;              /* number of helpers in this loop; guarded by `lock` */
  char message[kMessageBytes];
} Loop;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Signals that a loop was published, or that helpers must end. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* Signals that the last helper left a loop. Several callers may wait, each for its own loop. */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
/* The following variables are guarded by `lock`. */
static Loop* current; /* the loop that helpers may join */
static uint64_t round_number;
static int helpers_made, helpers_wanted;
static pthread_t helper_threads[kMaxThreads];
/* Written with the lock held, so that waiting helpers see it. Running helpers read it without the lock. */
static atomic_int ending;

static int32_t run_body(TenonLoopBody body, void* closure, int64_t begin, int64_t end) {
  int32_t status;
  tenon_set_last_error(NULL);
  status = body(closure, begin, end);
  if (status != kTenonOk && !last_error[0])
    tenon_set_last_error("the body of a parallel loop failed without a message");
  return status;
}

static void run_sub_range(Loop* loop, int64_t begin) {
  const int64_t end = loop->end - begin < loop->grain ? loop->end : begin + loop->grain;
  const int32_t status = run_body(loop->body, loop->closure, begin, end);
  int expected = kTenonOk;
  if (status == kTenonOk) return;
  pthread_mutex_lock(&lock);
  if (atomic_compare_exchange_strong(&loop->status, &expected, status))
    memcpy(loop->message, last_error, sizeof last_error);
  pthread_mutex_unlock(&lock);
}

/* Runs sub-ranges until none is left or one fails. A helper also stops when the library is closed. */
static void run_loop(Loop* loop, int is_helper) {
  while (atomic_load(&loop->status) == kTenonOk && !(is_helper && atomic_load(&ending))) {
    const int64_t begin = atomic_fetch_add(&loop->next, loop->grain);
    if (begin >= loop->end) return;
    run_sub_range(loop, begin);
  }
}

static void* help(void* number) {
  const int own = (int)(intptr_t)number;
  uint64_t seen = 0;
  pthread_mutex_lock(&lock);
  while (!atomic_load(&ending)) {
    Loop* loop = current;
    if (!loop || round_number == seen || own >= helpers_wanted) {
      pthread_cond_wait(&changed, &lock);
      continue;
    }
    seen = round_number;
    ++loop->helpers;
    pthread_mutex_unlock(&lock);
    run_loop(loop, 1);
    pthread_mutex_lock(&lock);
    if (--loop->helpers == 0) pthread_cond_broadcast(&left);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* Precondition: the lock is held. */
static void make_helpers(int wanted) {
  for (; helpers_made < wanted; ++helpers_made)
    if (pthread_create(&helper_threads[helpers_made], NULL, help, (void*)(intptr_t)helpers_made) != 0)
      return;
}

/* Waits for the helpers to end, because their code is unmapped when the library is closed. */
__attribute__((destructor)) static void end_helpers(void) {
  int n, made;
  pthread_mutex_lock(&lock);
  atomic_store(&ending, 1);
  made = helpers_made;
  helpers_made = 0;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  /* This thread is itself a helper if a body called exit(); it cannot join itself. */
  for (n = 0; n < made; ++n)
    if (!pthread_equal(helper_threads[n], pthread_self())) pthread_join(helper_threads[n], NULL);
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&lock); }
/* Only the thread that called fork() exists in the child. It may be inside a loop. */
static void after_fork_in_child(void) {
  if (current) current->helpers = 0;
  current = NULL;
  helpers_made = 0;
  changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* Publishes the loop for helpers. Returns 0 if no helper can take part. */
static int share(Loop* loop, int threads) {
  int is_shared = 0;
  pthread_mutex_lock(&lock);
  if (!current && !atomic_load(&ending)) {
    make_helpers(threads - 1);
    is_shared = helpers_made > 0;
  }
  if (is_shared) {
    current = loop;
    helpers_wanted = threads - 1;
    ++round_number;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return is_shared;
}

int32_t tenon_parallel_for(TenonLoopBody body, void* closure, int64_t begin, int64_t end) {
  Loop loop = {.body = body, .closure = closure, .end = end};
  int32_t threads, status;
  if (!body) return fail(kTenonInvalidArgument, "tenon_parallel_for: body is NULL");
  if (begin >= end) return kTenonOk;
  if ((status = tenon_num_threads(&threads)) != kTenonOk) return status;
  /* The bound on `end` leaves headroom, so that `next` cannot overflow. */
  if (threads == 1 || begin < 0 || end > INT64_MAX / 2 || end - begin == 1)
    return run_body(body, closure, begin, end);
  loop.grain = (end - begin) / (4 * threads);
  if (loop.grain == 0) loop.grain = 1;
  atomic_init(&loop.next, begin);
  atomic_init(&loop.status, kTenonOk);
  if (!share(&loop, threads)) return run_body(body, closure, begin, end);
  run_loop(&loop, 0);
  pthread_mutex_lock(&lock);
  current = NULL; /* no more helpers can join */
  while (loop.helpers > 0) pthread_cond_wait(&left, &lock);
  pthread_mutex_unlock(&lock);
  status = atomic_load(&loop.status);
  return status == kTenonOk ? kTenonOk : fail(status, loop.message);
}

/* One task suffices: by its contract, a body is correct for any number of tasks. */
int32_t tenon_parallel_launch(TenonTaskBody body, void* closure, int32_t num_tasks) {
  if (!body) return fail(kTenonInvalidArgument, "tenon_parallel_launch: body is NULL");
  (void)num_tasks;
  return body(closure, 0, 1);
}

int32_t tenon_parallel_barrier(void) { return kTenonOk; }

/* ---- Devices ---- */

int32_t tenon_launch_kernel(TenonKernels* kernels, int32_t kernel, int32_t device_id,
                            const TenonValue* args, int32_t num_args, const int64_t* launch) {
  (void)kernels, (void)kernel, (void)device_id, (void)args, (void)num_args, (void)launch;
  return fail(kTenonError, "the standalone runtime does not support devices");
}
