// Stack space for deep recursion. Expressions and programs are traversed recursively, and some
// thousand levels would overflow the stack of a user's thread. Recursive functions therefore
// continue on another stack when their stack runs low:
//
//   void visit(const Expr& e) {
//     if (is_stack_low()) return with_deep_stack([&] { visit(e); });
//     ...
//   }
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>

namespace tenon {

namespace detail {
/// The address below which the current thread's stack counts as low. It is looked up at the first
/// check; until then it is the maximum address.
extern constinit thread_local std::uintptr_t stack_low_mark;
bool is_below_low_mark(std::uintptr_t address);
}  // namespace detail

/// Whether the stack has space for only a few more calls.
inline bool is_stack_low() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < detail::stack_low_mark && detail::is_below_low_mark(here);
}

/// Runs f, which must not throw, on a separate stack of 512 MiB of address space, whose pages are
/// committed on use. If that stack cannot be allocated, runs f on the current stack, or throws an
/// Error if the current stack is low.
void run_on_deep_stack(const std::function<void()>& f);

/// Returns the result of f, computed on a deep stack. Exceptions of f propagate.
template <class F>
auto with_deep_stack(F f) {
  using Result = decltype(f());
  std::conditional_t<std::is_void_v<Result>, char, std::optional<Result>> result = {};
  std::exception_ptr failure;
  run_on_deep_stack([&] {
    try {
      if constexpr (std::is_void_v<Result>) {
        f();
      } else {
        result.emplace(f());
      }
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
  if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

}  // namespace tenon
