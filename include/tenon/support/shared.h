// Shared: the owning pointer inside a handle. It shares ownership of a T, which may be incomplete
// and const. It behaves like std::shared_ptr<T> but wraps a single instantiation,
// std::shared_ptr<const void>, because each further one costs more compile time than the handle
// itself.
//
//   class Buffer {
//    public:
//     explicit Buffer(Shared<const BufferNode> node) : node_(std::move(node)) {}
//    private:
//     Shared<const BufferNode> node_;
//   };
//   Buffer(std::make_shared<BufferNode>(...))
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace tenon {

template <class T>
class Shared {
 public:
  Shared() = default;
  template <class From>
  requires std::convertible_to<From*, T*> Shared(std::shared_ptr<From> owner)  // NOLINT
      : owner_(static_cast<std::shared_ptr<T>>(std::move(owner))) {}

  T* get() const { return static_cast<T*>(const_cast<void*>(owner_.get())); }
  T& operator*() const { return *get(); }
  T* operator->() const { return get(); }
  /// Makes a pointer to an object of static lifetime, without reference counting.
  static Shared of_static(T& object) {
    Shared shared;
    shared.owner_ = std::shared_ptr<const void>(shared.owner_, &object);
    return shared;
  }

  explicit operator bool() const { return owner_ != nullptr; }
  long use_count() const { return owner_.use_count(); }
  /// Returns the std::shared_ptr.
  std::shared_ptr<T> pointer() const { return std::shared_ptr<T>(owner_, get()); }

  /// Whether both refer to the same object.
  friend bool operator==(const Shared& a, const Shared& b) { return a.owner_ == b.owner_; }

 private:
  std::shared_ptr<const void> owner_;
};

}  // namespace tenon
