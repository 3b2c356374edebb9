#include "tenon/te/prim_func.h"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <unordered_set>

#include "te/binds.h"
#include "te/loops/compute_nest.h"
#include "te/operations/body.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/check_reads.h"
#include "tenon/te/freeze.h"
#include "tenon/te/operation.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/opaque_blocks.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

// The conversion of operations to a block program, for create_prim_func.

class BlockMaker {
 public:
  BlockMaker(const PrimFuncOptions& options, const SourceLocation& where)
      : options_(options), where_(where) {
    func_.attrs = {.global_symbol = options.name,
                   .noalias = true,
                   .from_legacy_te_schedule = false,
                   .reversed_in_text = false,
                   .others = {}};
    func_.form = Form::Blocks;
  }

  void argument(const FunctionArgument& argument) {
    match(
        argument, [&](const Tensor& tensor) { tensor_argument(tensor); },
        [&](const Buffer& buffer) { buffer_argument(buffer); },
        [&](const Var& var) { func_.params.push_back(var); });
  }

  PrimFunc function(const std::vector<Operation>& ops) {
    for (const Operation& op : ops) {
      if (op.as<Scan>()) refuse(op, "a scan");
      if (op.as<TensorCompute>()) refuse(op, "a tensor intrinsic's");
    }
    std::vector<Stmt> stmts;
    for (const Operation& op : ops)
      match(
          op.kind(), [&](const Placeholder&) { check_given(op); },
          [&](const Compute& n) { stmts.push_back(compute(op, n)); },
          [&](const Extern& n) { stmts.push_back(external(op, n)); }, [](const Scan&) {},
          [](const TensorCompute&) {});
    func_.body = make_root_block(std::move(allocated_), make_seq(std::move(stmts)));
    return std::move(func_);
  }

 private:
  const PrimFuncOptions& options_;
  const SourceLocation& where_;
  PrimFunc func_{{}, {}, make_nop()};
  std::vector<std::pair<Tensor, Buffer>> buffers_;
  std::vector<Buffer> allocated_;
  std::unordered_set<std::string> names_;

  [[noreturn]] void refuse(const Operation& op, const char* what) const {
    throw TypeError("create_prim_func `" + options_.name + "`: operation `" + op.name() + "` is " +
                        what + ", which has no blocks; use {.blocks = false}",
                    where_);
  }

  // ---- buffers ----

  const Buffer* find(const Tensor& tensor) const {
    for (const auto& [known, buffer] : buffers_)
      if (known.same_as(tensor)) return &buffer;
    return nullptr;
  }

  void add_param(const Buffer& buffer) {
    const Var handle("var_" + buffer->name, Handle());
    func_.params.push_back(handle);
    func_.buffers.push_back({handle, buffer, buffer});
  }

  void tensor_argument(const Tensor& tensor) {
    if (find(tensor))
      throw ScheduleError("create_prim_func `" + options_.name + "`: tensor `" + tensor.name() +
                              "` is an argument twice",
                          where_);
    std::optional<Buffer> buffer;
    for (const auto& [bound, given] : options_.binds)
      if (bound.same_as(tensor)) buffer = given;
    if (!buffer) buffer = declared(tensor);
    buffers_.push_back({tensor, *buffer});
    add_param(*buffer);
  }

  void buffer_argument(const Buffer& buffer) {
    for (const BufferParam& param : func_.buffers)
      if (param.declared.same_as(buffer))
        throw ScheduleError("create_prim_func `" + options_.name + "`: buffer `" + buffer->name +
                                "` is an argument twice",
                            where_);
    for (const auto& [tensor, bound] : options_.binds)
      if (bound.same_as(buffer)) buffers_.push_back({tensor, buffer});
    add_param(buffer);
  }

  static Buffer declared(const Tensor& tensor) {
    return decl_buffer(tensor.shape(), tensor.dtype(), {.name = tensor.name(), .scope = "global"});
  }

  const Buffer& buffer_of(const Tensor& tensor) {
    if (const Buffer* known = find(tensor)) return *known;
    allocated_.push_back(declared(tensor));
    buffers_.push_back({tensor, allocated_.back()});
    return buffers_.back().second;
  }

