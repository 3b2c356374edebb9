// Room for recursion. Expressions and programs are walked recursively, as deep as they are nested;
// some thousand levels would overflow the stack that a user's thread happens to have. So whatever
// recurses goes on elsewhere when its stack runs low:
//
//   void visit(const Expr& e) {
//     if (is_stack_low()) return with_deep_stack([&] { visit(e); });
//     ...
//   }
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>

namespace tenon {

/// Whether what is left of this thread's stack is for the last few calls only.
bool is_stack_low();

/// Runs f, which does not throw, on a thread with a stack of 512 MiB (of address space; pages are
/// taken as they are used), and waits. Where no such thread is to be had, f runs here, or if the
/// stack is low an Error says so.
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
