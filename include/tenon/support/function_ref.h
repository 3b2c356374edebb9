// A non-owning reference to a callable: two words, no allocation. For parameters only, since it
// does not extend the callable's lifetime.
//
//   void for_each(FunctionRef<void(int)> f);
//   for_each([&](int n) { sum += n; });                     // the lambda lives until the call ends
//
// (std::function_ref of C++26; proposal P0792.)
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace tenon {

template <class Signature>
class FunctionRef;

/// Refers to a callable that must outlive this object.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<Result, std::remove_reference_t<F>&, Args...>) FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const volatile void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> Result {
          return std::invoke(*static_cast<std::remove_reference_t<F>*>(object),
                             std::forward<Args>(args)...);
        }) {}

  /// Calls the referenced callable.
  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void* object, Args... args);
};

}  // namespace tenon
