// Operations: what to compute. Immutable; a schedule says how.
//
//   te::Tensor A = te::placeholder({n, m}, "A");
//   te::IterVar k = te::reduce_axis({0, m}, "k");
//   te::Tensor B = te::compute({n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
//
// Axis names are optional (then i0, i1, ...). The body takes one Var per dimension, or one
// std::span<const Var>.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "tenon/support/name.h"
#include "tenon/te/tensor.h"

namespace tenon::te {

using tir::Stmt;

// The kinds of operations; operation_kind.h has what is in them.
struct Placeholder;
struct Compute;
struct Scan;
struct Extern;
struct TensorCompute;
using OperationKind = std::variant<Placeholder, Compute, Scan, Extern, TensorCompute>;

/// Defined where it is used: who asks for a kind without operation_kind.h hears it from the
/// compiler.
template <class T>
concept Defined = sizeof(T) > 0;

// ---- the handle ---------------------------------------------------------------------------------

/// What computes tensors, or stands for an input: a handle.
class Operation {
 public:
  /// Of a node; the operation of a tensor.
  explicit Operation(Shared<const OperationNode> node) : node_(std::move(node)) {}
  Operation(const Tensor& tensor) : Operation(tensor.op()) {}
  // Moving copies, so that a handle is never empty.
  Operation(const Operation&) = default;
  Operation& operator=(const Operation&) = default;

  /// As the user gave them.
  const std::string& name() const;
  const std::string& tag() const;
  /// One per dimension of the outputs; a scan's time axis first; none for placeholders and extern
  /// operations.
  const std::vector<IterVar>& axis() const;
  IterVar axis(int n, SourceLocation where = SourceLocation::current()) const;
  const std::vector<IterVar>& reduce_axis() const;
  IterVar reduce_axis(int n, SourceLocation where = SourceLocation::current()) const;
  /// TypeError if this is no scan.
  IterVar scan_axis(SourceLocation where = SourceLocation::current()) const;
  /// axis(), then reduce_axis(): the loops before any schedule.
  const std::vector<IterVar>& root_iter_vars() const;
  /// The tensors read, in order of first appearance, from bodies, indices, conditions, inits and
  /// extents alike.
  const std::vector<Tensor>& inputs() const;
  Tensor output(int i, SourceLocation where = SourceLocation::current()) const;
  int num_outputs() const;
  /// The bodies of a compute; empty for the other kinds.
  const std::vector<Expr>& body() const;
  const std::map<std::string, std::string>& attrs() const;
  /// Where the user declared it.
  const SourceLocation& where() const;

  const OperationKind& kind() const;
  /// The kind if it is T, else null.
  template <Defined T>
  const T* as() const;
  const OperationNode* get() const { return node_.get(); }
  /// Whether no other handle refers to the operation.
  bool is_last() const { return node_.use_count() == 1; }
  bool same_as(const Operation& other) const { return node_ == other.node_; }

 private:
  Shared<const OperationNode> node_;
};

/// "compute(C, body=[...], axis=[iter_var(i, range(min=0, ext=16))], reduce_axis=[], tag=,
/// attrs={})"
std::ostream& operator<<(std::ostream& out, const Operation& op);

// ---- bodies as callables ------------------------------------------------------------------------

/// Of the Vars that a body may take.
inline constexpr int kMaxBodyArity = 8;

/// What may be a body: a function object, or a plain function.
template <class F>
concept CallableObject = std::is_class_v<F> || std::is_function_v<std::remove_pointer_t<F>>;

/// A callable on N variables or on a span of them, as one type. Calling it with another number than
/// it takes is a TypeError, and so is making it of an empty std::function.
template <class Result>
class IndexFunction {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, IndexFunction> && CallableObject<std::decay_t<F>>)
      IndexFunction(F f, SourceLocation where = SourceLocation::current())
      : arity_(kArity<F>) {
    if constexpr (requires {
                    typename F::result_type;
                    f == nullptr;
                  })
      if (f == nullptr) throw TypeError("the body is an empty function", where);
    call_ = [f = std::move(f)](std::span<const Var> vars) -> Result {
      if constexpr (kTakesSpan<F>) {
        return converted(f(vars));
      } else if constexpr (kArity<F>.has_value()) {
        return invoke(f, vars, std::make_index_sequence<static_cast<std::size_t>(*kArity<F>)>());
      } else {
        internal_error("a body that takes no variables can be called with");
      }
    };
  }

