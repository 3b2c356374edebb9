#include "runtime/core/last_error.h"

#include <string>

namespace tenon::runtime {

namespace {

std::string& message_of_this_thread() {
  thread_local std::string message;
  return message;
}

}  // namespace

std::int32_t fail(std::int32_t status, std::string_view message) noexcept {
  try {
    message_of_this_thread().assign(message);
  } catch (...) {
    message_of_this_thread()
        .clear();  // out of memory for the message; the status still reports the failure
  }
  return status;
}

void clear_last_error() noexcept {
  std::string& message = message_of_this_thread();
  if (!message.empty()) message.clear();
}

}  // namespace tenon::runtime

const char* tenon_last_error(void) { return tenon::runtime::message_of_this_thread().c_str(); }

void tenon_set_last_error(const char* message) {
  tenon::runtime::fail(kTenonError,
                       message == nullptr ? std::string_view() : std::string_view(message));
}
