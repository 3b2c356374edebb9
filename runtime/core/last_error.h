// The message of a thread's last failure, as stored for the C interface.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>

#include "tenon/runtime/c_api.h"

namespace tenon::runtime {

/// Stores the message for this thread and returns the status: `return fail(kTenonError, "...")`.
/// Never throws.
std::int32_t fail(std::int32_t status, std::string_view message) noexcept;

/// Resets this thread to the state before its first failure.
void clear_last_error() noexcept;

/// Runs the function, which returns a status, or nothing if it succeeds. Converts an exception to a
/// status with its message.
template <class F>
std::int32_t without_exceptions(F&& function) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      return kTenonOk;
    } else {
      return function();
    }
  } catch (const std::bad_alloc&) {
    return fail(kTenonOutOfMemory, "out of memory");
  } catch (const std::exception& error) {
    return fail(kTenonError, error.what());
  } catch (...) {
    return fail(kTenonError, "an exception of unknown type");
  }
}

}  // namespace tenon::runtime
