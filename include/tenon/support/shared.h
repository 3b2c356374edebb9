// Shared: what a handle holds: shared ownership of a T that may be incomplete, const as the pointer
// says. It is std::shared_ptr with less to it: one std::shared_ptr<const void> serves all types, as
// each further std::shared_ptr costs who includes its header more than the handle around it.
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
  /// Of what lives as long as the program, without counting.
  static Shared of_static(T& object) {
    Shared shared;
    shared.owner_ = std::shared_ptr<const void>(shared.owner_, &object);
    return shared;
  }

  explicit operator bool() const { return owner_ != nullptr; }
  long use_count() const { return owner_.use_count(); }
  /// The same, for what takes a std::shared_ptr.
  std::shared_ptr<T> pointer() const { return std::shared_ptr<T>(owner_, get()); }

  /// Whether both hold one object.
  friend bool operator==(const Shared& a, const Shared& b) { return a.owner_ == b.owner_; }

 private:
  std::shared_ptr<const void> owner_;
};

}  // namespace tenon