  /// Absent: takes any number.
  std::optional<int> arity() const { return arity_; }
  bool takes(std::size_t count) const {
    return !arity_ || static_cast<std::size_t>(*arity_) == count;
  }
  /// Precondition: takes(vars.size()).
  Result operator()(std::span<const Var> vars) const { return call_(vars); }

 private:
  template <class F, std::size_t... I>
  static constexpr bool invocable_with(std::index_sequence<I...>) {
    return std::is_invocable_v<const F&, decltype((void(I), std::declval<const Var&>()))...>;
  }
  template <class F, int N = 0>
  static constexpr std::optional<int> find_arity() {
    if constexpr (N > kMaxBodyArity) {
      static_assert(
          N <= kMaxBodyArity,
          "a body takes up to 8 Vars, or one std::span<const Var>; if this one does, it is "
          "what stands in it that does not compile: see the other error");
      return std::nullopt;
    } else if constexpr (invocable_with<F>(
                             std::make_index_sequence<static_cast<std::size_t>(N)>())) {
      return N;
    } else {
      return find_arity<F, N + 1>();
    }
  }
  template <class F>
  static constexpr bool kTakesSpan = !invocable_with<F>(std::make_index_sequence<1>()) &&
                                     std::is_invocable_v<const F&, std::span<const Var>>;
  template <class F>
  static constexpr std::optional<int> kArity = [] {
    if constexpr (kTakesSpan<F>) {
      return std::optional<int>();
    } else {
      return find_arity<F>();
    }
  }();

  template <class R>
  static Result converted(R&& result) {
    static_assert(
        std::is_constructible_v<Result, R&&>,
        "a body returns an Expr; that of an operation of several outputs a std::vector<Expr>");
    if constexpr (std::is_constructible_v<Result, R&&>) {
      return Result(std::forward<R>(result));
    } else {
      internal_error("a body that returns no expressions");
    }
  }
  template <class F, std::size_t... I>
  static Result invoke(const F& f, [[maybe_unused]] std::span<const Var> vars,
                       std::index_sequence<I...>) {
    return converted(f(vars[I]...));
  }

  std::optional<int> arity_;
  std::function<Result(std::span<const Var>)> call_;
};

/// The element at an index; the elements of all outputs there.
using ComputeBody = IndexFunction<Expr>;
using MultiBody = IndexFunction<std::vector<Expr>>;

// ---- making operations --------------------------------------------------------------------------

/// Extents are integers (TypeError); constant ones are not negative.
Tensor placeholder(std::vector<Expr> shape, Name name = "placeholder", DataType dtype = Float(32),
                   SourceLocation where = SourceLocation::current());

/// What is noted at an operation.
struct ComputeOptions {
  Name tag = "";
  std::map<std::string, std::string> attrs = {};
};

/// Names of axes as they stand in a call, {"i", "j"}; none is a null pointer (TypeError).
class AxisNames : public std::vector<std::string> {
 public:
  AxisNames() = default;
  AxisNames(std::initializer_list<Name> names);
  AxisNames(std::vector<std::string> names);
};

/// TypeError: a body of another arity, names of another number, a reduction that is not the whole
/// body.
Tensor compute(std::vector<Expr> shape, AxisNames axes, ComputeBody body, Name name = "compute",
               ComputeOptions options = {}, SourceLocation where = SourceLocation::current());
Tensor compute(std::vector<Expr> shape, ComputeBody body, Name name = "compute",
               ComputeOptions options = {}, SourceLocation where = SourceLocation::current());

/// Several outputs of one shape. Either none of the bodies is a reduction or all are those of one
/// tuple reduction.
std::vector<Tensor> compute_multi(std::vector<Expr> shape, AxisNames axes, MultiBody body,
                                  Name name = "compute", ComputeOptions options = {},
                                  SourceLocation where = SourceLocation::current());
