// A per-thread free list for IR nodes. Lowering allocates and frees thousands of nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace tenon::tir {

/// An allocator for std::allocate_shared with a free list of at most kMax blocks. In sanitizer
/// builds it is the default allocator, so that sanitizers observe the lifetime of every node.
template <class T>
struct NodeAllocator {
  using value_type = T;
  NodeAllocator() = default;
  template <class U>
  NodeAllocator(const NodeAllocator<U>&) {}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool kIsPooled = false;
#else
  static constexpr bool kIsPooled = alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
#endif

  T* allocate(std::size_t count) {
    if (kIsPooled && count == 1) return static_cast<T*>(take());
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) {
    if (kIsPooled && count == 1) return give_back(memory);
    ::operator delete(memory);
  }
  friend bool operator==(const NodeAllocator&, const NodeAllocator&) { return true; }

 private:
  static constexpr int kMax = 8192;
  struct Block {
    Block* next;
  };
  /// Zero-initialized and never destroyed, so that nodes may outlive the free list of their thread.
  struct State {
    Block* first;
    int count;
    bool is_open, is_closed;
  };

  static void* take() {
    if (Block* block = state.first) {
      state.first = block->next;
      --state.count;
      return block;
    }
    return ::operator new(sizeof(T));
  }
  static void give_back(void* memory) {
    if (state.count >= kMax || !is_open()) return ::operator delete(memory);
    state.first = new (memory) Block{state.first};
    ++state.count;
  }
  static bool is_open() {
    if (state.is_open) return true;
    if (state.is_closed) return false;
    thread_local const std::unique_ptr<State, void (*)(State*)> closer(&state, close);
    return state.is_open = true;
  }
  /// Frees the blocks when the thread ends.
  static void close(State* closed) {
    closed->is_closed = true;
    while (Block* block = closed->first) {
      closed->first = block->next;
      ::operator delete(block);
    }
    closed->is_open = false;
  }

  static inline constinit thread_local State state = {};
};

}  // namespace tenon::tir