  void check_given(const Operation& op) const {
    if (find(op.output(0))) return;
    throw ScheduleError("create_prim_func `" + options_.name + "`: placeholder `" + op.name() +
                            "` is read and is not among the arguments",
                        where_);
  }

  // ---- expressions ----

  /// Replaces elements of tensors by elements of buffers, and the operation's axes by the block's
  /// iterators.
  Expr remapped(const Expr& e, const VarMap& axes) {
    return tir::rewrite(substitute(e, axes), [&](const ProducerLoad& load, const Expr&) {
      const auto* read = static_cast<const TensorNode*>(load.producer.get());
      return std::optional(make_load(buffer_of(read->op.output(read->index)), load.indices));
    });
  }

  std::string unique(const std::string& hint) {
    std::string name = hint;
    for (int n = 1; !names_.insert(name).second; ++n) name = hint + "_" + std::to_string(n);
    return name;
  }

  // ---- operations ----

  Stmt compute(const Operation& op, const Compute& n) {
    std::vector<IterVar> axes = n.axis;
    axes.insert(axes.end(), n.reduce_axis.begin(), n.reduce_axis.end());
    std::vector<Var> loops;
    std::vector<Range> domains;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Range dom = arith::simplify(*axes[i].dom());
      const auto is_axis = [&](const Expr& e) {
        return std::ranges::any_of(axes,
                                   [&](const IterVar& axis) { return e.same_as(axis.var()); });
      };
      if (uses_var(dom.min, is_axis) || uses_var(dom.extent, is_axis))
        refuse(op, "a reduction over a domain that depends on an axis");
      loops.emplace_back("i" + std::to_string(i), axes[i].var().dtype());
      domains.push_back(dom);
    }
    std::vector<Stmt> blocks;
    if (n.reduction() != nullptr) {
      blocks = reduction(op, n, axes, domains, loops);
    } else {
      for (int k = 0; k < op.num_outputs(); ++k)
        blocks.push_back(elementwise(op, k, n, axes, domains, loops));
    }
    const auto in_loops = [&](Stmt body, std::size_t first, std::size_t end) {
      for (std::size_t i = end; i-- > first;)
        body = make_stmt(
            For{loops[i], domains[i].min, domains[i].extent, ForKind::Serial, std::move(body)});
      return body;
    };
    const std::size_t outer = blocks.size() > 1 && n.reduction() ? n.axis.size() : axes.size();
    blocks.back() = in_loops(std::move(blocks.back()), outer, axes.size());
    return in_loops(make_seq(std::move(blocks)), 0, outer);
  }

  Block empty_block(const std::string& name, Stmt body) {
    return {.iters = {},
            .reads = {},
            .writes = {},
            .name = unique(name),
            .init = std::nullopt,
            .body = std::move(body)};
  }

  /// Returns a block under construction, the values of the operation's axes in terms of the block's
  /// iterators, and the indices of the element that it stores.
  std::tuple<Block, VarMap, std::vector<Expr>> start_block(const std::string& name,
                                                           const Compute& n,
                                                           const std::vector<IterVar>& axes,
                                                           const std::vector<Range>& domains) {
    Block block = empty_block(name, make_nop());
    VarMap values;
    std::vector<Expr> indices;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Var var = axes[i].var().fresh();
      const bool is_data = i < n.axis.size();
      block.iters.emplace_back(domains[i], var,
                               is_data ? IterKind::DataParallel : IterKind::Reduce);
      set(values, axes[i].var(), var);
      if (is_data) indices.push_back(var);
    }
    return {std::move(block), std::move(values), std::move(indices)};
  }

  static Stmt realized(Block block, const std::vector<Var>& loops) {
    return make_block({loops.begin(), loops.end()}, arith::with_found_access(std::move(block)));
  }

  Stmt elementwise(const Operation& op, int k, const Compute& n, const std::vector<IterVar>& axes,
                   const std::vector<Range>& domains, const std::vector<Var>& loops) {
    const Tensor tensor = op.output(k);
    auto [block, axis_values, indices] = start_block(op.name(), n, axes, domains);
    const Expr value = arith::simplify(remapped(n.body[static_cast<std::size_t>(k)], axis_values));
    block.body = make_store(buffer_of(tensor), value, indices);
    return realized(std::move(block), loops);
  }

  /// Returns the block of a reduction. An empty reduction gets two blocks, for the init and the
  /// update: loops without iterations would not run the init of a single block.
  std::vector<Stmt> reduction(const Operation& op, const Compute& n,
                              const std::vector<IterVar>& axes, const std::vector<Range>& domains,
                              const std::vector<Var>& loops) {
    const ReduceNode& reduce = *n.reduction();
    const bool is_empty = std::any_of(domains.begin() + std::ssize(n.axis), domains.end(),
                                      [](const Range& dom) { return is_zero(dom.extent); });
    std::optional<std::tuple<Block, VarMap, std::vector<Expr>>> first;
    if (is_empty) first = start_block(op.name() + "_init", n, n.axis, domains);
    auto started = start_block(is_empty ? op.name() + "_update" : op.name(), n, axes, domains);
    auto& [init_block, init_values, init_indices] = first ? *first : started;
    auto& [block, axis_values, indices] = started;
    const auto in_block = [&, &values = axis_values](const Expr& e) { return remapped(e, values); };
    const CommReducer combiner = map_reducer(reduce.combiner, in_block);
    std::vector<Stmt> inits;
    std::vector<Buffer> buffers;
    std::vector<Expr> old_values, sources;
    const std::size_t count = reduce.source.size();
    for (std::size_t k = 0; k < count; ++k) {
      buffers.push_back(buffer_of(op.output(static_cast<int>(k))));
      const Expr& start = reduce.init.empty() ? reduce.combiner->identity[k] : reduce.init[k];
      inits.push_back(make_store(buffers[k], remapped(start, init_values), init_indices));
      old_values.push_back(make_load(buffers[k], indices));
      sources.push_back(in_block(reduce.source[k]));
    }
    Stmt init = make_seq(std::move(inits));
    Stmt update = stored(buffers, combine(*combiner, old_values, sources), indices);
    const Expr condition = in_block(reduce.condition);
    if (!is_true(condition)) update = make_stmt(If{condition, std::move(update), std::nullopt});
    block.body = std::move(update);
    if (!first) {
      block.init = std::move(init);
      return {realized(std::move(block), loops)};
    }
    init_block.body = std::move(init);
    const std::vector<Var> outer(loops.begin(), loops.begin() + std::ssize(n.axis));
    return {realized(std::move(init_block), outer), realized(std::move(block), loops)};
  }

  /// Returns stores of all values. Computes every value before the first store.
  static Stmt stored(const std::vector<Buffer>& buffers, const std::vector<Expr>& values,
                     const std::vector<Expr>& indices) {
    if (buffers.size() == 1) return make_store(buffers[0], values[0], indices);
    std::vector<Stmt> stores;
    std::vector<Var> vars;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      vars.push_back(Var::let("v_" + buffers[k]->name, values[k]));
      stores.push_back(make_store(buffers[k], vars[k], indices));
    }
    Stmt body = make_seq(std::move(stores));
    for (std::size_t k = buffers.size(); k-- > 0;)
      body = make_stmt(Let{vars[k], values[k], std::move(body)});
    return body;
  }

  Stmt external(const Operation& op, const Extern& n) {
    Block block = empty_block(op.name(), n.body);
    auto match = [&](const Buffer& own, const Tensor& tensor) {
      block.match_buffers.push_back({own, {buffer_of(tensor), whole_region(tensor.shape())}});
    };
    for (std::size_t k = 0; k < n.inputs.size(); ++k) match(n.input_buffers[k], n.inputs[k]);
    for (std::size_t k = 0; k < n.output_buffers.size(); ++k)
      match(n.output_buffers[k], op.output(static_cast<int>(k)));
    std::vector<Buffer> visible = n.input_buffers;
    visible.insert(visible.end(), n.output_buffers.begin(), n.output_buffers.end());
    return make_block({}, arith::with_found_access(std::move(block), visible));
  }
};

