// Room for recursion. Expressions and programs are walked recursively, as deep as they are nested;
// some thousand levels would overflow the stack that a user's thread happens to have. So whatever
// recurses goes on elsewhere when its stack runs low:
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
/// The address below which the stack that the thread is on is low; the greatest one until it is
/// looked up.
extern constinit thread_local std::uintptr_t stack_low_mark;
bool is_below_low_mark(std::uintptr_t address);
}  // namespace detail

/// Whether what is left of the stack is for the last few calls only.
inline bool is_stack_low() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < detail::stack_low_mark && detail::is_below_low_mark(here);
}

/// Runs f, which does not throw, on another stack of 512 MiB (of address space; pages are taken as
/// they are used). Where no such stack is to be had, f runs here, or if the stack is low an Error
/// says so.
void run_on_deep_stack(const std::function<void()>& f);

/// f's result, computed on a deep stack; what f throws is thrown here.
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