std::vector<Tensor> compute_multi(std::vector<Expr> shape, MultiBody body, Name name = "compute",
                                  ComputeOptions options = {},
                                  SourceLocation where = SourceLocation::current());

/// A compute from its parts, checked like one that a user wrote.
Operation make_compute(std::string name, std::vector<IterVar> axis, std::vector<Expr> body,
                       ComputeOptions options = {},
                       SourceLocation where = SourceLocation::current());

/// The whole history of a state: see Scan.
Tensor scan(const Tensor& init, const Tensor& update, const Tensor& state,
            std::vector<Tensor> inputs = {}, Name name = "scan",
            SourceLocation where = SourceLocation::current());
std::vector<Tensor> scan(std::vector<Tensor> init, std::vector<Tensor> update,
                         std::vector<Tensor> state, std::vector<Tensor> inputs = {},
                         Name name = "scan", SourceLocation where = SourceLocation::current());

/// What an extern body returns: statements, or a call.
class ExternResult {
 public:
  ExternResult(Stmt body) : body_(std::move(body)) {}
  ExternResult(const Expr& call);
  const Stmt& body() const { return body_; }

 private:
  Stmt body_;
};
using ExternBody = std::function<ExternResult(std::span<const tir::Buffer> inputs,
                                              std::span<const tir::Buffer> outputs)>;

/// Types and buffers of an extern operation, where they are not those of its inputs.
struct ExternOptions {
  /// The type of all outputs; without it, that of the inputs if they agree.
  std::optional<DataType> dtype = std::nullopt;
  /// The type of each output, where they differ.
  std::vector<DataType> dtypes = {};
  /// In place of the buffers made here, one per input or output.
  std::optional<std::vector<tir::Buffer>> input_buffers = std::nullopt;
  std::optional<std::vector<tir::Buffer>> output_buffers = std::nullopt;
  Name tag = "";
};
Tensor extern_op(std::vector<Expr> shape, std::vector<Tensor> inputs, const ExternBody& body,
                 Name name = "extern", ExternOptions options = {},
                 SourceLocation where = SourceLocation::current());
std::vector<Tensor> extern_multi(std::vector<std::vector<Expr>> shapes, std::vector<Tensor> inputs,
                                 const ExternBody& body, Name name = "extern",
                                 ExternOptions options = {},
                                 SourceLocation where = SourceLocation::current());

// ---- axes and variables -------------------------------------------------------------------------

/// Half-open [begin, end).
IterVar reduce_axis(Range range, Name name = "rv",
                    SourceLocation where = SourceLocation::current());
/// "threadIdx.x", "blockIdx.y", "vthread", "cthread", ...; named after the tag unless said.
IterVar thread_axis_of_any_range(const Name& tag, Name name, SourceLocation where);
/// A template, so that the braces of a range are never taken for a tag.
template <std::convertible_to<Name> Tag>
IterVar thread_axis(const Tag& tag, Name name = "",
                    SourceLocation where = SourceLocation::current()) {
  if constexpr (std::convertible_to<Tag, const char*>) {
    return thread_axis_of_any_range(Name(tag, where), std::move(name), where);
  } else {
    return thread_axis_of_any_range(tag, std::move(name), where);
  }
}
IterVar thread_axis(Range range, const Name& tag, Name name = "",
                    SourceLocation where = SourceLocation::current());
Var var(Name name = "tindex", DataType type = Int(32));
/// Known to be >= 0; an integer (TypeError).
Var size_var(Name name = "size", DataType type = Int(32),
             SourceLocation where = SourceLocation::current());

// ---- changing inputs ----------------------------------------------------------------------------

/// Gives another tensor in place of one that is read, or nullopt to keep it.
using TensorMap = std::function<std::optional<Tensor>(const Tensor&)>;
/// The operation itself if nothing changes; else one with the same axes that reads other tensors (a
/// reduction axis whose range reads one is made anew, with the same variable).
Operation replace_inputs(const Operation& op, const TensorMap& map);

}  // namespace tenon::te
