// Whether a sanitizer watches: signals are then its own, memory and time are not those of what
// ships.
#pragma once

namespace tenon::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
/// Whether ThreadSanitizer watches: it supports at most 65,536 nested calls, allocates along with
/// the program, and starts no threads after a fork.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kIsThreadSanitized = true;
#else
inline constexpr bool kIsThreadSanitized = false;
#endif

}  // namespace tenon::testing
