// Operations: definitions of what to compute. They are immutable; schedules define how to compute
// them.
//
//   te::Tensor A = te::placeholder({n, m}, "A");
//   te::IterVar k = te::reduce_axis({0, m}, "k");
//   te::Tensor B = te::compute({n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
//
// Axis names are optional; the default is i0, i1, ... The body takes one Var per dimension, or a
// single std::span<const Var>.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "tenon/support/error.h"
#include "tenon/support/name.h"
#include "tenon/support/shared.h"
#include "tenon/te/tensor.h"

namespace tenon::te {

using tir::Stmt;

// The kinds of operations, defined in operation_kind.h.
struct Placeholder;
struct Compute;
struct Scan;
struct Extern;
struct TensorCompute;
using OperationKind = std::variant<Placeholder, Compute, Scan, Extern, TensorCompute>;

/// Whether T is a complete type. The kinds of operations are incomplete until operation_kind.h is
/// included. Without this header, the compiler reports that `Defined` is not satisfied.
template <class T>
concept Defined = sizeof(T) > 0;

// ---- the handle ---------------------------------------------------------------------------------

/// A handle of an operation, which computes tensors or represents an input.
class Operation {
 public:
  /// Makes a handle of a node, or of the operation that computes a tensor.
  explicit Operation(Shared<const OperationNode> node) : node_(std::move(node)) {}
  Operation(const Tensor& tensor) : Operation(tensor.op()) {}
  // A move copies, so that a moved-from handle is not empty.
  Operation(const Operation&) = default;
  Operation& operator=(const Operation&) = default;

  /// The name and tag as the user gave them.
  const std::string& name() const;
  const std::string& tag() const;
  /// Returns the data axes, one per dimension of the outputs; the time axis of a scan comes first.
  /// Empty for placeholders and extern operations.
  const std::vector<IterVar>& axis() const;
  IterVar axis(int n, SourceLocation where = SourceLocation::current()) const;
  const std::vector<IterVar>& reduce_axis() const;
  IterVar reduce_axis(int n, SourceLocation where = SourceLocation::current()) const;
  /// Returns the time axis. TypeError unless this is a scan.
  IterVar scan_axis(SourceLocation where = SourceLocation::current()) const;
  /// Returns axis() followed by reduce_axis(): the loops of an unscheduled stage.
  const std::vector<IterVar>& root_iter_vars() const;
  /// Returns the tensors read in bodies, indices, conditions, inits and extents, in order of first
  /// appearance.
  const std::vector<Tensor>& inputs() const;
  Tensor output(int i, SourceLocation where = SourceLocation::current()) const;
  int num_outputs() const;
  /// Returns the bodies of a compute; empty for other kinds.
  const std::vector<Expr>& body() const;
  const std::map<std::string, std::string>& attrs() const;
  /// Returns the source location of the declaration.
  const SourceLocation& where() const;

  const OperationKind& kind() const;
  /// Returns the operation as kind T, or null if it is of another kind.
  template <Defined T>
  const T* as() const;
  const OperationNode* get() const { return node_.get(); }
  /// Whether this handle is the only reference to the operation.
  bool is_last() const { return node_.use_count() == 1; }
  bool same_as(const Operation& other) const { return node_ == other.node_; }

 private:
  Shared<const OperationNode> node_;
};

/// Prints "compute(C, body=[...], axis=[iter_var(i, range(min=0, ext=16))], reduce_axis=[], tag=,
/// attrs={})".
std::ostream& operator<<(std::ostream& out, const Operation& op);

// ---- bodies as callables ------------------------------------------------------------------------

/// Maximum number of Vars that a body can take; a span has no limit.
inline constexpr int kMaxBodyArity = 8;

/// Types that can be a body: function objects and plain functions.
template <class F>
concept CallableObject = std::is_class_v<F> || std::is_function_v<std::remove_pointer_t<F>>;

/// A function of N index variables or of a span of index variables, as one type. The constructor
/// throws TypeError for an empty std::function.
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

