// A map for frequent lookups in short-lived tables. Keys and values are contiguous, in insertion
// order: filling it needs few allocations, and iteration order is deterministic.
//
//   DenseMap<const ExprNode*, int> numbers;
//   auto [number, is_new] = numbers.try_emplace(&e.node(), 7);
//   if (const int* found = numbers.find(&e.node())) ...
//
// Entries cannot be erased. Pointers to values are valid until the next insertion.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace tenon {

/// Keys are pointers or integers; they need not be well distributed.
template <class Key, class Value>
requires std::integral<Key> || std::is_pointer_v<Key>
class DenseMap {
 public:
  using Entry = std::pair<Key, Value>;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  const Value* find(Key key) const {
    const std::size_t place = place_of(key);
    return place == kNowhere ? nullptr : &entries_[place].second;
  }
  Value* find(Key key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  bool contains(Key key) const { return place_of(key) != kNowhere; }

  /// Returns the value of the key, constructed from `args` if the key is new, and whether it is
  /// new.
  template <class... Args>
  std::pair<Value*, bool> try_emplace(Key key, Args&&... args) {
    if (const std::size_t place = place_of(key); place != kNowhere)
      return {&entries_[place].second, false};
    entries_.emplace_back(std::piecewise_construct, std::forward_as_tuple(key),
                          std::forward_as_tuple(std::forward<Args>(args)...));
    if (entries_.size() > kSearched) insert_last();
    return {&entries_.back().second, true};
  }
  Value& operator[](Key key) { return *try_emplace(key).first; }

 private:
  static constexpr std::size_t kNowhere = SIZE_MAX;
  /// Size up to which linear search is faster than hashing.
  static constexpr std::size_t kSearched = 8;

  std::size_t place_of(Key key) const {
    if (entries_.size() <= kSearched) {
      for (std::size_t n = 0; n < entries_.size(); ++n)
        if (entries_[n].first == key) return n;
      return kNowhere;
    }
    for (std::size_t slot = slot_of(key);; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint32_t place = slots_[slot];
      if (place == 0) return kNowhere;
      if (entries_[place - 1].first == key) return place - 1;
    }
  }

  std::size_t slot_of(Key key) const {
    std::uint64_t bits;
    if constexpr (std::is_pointer_v<Key>)
      bits = reinterpret_cast<std::uintptr_t>(key);
    else
      bits = static_cast<std::uint64_t>(key);
    // Fibonacci hashing: the upper bits of the product depend on all bits of the key.
    return static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15u) >>
                                    (64 - std::countr_zero(slots_.size())));
  }

  /// Keeps at most half of the slots occupied.
  void insert_last() {
    if (2 * entries_.size() > slots_.size()) {
      slots_.assign(std::bit_ceil(4 * entries_.size()), 0);
      for (std::size_t n = 0; n < entries_.size(); ++n) take_slot(n);
    } else {
      take_slot(entries_.size() - 1);
    }
  }
  void take_slot(std::size_t place) {
    std::size_t slot = slot_of(entries_[place].first);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(place + 1);
  }

  std::vector<Entry> entries_;
  /// Index of an entry plus 1; 0 for an empty slot.
  std::vector<std::uint32_t> slots_;
};

}  // namespace tenon
