// Room for recursion: the compiler walks programs recursively, as deep as they are nested, and a program of
// some thousand nested stages would overflow the stack that its user's thread happens to have.
#pragma once

#include <exception>
#include <functional>
#include <optional>

namespace tenon {

/// Runs f on a thread with a stack of 512 MiB (of address space; pages are taken as they are used), and
/// waits.
void run_on_deep_stack(const std::function<void()>& f);

/// f's result; what it throws is thrown here.
template <class F>
auto with_deep_stack(F f) {
  std::optional<decltype(f())> result;
  std::exception_ptr failure;
  run_on_deep_stack([&] {
    try {
      result.emplace(f());
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

}  // namespace tenon