  /// Returns the number of Vars that the body takes; nullopt if it takes a span.
  std::optional<int> arity() const { return arity_; }
  bool takes(std::size_t count) const {
    return !arity_ || static_cast<std::size_t>(*arity_) == count;
  }
  /// Calls the body. Precondition: takes(vars.size()).
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

/// Functions from an index to the element of one output, or to the elements of all outputs.
using ComputeBody = IndexFunction<Expr>;
using MultiBody = IndexFunction<std::vector<Expr>>;

// ---- making operations --------------------------------------------------------------------------

/// Declares an input. TypeError unless all extents are integers and constant ones are non-negative.
Tensor placeholder(std::vector<Expr> shape, Name name = "placeholder", DataType dtype = Float(32),
                   SourceLocation where = SourceLocation::current());

/// Declares an input that has the same elements in all calls, such as the weights of a network (see
/// BuildOptions::separate_constants). Throws the errors of placeholder.
Tensor constant_input(std::vector<Expr> shape, Name name = "constant", DataType dtype = Float(32),
                      SourceLocation where = SourceLocation::current());
/// Whether the tensor is a constant_input.
bool is_constant_input(const Tensor& tensor);

/// The tag and attributes of an operation.
struct ComputeOptions {
  Name tag = "";
  std::map<std::string, std::string> attrs = {};
};

/// Axis names, such as {"i", "j"}. TypeError for a null pointer.
class AxisNames : public std::vector<std::string> {
 public:
  AxisNames() = default;
  AxisNames(std::initializer_list<Name> names);
  AxisNames(std::vector<std::string> names);
};

/// Declares a compute operation. TypeError if the number of Vars that the body takes or the number
/// of axis names differs from the rank, or if a reduction is only part of the body.
Tensor compute(std::vector<Expr> shape, AxisNames axes, ComputeBody body, Name name = "compute",
               ComputeOptions options = {}, SourceLocation where = SourceLocation::current());
Tensor compute(std::vector<Expr> shape, ComputeBody body, Name name = "compute",
               ComputeOptions options = {}, SourceLocation where = SourceLocation::current());

/// Declares a compute with several outputs of one shape. Either no body is a reduction, or the
/// bodies are the components of one tuple reduction.
std::vector<Tensor> compute_multi(std::vector<Expr> shape, AxisNames axes, MultiBody body,
                                  Name name = "compute", ComputeOptions options = {},
                                  SourceLocation where = SourceLocation::current());
std::vector<Tensor> compute_multi(std::vector<Expr> shape, MultiBody body, Name name = "compute",
                                  ComputeOptions options = {},
                                  SourceLocation where = SourceLocation::current());

/// Makes a compute from its parts, with the same checks as compute().
Operation make_compute(std::string name, std::vector<IterVar> axis, std::vector<Expr> body,
                       ComputeOptions options = {},
                       SourceLocation where = SourceLocation::current());

/// Declares a scan, which computes the whole history of a state; see Scan.
Tensor scan(const Tensor& init, const Tensor& update, const Tensor& state,
            std::vector<Tensor> inputs = {}, Name name = "scan",
            SourceLocation where = SourceLocation::current());
std::vector<Tensor> scan(std::vector<Tensor> init, std::vector<Tensor> update,
                         std::vector<Tensor> state, std::vector<Tensor> inputs = {},
                         Name name = "scan", SourceLocation where = SourceLocation::current());

/// The result of an extern body: statements or a call.
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

/// Types and buffers of an extern operation.
struct ExternOptions {
  /// The type of all outputs. Nullopt: the common type of the inputs.
  std::optional<DataType> dtype = std::nullopt;
  /// The type of each output, if they differ.
  std::vector<DataType> dtypes = {};
  /// The buffers of the inputs and outputs, one each. Nullopt: new compact buffers.
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

/// Makes a reduction axis over the half-open `range`.
IterVar reduce_axis(Range range, Name name = "rv",
                    SourceLocation where = SourceLocation::current());
/// Makes a thread axis whose range is inferred, for a tag: "threadIdx.x", "blockIdx.y", "vthread",
/// "cthread", ... The default name is the tag.
IterVar thread_axis_of_any_range(const Name& tag, Name name, SourceLocation where);
/// Makes a thread axis whose range is inferred. This overload is a template so that a braced range,
/// as in thread_axis({0, n}, "threadIdx.x"), is not converted to a tag.
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
/// Makes an integer variable that is known to be >= 0. TypeError for other types.
Var size_var(Name name = "size", DataType type = Int(32),
             SourceLocation where = SourceLocation::current());

// ---- changing inputs ----------------------------------------------------------------------------

/// Returns the replacement for a tensor that is read, or nullopt to keep it.
using TensorMap = std::function<std::optional<Tensor>(const Tensor&)>;
/// Returns an operation with the same axes that reads the replacement tensors, or `op` itself if
/// nothing changes. A reduction axis whose range reads a replaced tensor is recreated with the same
/// variable.
Operation replace_inputs(const Operation& op, const TensorMap& map);

// Default tags for all operations declared in a scope, for library code.
//
//   {
//     te::TagScope convolution("conv2d");
//     te::Tensor P = te::compute(...);               // P.op().tag() is "conv2d"
//   }
//
// A scope applies to the thread that opens it, until it is destroyed. It affects compute,
// compute_multi, extern_op, extern_multi, scan and tensor_compute. An explicit `.tag` takes
// precedence. Operations created by primitives (cache_write, rfactor) inherit the tag of their
// origin.

class TagScope {
 public:
  /// Opens the scope. ScheduleError inside another TagScope of the thread, because tags do not
  /// nest.
  explicit TagScope(const Name& tag, SourceLocation where = SourceLocation::current());
  TagScope(const TagScope&) = delete;
  TagScope& operator=(const TagScope&) = delete;

 private:
  Shared<const std::string> tag_;
};

// Operations in dependence order.
//
//   for (const te::Operation& op : te::post_dfs_order({C.op()})) std::cout << op.name() << '\n';

/// Returns the given operations and all operations that they depend on, each once. The inputs of an
/// operation precede it, in the order of `inputs()`.
std::vector<Operation> post_dfs_order(const std::vector<Operation>& outputs);

}  // namespace tenon::te
