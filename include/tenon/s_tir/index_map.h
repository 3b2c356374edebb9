// Index maps: changes of a buffer's layout, as functions from old indices to new ones.
//
//   IndexMap t([](Var i, Var j) { return std::vector<Expr>{floordiv(i, 4), j, floormod(i, 4)}; });
//   t.text()                // "lambda i0, i1: (floordiv(i0, 4), i1, floormod(i0, 4),)"
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/tir/ops.h"

namespace tenon::s_tir {

class IndexMap {
 public:
  IndexMap(std::vector<tir::Var> from, std::vector<tir::Expr> to)
      : from_(std::move(from)), to_(std::move(to)) {}
  /// Makes a map from a callable on 1 to 8 variables, which is called once.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, IndexMap>) IndexMap(F map)  // NOLINT
      : from_(variables(arity_of<F>())),
        to_(call(map, std::make_index_sequence<static_cast<std::size_t>(arity_of<F>())>())) {}

  const std::vector<tir::Var>& from() const { return from_; }
  const std::vector<tir::Expr>& to() const { return to_; }

  /// Returns the text used in traces; with `is_script`, Python's operators, "i0 // 4", as in later
  /// traces.
  std::string text(bool is_script = false) const;
  /// Parses either form of text(). TypeError for any other text.
  static IndexMap parse(std::string_view text);

 private:
  static std::vector<tir::Var> variables(int count);
  template <class F, std::size_t... I>
  static constexpr bool takes(std::index_sequence<I...>) {
    return std::is_invocable_v<F&, decltype((void(I), std::declval<const tir::Var&>()))...>;
  }
  template <class F, int N = 1>
  static constexpr int arity_of() {
    static_assert(N <= 8, "an index map takes 1 to 8 variables");
    if constexpr (N > 8 || takes<F>(std::make_index_sequence<static_cast<std::size_t>(N)>()))
      return N;
    else
      return arity_of<F, N + 1>();
  }
  template <class F, std::size_t... I>
  std::vector<tir::Expr> call(F& map, std::index_sequence<I...>) const {
    return map(from_[I]...);
  }

  std::vector<tir::Var> from_;
  std::vector<tir::Expr> to_;
};

}  // namespace tenon::s_tir
