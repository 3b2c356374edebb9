// FuncBuilder builds block programs in C++.
//
//   s_tir::FuncBuilder f("mm_relu");
//   auto A = f.param({128, 128}, "A"), B = f.param({128, 128}, "B"), C = f.param({128, 128}, "C");
//   auto Y = f.alloc({128, 128}, "Y");
//   f.grid({128, 128, 128}, {"i", "j", "k"}, [&](Var i, Var j, Var k) {
//     f.block("Y", f.remap("SSR", {i, j, k}, {"vi", "vj", "vk"}), [&](Var vi, Var vj, Var vk) {
//       f.init([&] { Y[{vi, vj}] = 0.0f; });
//       Y[{vi, vj}] = Y[{vi, vj}] + A[{vi, vk}] * B[{vk, vj}];
//     });
//   });
//   tir::PrimFunc func = f.get();
//
// The regions that blocks read and write are inferred. A function that takes the builder is a
// reusable fragment; repeated names of blocks and buffers are numbered.
#pragma once

#include <span>

#include "tenon/tir/buffer.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/function.h"

namespace tenon::s_tir {

using tir::Expr;
using tir::Operand;
using tir::Var;

/// A callable on a fixed number of Vars, or on a span of them.
class BodyOfVars {
 public:
  /// Wraps a callable.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, BodyOfVars>) BodyOfVars(F body)
      : arity_(arity_of<F>()) {
    call_ = [body = std::move(body)](std::span<const Var> vars) mutable {
      if constexpr (kTakesSpan<F>)
        body(vars);
      else
        call(body, vars, std::make_index_sequence<static_cast<std::size_t>(arity_of<F>())>());
    };
  }

  /// Returns the number of Vars that the callable takes; -1 if it takes any number.
  int arity() const { return arity_; }
  void operator()(std::span<const Var> vars) const { call_(vars); }

 private:
  static constexpr int kMaxVars = 12;
  template <class F, std::size_t... I>
  static constexpr bool takes(std::index_sequence<I...>) {
    return std::is_invocable_v<F&, decltype((void(I), std::declval<const Var&>()))...>;
  }
  template <class F>
  static constexpr bool kTakesSpan =
      !takes<F>(std::make_index_sequence<1>()) && std::is_invocable_v<F&, std::span<const Var>>;
  template <class F, int N = 0>
  static constexpr int arity_of() {
    if constexpr (kTakesSpan<F>) {
      return -1;
    } else if constexpr (takes<F>(std::make_index_sequence<static_cast<std::size_t>(N)>())) {
      return N;
    } else {
      static_assert(N < kMaxVars, "a body takes up to 12 Vars, or one std::span<const Var>");
      return arity_of<F, N + 1>();
    }
  }
  template <class F, std::size_t... I>
  static void call(F& body, [[maybe_unused]] std::span<const Var> vars, std::index_sequence<I...>) {
    body(vars[I]...);
  }

  int arity_;
  std::function<void(std::span<const Var>)> call_;
};

/// An iterator of a block and the value bound to it.
struct BlockAxis {
  tir::IterKind kind;
  tir::Range dom;
  Expr value;
  std::string name;
};

/// Options of a loop.
struct LoopOptions {
  tir::ForKind kind = tir::ForKind::Serial;
  /// The thread axis to bind the loop to, "threadIdx.x"; "" for none.
  Name thread = "";
  tir::Annotations annotations = {};
};

class FuncBuilder {
 public:
  explicit FuncBuilder(Name name = "main");
  // Moves are copies, so that a builder is never empty.
  FuncBuilder(const FuncBuilder&) = default;
  FuncBuilder& operator=(const FuncBuilder&) = default;

  /// Adds an array parameter. Parameters are in call order. `options` overrides the defaults; the
  /// name in it is ignored.
  tir::BufferRef param(std::vector<Expr> shape, Name name, DataType dtype = Float(32),
                       tir::BufferOptions options = {});
  /// Adds a scalar parameter.
  Var scalar(Name name, DataType dtype = Int(32));
  /// Allocates a buffer in the current block, or in the whole function if there is no current
  /// block.
  tir::BufferRef alloc(std::vector<Expr> shape, Name name, DataType dtype = Float(32),
                       Name scope = "global");

  /// Emits nested serial loops that start at zero. TypeError if the numbers of extents, names and
  /// variables differ.
  void grid(std::vector<Expr> extents, std::vector<std::string> names, const BodyOfVars& body,
            SourceLocation where = SourceLocation::current());
  /// Emits a loop over [begin, end).
  void loop(const Expr& begin, const Expr& end, Name name, const BodyOfVars& body,
            LoopOptions options = {}, SourceLocation where = SourceLocation::current());

  /// Make an iterator over [0, extent) that is bound to a value.
  static BlockAxis spatial(Expr extent, Expr value, Name name);
  static BlockAxis reduce(Expr extent, Expr value, Name name);
  static BlockAxis scan(Expr extent, Expr value, Name name);
  static BlockAxis opaque(Expr extent, Expr value, Name name);
  /// Makes one iterator per loop, over the loop's range. `kinds` has 'S' for spatial and 'R' for
  /// reduction.
  std::vector<BlockAxis> remap(std::string_view kinds, const std::vector<Var>& loops,
                               const std::vector<std::string>& names,
                               SourceLocation where = SourceLocation::current()) const;

  void block(Name name, const std::vector<BlockAxis>& axes, const BodyOfVars& body,
             SourceLocation where = SourceLocation::current());
  // Adds the init of the current block. LowerError outside of blocks, or if the block already has
  // an init.
  void init(const std::function<void()>& body, SourceLocation where = SourceLocation::current());
  /// Adds a predicate to the current block, in terms of the loops around it.
  void where(const Expr& predicate, SourceLocation where = SourceLocation::current());
  void annotate(Name key, tir::Annotation value, SourceLocation where = SourceLocation::current());
  /// Makes a buffer that is matched with a region of `buffer`.
  tir::BufferRef match(const tir::BufferRef& buffer, std::vector<tir::Range> region, Name name,
                       SourceLocation where = SourceLocation::current());

  /// Returns a builder for other statements of a body: ifs, lets, calls.
  tir::IRBuilder& ir();
  /// Returns the function and resets the builder. LowerError inside a scope that has not been
  /// closed.
  tir::PrimFunc get(SourceLocation where = SourceLocation::current());

 private:
  struct State;
  Shared<State> state_;
};

}  // namespace tenon::s_tir
