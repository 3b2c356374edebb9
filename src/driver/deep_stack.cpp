#include "driver/deep_stack.h"

#include <pthread.h>

namespace tenon {

namespace {

constexpr std::size_t kStackBytes = std::size_t{512} << 20;

void* call(void* f) {
  (*static_cast<const std::function<void()>*>(f))();
  return nullptr;
}

}  // namespace

void run_on_deep_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_t thread;
  const bool prepared =
      pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, kStackBytes) == 0;
  const bool started =
      prepared && pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&f)) == 0;
  if (prepared) pthread_attr_destroy(&attributes);
  // Where so large a stack is not to be had, the caller's has to do.
  if (!started) return f();
  pthread_join(thread, nullptr);
}

}  // namespace tenon
