#include "tenon/support/deep_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "tenon/support/error.h"

namespace tenon {

namespace {

#if defined(__SANITIZE_ADDRESS__)
// A smaller stack for AddressSanitizer: for a larger stack, it does not clear its shadow memory
// when an exception is thrown.
constexpr std::size_t kStackBytes = std::size_t{48} << 20;
#else
constexpr std::size_t kStackBytes = std::size_t{512} << 20;
#endif

/// Stack space for the calls between two checks of the stack pointer.
constexpr std::size_t kReserve = std::size_t{256} << 10;

/// Returns the address below which the stack of this thread counts as low. Returns 0 if it is
/// unknown.
std::uintptr_t find_low_mark() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return is_known ? reinterpret_cast<std::uintptr_t>(lowest) + std::min(kReserve, size / 4) : 0;
}

}  // namespace

namespace detail {

constinit thread_local std::uintptr_t stack_low_mark = UINTPTR_MAX;

bool is_below_low_mark(std::uintptr_t address) {
  if (stack_low_mark == UINTPTR_MAX) stack_low_mark = find_low_mark();
  return address < stack_low_mark;
}

}  // namespace detail

// Switches to another stack within the same thread. A new thread would take time to start and need
// its own memory arena. Sanitizer builds still use a new thread, because sanitizers support only
// one stack per thread.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace {

void* call(void* f) {
  (*static_cast<const std::function<void()>*>(f))();
  return nullptr;
}

bool run_on_other_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_t thread;
  const bool is_prepared = pthread_attr_init(&attributes) == 0 &&
                           pthread_attr_setstacksize(&attributes, kStackBytes) == 0;
  const bool is_started =
      is_prepared &&
      pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&f)) == 0;
  if (is_prepared) pthread_attr_destroy(&attributes);
  if (is_started) pthread_join(thread, nullptr);
  return is_started;
}

}  // namespace

#else

namespace {

constexpr std::size_t kGuard = 4096;

/// The memory of a stack, with an inaccessible guard page at its low end.
using DeepStack = std::unique_ptr<std::byte, void (*)(std::byte* lowest)>;

/// Returns null if the memory cannot be allocated.
DeepStack make_deep_stack() {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  DeepStack stack(memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory),
                  [](std::byte* lowest) { munmap(lowest, kStackBytes); });
  if (stack) mprotect(stack.get(), kGuard, PROT_NONE);
  return stack;
}

/// The function that runs first on the new stack. It gets a pointer to a function as two halves,
/// because makecontext passes ints.
void enter(unsigned high, unsigned low) {
  const std::uintptr_t address = std::uintptr_t{high} << 32 | low;
  (*reinterpret_cast<const std::function<void()>*>(address))();
  // On return, execution continues in `outside`.
}

bool run_on(const DeepStack& stack, const std::function<void()>& f) {
  ucontext_t outside, inside;
  if (!stack || getcontext(&inside) != 0) return false;
  inside.uc_stack = {stack.get(), 0, kStackBytes};
  inside.uc_link = &outside;
  const auto address = reinterpret_cast<std::uintptr_t>(&f);
  makecontext(&inside, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  const std::uintptr_t before = detail::stack_low_mark;
  detail::stack_low_mark = reinterpret_cast<std::uintptr_t>(stack.get()) + kReserve;
  swapcontext(&outside, &inside);
  detail::stack_low_mark = before;
  return true;
}

bool run_on_other_stack(const std::function<void()>& f) {
  // One stack is kept per thread, so that its pages need not be allocated again for the next call.
  thread_local const DeepStack kept = make_deep_stack();
  thread_local bool is_in_use = false;
  if (is_in_use) return run_on(make_deep_stack(), f);
  is_in_use = true;
  const bool is_done = run_on(kept, f);
  is_in_use = false;
  // Releases memory pages that only very deep recursions have used.
  constexpr std::size_t kKept = std::size_t{1} << 20;
  if (is_done) madvise(kept.get() + kGuard, kStackBytes - kKept - kGuard, MADV_DONTNEED);
  return is_done;
}

}  // namespace

#endif

void run_on_deep_stack(const std::function<void()>& f) {
  if (run_on_other_stack(f)) return;
  if (is_stack_low())
    throw Error("an expression or a program is nested too deeply for the available stack");
  f();
}

}  // namespace tenon
