#include "tenon/te/prim_func.h"

#include <algorithm>
#include <unordered_set>

#include "te/prim_func_blocks.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/opaque_blocks.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"

namespace tenon::te {

using namespace tir;

// ---- operations as a function -------------------------------------------------------------------

namespace {

void add_computed(std::vector<Operation>& ops, const Tensor& tensor) {
  const Operation op = tensor.op();
  const bool is_known = std::any_of(ops.begin(), ops.end(),
                                    [&](const Operation& known) { return known.same_as(op); });
  if (!op.as<Placeholder>() && !is_known) ops.push_back(op);
}

/// Returns the operations in the order of the arguments. A buffer represents the tensor bound to
/// it.
std::vector<Operation> computed_by(const std::vector<FunctionArgument>& arguments,
                                   const PrimFuncOptions& options) {
  std::vector<Operation> ops;
  for (const FunctionArgument& argument : arguments)
    match(
        argument, [&](const Tensor& tensor) { add_computed(ops, tensor); },
        [&](const Buffer& buffer) {
          for (const auto& [tensor, bound] : options.binds)
            if (bound.same_as(buffer)) add_computed(ops, tensor);
        },
        [](const Var&) {});
  return ops;
}

}  // namespace

PrimFunc create_prim_func(const std::vector<FunctionArgument>& arguments,
                          const PrimFuncOptions& options, SourceLocation where) {
  const std::vector<Operation> outputs = computed_by(arguments, options);
  if (outputs.empty())
    throw TypeError(
        "create_prim_func `" + options.name +
            "`: none of the arguments is computed; give the tensors to compute among them",
        where);
  return with_deep_stack([&] {
    if (options.blocks) return blocks_of(outputs, arguments, options, where);
    const StageGraph graph = freeze(create_schedule(outputs, where), where);
    return schedule_ops(graph, infer_bound(graph), arguments,
                        {.name = options.name, .binds = options.binds}, where);
  });
}

// ---- a function as an operation -----------------------------------------------------------------

namespace {

/// A function applied to inputs: the values of its variables, and the checks that remain for run
/// time.
class Application {
 public:
  Application(const std::vector<Tensor>& inputs, const PrimFunc& func, std::string what,
              SourceLocation where)
      : inputs_(inputs), what_(std::move(what)), where_(where) {
    check_form(func);
    for (const Var& param : func.params) params_.push_back(array_of(func, param).declared);
    if (params_.size() <= inputs.size())
      fail("the function has " + std::to_string(params_.size()) + " parameters, the inputs are " +
           std::to_string(inputs.size()) + " and leave none as an output");
    for (std::size_t n = 0; n < inputs.size(); ++n) check_kind(n);
    // Extents that are single variables determine values. Other extents are compared afterwards.
    for (std::size_t n = 0; n < inputs.size(); ++n) bind_sizes(n);
    for (std::size_t n = 0; n < inputs.size(); ++n) compare_shape(n);
    for (std::size_t n = 0; n < params_.size(); ++n) declare(n);
  }

  std::vector<Buffer> input_buffers() const { return {buffers_.begin(), first_output()}; }
  std::vector<Buffer> output_buffers() const { return {first_output(), buffers_.end()}; }

  /// Returns the body with new variables and buffers.
  Stmt body(const PrimFunc& func) const {
    const Stmt computation = tir::rewrite(func.body, [&](const Realize& realize, const Stmt&) {
      // The memory of a parameter exists already.
      return is_param(realize.buffer) ? std::optional<Stmt>(realize.body) : std::nullopt;
    });
    std::vector<std::pair<Buffer, Buffer>> arrays;
    for (std::size_t n = 0; n < params_.size(); ++n) arrays.emplace_back(params_[n], buffers_[n]);
    Stmt result = fresh_copy(computation, values_, arrays);
    for (auto check = checks_.rbegin(); check != checks_.rend(); ++check)
      result = make_stmt(Assert{check->condition, check->message, result});
    return result;
  }

 private:
  struct Check {
    Expr condition;
    std::string message;
  };

  [[noreturn]] void fail(const std::string& text) const {
    throw TypeError(what_ + ": " + text, where_);
  }

  std::string describe_param(std::size_t n) const {
    return "parameter " + std::to_string(n) + ", `" + params_[n].name() + "`";
  }

  std::vector<Buffer>::const_iterator first_output() const {
    return buffers_.begin() + static_cast<std::ptrdiff_t>(inputs_.size());
  }

  bool is_param(const Buffer& buffer) const {
    return std::any_of(params_.begin(), params_.end(),
                       [&](const Buffer& b) { return b.same_as(buffer); });
  }

  // ---- properties of the function ----

  const BufferParam& array_of(const PrimFunc& func, const Var& param) const {
    const BufferParam* array = func.buffer_of(param);
    if (array == nullptr)
      fail("parameter `" + param.name() + "` is " + param.dtype().str() +
           " and no array; an operation reads and writes arrays only");
    if (!array->declared.same_as(array->buffer))
      fail("parameter `" + array->declared->name +
           "` is flat memory already; pass the function before it is lowered");
    return *array;
  }