/// Returns the block program. Precondition: `outputs` are the operations that compute the
/// arguments, and are not empty.
PrimFunc blocks_of(const std::vector<Operation>& outputs,
                   const std::vector<FunctionArgument>& arguments, const PrimFuncOptions& options,
                   const SourceLocation& where) {
  BlockMaker maker(options, where);
  for (const FunctionArgument& argument : arguments) maker.argument(argument);
  return maker.function(post_dfs_order(outputs));
}

}  // namespace

// ---- operations as a function -------------------------------------------------------------------

namespace {

void add_computed(std::vector<Operation>& ops, const Tensor& tensor) {
  const Operation op = tensor.op();
  const bool is_known =
      std::ranges::any_of(ops, [&](const Operation& known) { return known.same_as(op); });
  if (!op.as<Placeholder>() && !is_known) ops.push_back(op);
}

/// Returns the operations that compute the arguments, in order. A buffer stands for the tensor that
/// is bound to it.
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
    throw TypeError("create_prim_func `" + options.name +
                        "`: no argument is computed; give the tensors to compute among them",
                    where);
  return with_deep_stack([&] {
    const StageGraph graph = freeze(create_schedule(outputs, where), where);
    check_binds(graph, options.binds, where);
    const Bounds bounds = infer_bound(graph);
    check_reads(graph, bounds, Outside::Partly);
    if (options.blocks) return blocks_of(outputs, arguments, options, where);
    return schedule_ops(graph, bounds, arguments, {.name = options.name, .binds = options.binds},
                        where);
  });
}

