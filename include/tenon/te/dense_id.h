// Typed indices into vectors. Each kind of element has its own index type, so that indices of
// different kinds cannot be confused.
//
//   using StageId = DenseId<struct FrozenStage>;
//   StageId first(0);  stages[first.index()]
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace tenon::te {

template <class Thing>
class DenseId {
 public:
  constexpr explicit DenseId(std::size_t index) : index_(index) {}
  constexpr std::size_t index() const { return index_; }
  friend constexpr auto operator<=>(const DenseId&, const DenseId&) = default;

 private:
  std::size_t index_;
};

/// An output of a stage, independent of the stage's current operation.
template <class Id>
struct OutputOf {
  Id stage;
  int index;
  friend constexpr auto operator<=>(const OutputOf&, const OutputOf&) = default;
};

}  // namespace tenon::te

template <class Thing>
struct std::hash<tenon::te::DenseId<Thing>> {
  std::size_t operator()(const tenon::te::DenseId<Thing>& id) const { return id.index(); }
};
