#include "tenon/support/deep_stack.h"

#include <pthread.h>

#include <algorithm>
#include <cstdint>

#include "tenon/support/error.h"

namespace tenon {

namespace {

constexpr std::size_t kStackBytes = std::size_t{512} << 20;

/// Enough for all calls between two questions whether the stack is low.
constexpr std::size_t kReserve = std::size_t{256} << 10;

void* call(void* f) {
  (*static_cast<const std::function<void()>*>(f))();
  return nullptr;
}

/// The address below which this thread's stack is low; 0 where it is not known.
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

bool is_stack_low() {
  thread_local const std::uintptr_t low_mark = find_low_mark();
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < low_mark;
}

void run_on_deep_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_t thread;
  const bool is_prepared = pthread_attr_init(&attributes) == 0 &&
                           pthread_attr_setstacksize(&attributes, kStackBytes) == 0;
  const bool is_started =
      is_prepared &&
      pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&f)) == 0;
  if (is_prepared) pthread_attr_destroy(&attributes);
  if (is_started) {
    pthread_join(thread, nullptr);
    return;
  }
  if (is_stack_low())
    throw Error("an expression or a program is nested too deep for the stacks to be had");
  f();
}

}  // namespace tenon