// ---- a function as an operation -----------------------------------------------------------------

namespace {

/// A function applied to inputs. Determines the values of the function's variables, and the
/// conditions that can only be checked at run time.
class Application {
 public:
  Application(const std::vector<Tensor>& inputs, const PrimFunc& func, std::string what,
              SourceLocation where)
      : inputs_(inputs), what_(std::move(what)), where_(where) {
    check_form(func);
    for (const Var& param : func.params) params_.push_back(array_of(func, param).declared);
    if (params_.size() <= inputs.size())
      fail("the function has " + std::to_string(params_.size()) + " parameters for " +
           std::to_string(inputs.size()) + " inputs, so none is an output");
    for (std::size_t n = 0; n < inputs.size(); ++n) check_kind(n);
    // First, determines each variable that is by itself an extent of a parameter from the shapes of
    // the inputs. Then compares the shapes of the input parameters with the shapes of the inputs.
    for (std::size_t n = 0; n < inputs.size(); ++n) bind_sizes(n);
    for (std::size_t n = 0; n < inputs.size(); ++n) compare_shape(n);
    for (std::size_t n = 0; n < params_.size(); ++n) declare(n);
  }

  std::vector<Buffer> input_buffers() const { return {buffers_.begin(), first_output()}; }
  std::vector<Buffer> output_buffers() const { return {first_output(), buffers_.end()}; }

  /// Returns the function's body, in which all variables and buffers are replaced by new ones.
  Stmt body(const PrimFunc& func) const {
    const Stmt computation = tir::rewrite(func.body, [&](const Realize& realize, const Stmt&) {
      // The body does not allocate the memory of a parameter, so the Realize is dropped.
      return is_param(realize.buffer) ? std::optional<Stmt>(realize.body) : std::nullopt;
    });
    std::vector<std::pair<Buffer, Buffer>> arrays;
    for (std::size_t n = 0; n < params_.size(); ++n) arrays.emplace_back(params_[n], buffers_[n]);
    Stmt result = fresh_copy(computation, values_, arrays);
    for (const auto& [condition, message] : std::views::reverse(checks_))
      result = make_stmt(Assert{condition, message, result});
    return result;
  }

 private:
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
    return std::ranges::any_of(params_, [&](const Buffer& b) { return b.same_as(buffer); });
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

  /// Declares the operation's buffer for the n-th parameter. An input has the shape of its tensor.
  /// Strides and offsets that are variables get new variables.
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
      fail("the inputs do not determine `" + open->name() + "`, which is in the shape of output `" +
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
  /// `params_`: the buffers that the function declares for its parameters. `buffers_`: the buffers
  /// of the operation that replace them.
  std::vector<Buffer> params_, buffers_;
  VarMap values_;
  std::vector<std::pair<Expr, std::string>> checks_;
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