  void check_form(const PrimFunc& func) const {
    for (const Var& param : func.params) array_of(func, param);
    const std::vector<Violation> violations = verify(func, Form::MultiDimensional);
    if (violations.empty()) return;
    fail("the function is malformed: " + violations.front().what + " (" + violations.front().where +
         ")");
  }

  // ---- values and checks from the inputs ----

  void check_kind(std::size_t n) const {
    const Buffer& param = params_[n];
    const Tensor& input = inputs_[n];
    if (input.dtype() != param->dtype)
      fail("input `" + input.name() + "` is " + input.dtype().str() + ", " + describe_param(n) +
           ", is " + param->dtype.str());
    if (input.ndim() != param->rank())
      fail("input `" + input.name() + "` has " + std::to_string(input.ndim()) + " dimensions, " +
           describe_param(n) + ", has " + std::to_string(param->rank()));
  }

  void bind_sizes(std::size_t n) {
    for (std::size_t d = 0; d < params_[n]->shape.size(); ++d) {
      const Expr& formal = params_[n]->shape[d];
      if (!formal.as<VarNode>() || values_.contains(&formal.node())) continue;
      set(values_, Var::of(formal), cast(formal.dtype(), inputs_[n].shape()[d]));
    }
  }

  void compare_shape(std::size_t n) {
    for (std::size_t d = 0; d < params_[n]->shape.size(); ++d) {
      const Expr formal = size_of_input(n, d);
      const Expr& actual = inputs_[n].shape()[d];
      const Expr same = arith::simplify(formal == actual);
      if (is_true(same)) continue;
      const std::string text = "dimension " + std::to_string(d) + " of input `" +
                               inputs_[n].name() + "` is " + print_expr(actual) + ", that of " +
                               describe_param(n) + ", is " + print_expr(formal);
      if (is_false(same)) fail(text);
      checks_.push_back({same, what_ + ": " + text});
    }
  }

  Expr size_of_input(std::size_t n, std::size_t d) const {
    const Expr& formal = params_[n]->shape[d];
    if (const std::optional<Var> open = open_variable(formal))
      fail("the shapes of the inputs do not determine `" + open->name() + "` in dimension " +
           std::to_string(d) + " of " + describe_param(n) + ", which is " + print_expr(formal) +
           "; it must be the size of a dimension by itself somewhere");
    return substitute_folding(formal, values_);
  }

  std::optional<Var> open_variable(const Expr& e) const {
    for (const Var& var : free_vars(e))
      if (!values_.contains(&var.node())) return var;
    return std::nullopt;
  }

  // ---- the buffers of the operation ----

  /// Declares the operation's buffer. An input has the shape of its tensor; variable strides and
  /// offsets are new.
  void declare(std::size_t n) {
    BufferNode node = *params_[n].get();
    const bool is_input = n < inputs_.size();
    for (std::size_t d = 0; d < node.shape.size(); ++d)
      node.shape[d] = is_input ? inputs_[n].shape()[d] : size_of_output(n, d);
    for (Expr& stride : node.strides) stride = placement(stride, n);
    node.elem_offset = placement(node.elem_offset, n);
    node.data = node.data.fresh();
    buffers_.push_back(make_buffer(std::move(node)));
  }

  Expr size_of_output(std::size_t n, std::size_t d) const {
    const Expr& formal = params_[n]->shape[d];
    if (const std::optional<Var> open = open_variable(formal))
      fail("the inputs leave open what `" + open->name() + "` is in the shape of output `" +
           params_[n].name() + "`");
    return arith::simplify(substitute_folding(formal, values_));
  }

  Expr placement(const Expr& e, std::size_t n) {
    if (e.as<VarNode>() && !values_.contains(&e.node())) {
      const Var var = Var::of(e);
      set(values_, var, var.fresh());
    }
    if (const std::optional<Var> open = open_variable(e))
      fail("nothing determines `" + open->name() + "` in the strides or the offset of " +
           describe_param(n));
    return substitute_folding(e, values_);
  }

  const std::vector<Tensor>& inputs_;
  std::string what_;
  SourceLocation where_;
  /// The function's declarations, and the operation's.
  std::vector<Buffer> params_, buffers_;
  VarMap values_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Tensor> extern_primfunc(const std::vector<Tensor>& inputs, const PrimFunc& given,
                                    Name name, SourceLocation where) {
  return with_deep_stack([&] {
    PrimFunc func = given;
    if (func.form == Form::Blocks && verify(func, Form::Blocks).empty()) {
      func.body = loops_of_blocks(func.body);
      func.form = Form::MultiDimensional;
    }
    const Application application(inputs, func, "extern_primfunc `" + name + "`", where);
    ExternOptions options{.input_buffers = application.input_buffers(),
                          .output_buffers = application.output_buffers()};
    std::vector<std::vector<Expr>> shapes;
    for (const Buffer& output : *options.output_buffers) shapes.push_back(output.shape());
    const auto body = [&](std::span<const Buffer>, std::span<const Buffer>) -> ExternResult {
      return application.body(func);
    };
    return extern_multi(std::move(shapes), inputs, body, name, std::move(options), where);
  });
}

}  // namespace tenon::te
