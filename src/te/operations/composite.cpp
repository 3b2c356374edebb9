// Operations made of others: scans, and extern operations.
#include <algorithm>
#include <unordered_set>

#include "te/operations/declare.h"
#include "te/operations/tag_scope.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

// ---- scan ---------------------------------------------------------------------------------------

namespace {

bool surely_equal(const Expr& a, const Expr& b) { return arith::can_prove_equal(a, b); }

bool depends_on(const Tensor& tensor, const Tensor& state) {
  std::vector<Operation> open = {tensor.op()};
  std::unordered_set<const OperationNode*> seen;
  while (!open.empty()) {
    const Operation op = open.back();
    open.pop_back();
    if (op.same_as(state.op())) return true;
    if (!seen.insert(op.get()).second) continue;
    for (const Tensor& input : op.inputs()) open.emplace_back(input.op());
  }
  return false;
}

/// An update reads steps that have been computed: those before its own. (What it reads through
/// other stages is not looked at.)
void check_steps(const std::string& what, const Tensor& update, const std::vector<Tensor>& states,
                 const SourceLocation& where) {
  if (!update.op().as<Compute>()) return;
  const Var time = update.op().axis().front().var();
  auto check_read = [&](const tir::ProducerLoad& read) {
    const Tensor tensor = Tensor::of(read);
    const bool is_state = std::any_of(states.begin(), states.end(),
                                      [&](const Tensor& s) { return s.same_as(tensor); });
    if (!is_state) return;
    const auto ahead = tir::constant_int(
        arith::simplify(tir::cast(Int(64), read.indices.front()) - tir::cast(Int(64), time)));
    if (ahead && *ahead >= 0)
      throw TypeError(what + ": update `" + update.name() + "` reads state `" + tensor.name() +
                          "` at step " + tir::print_expr(read.indices.front()) +
                          ", which is not there yet; steps up to " + tir::print_expr(time - 1) +
                          " are",
                      where);
  };
  for (const Expr& body : update.op().body()) tir::walk(body, check_read);
}

void check_states_are_read(const std::string& what, const std::vector<Tensor>& updates,
                           const std::vector<Tensor>& states, const SourceLocation& where) {
  for (std::size_t k = 0; k < states.size(); ++k) {
    for (std::size_t m = 0; m < k; ++m)
      if (states[k].same_as(states[m]))
        throw TypeError(what + ": state `" + states[k].name() + "` is given twice", where);
    const bool is_read = std::any_of(updates.begin(), updates.end(), [&](const Tensor& update) {
      return depends_on(update, states[k]);
    });
    if (!is_read)
      throw TypeError(what + ": no update reads state `" + states[k].name() +
                          "`; one that needs no earlier step is a compute",
                      where);
    check_steps(what, updates[k], states, where);
  }
}

void check_state(const std::string& what, std::size_t k, const Tensor& init, const Tensor& update,
                 const Tensor& state, const IterVar& time, const SourceLocation& where) {
  const std::string of_state = what + ": state " + std::to_string(k);
  if (init.dtype() != state.dtype() || update.dtype() != state.dtype())
    throw TypeError(of_state + " is " + state.dtype().str() + ", its init is " +
                        init.dtype().str() + " and its update " + update.dtype().str(),
                    where);
  if (!state.op().as<Placeholder>())
    throw TypeError(of_state + ", `" + state.name() + "`, must be a placeholder", where);
  if (init.ndim() == 0 || init.ndim() != state.ndim() || update.ndim() != state.ndim())
    throw TypeError(
        of_state + ", its init and its update must have the same number of dimensions, time first",
        where);
  if (!surely_equal(init.shape()[0], time.dom()->min))
    throw TypeError(of_state + ": the init covers " + tir::print_expr(init.shape()[0]) +
                        " steps, that of state 0 covers " + tir::print_expr(time.dom()->min),
                    where);
  if (!surely_equal(state.shape()[0], time.dom()->min + time.dom()->extent))
    throw TypeError(of_state + " has " + tir::print_expr(state.shape()[0]) + " steps, the update " +
                        tir::print_expr(arith::simplify(time.dom()->min + time.dom()->extent)) +
                        "; they must be equal",
                    where);
  for (std::size_t n = 1; n < state.shape().size(); ++n)
    if (!surely_equal(state.shape()[n], init.shape()[n]) ||
        !surely_equal(state.shape()[n], update.shape()[n]))
      throw TypeError(of_state + ": dimension " + std::to_string(n) +
                          " must be the same in the state (" + tir::print_expr(state.shape()[n]) +
                          "), its init (" + tir::print_expr(init.shape()[n]) +
                          ") and its update (" + tir::print_expr(update.shape()[n]) + ")",
                      where);
}

std::vector<IterVar> spatial_axes(const std::string& name, const std::vector<Tensor>& states) {
  std::vector<IterVar> axes;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const std::vector<Expr>& shape = states[k].shape();
    for (std::size_t n = 1; n < shape.size(); ++n) {
      const DataType type = shape[n].dtype();
      axes.emplace_back(Range::from_min_extent(tir::make_int(type, 0), shape[n]),
                        Var(name + ".out" + std::to_string(k) + ".i" + std::to_string(n), type),
                        IterKind::Opaque);
    }
  }
  return axes;
}

std::vector<Tensor> outputs_of(const Operation& op) {
  std::vector<Tensor> outputs;
  for (int n = 0; n < op.num_outputs(); ++n) outputs.push_back(op.output(n));
  return outputs;
}

}  // namespace

std::vector<Tensor> scan(std::vector<Tensor> init, std::vector<Tensor> update,
                         std::vector<Tensor> state, std::vector<Tensor> inputs, Name name,
                         SourceLocation where) {
  const std::string what = "scan `" + name + "`";
  if (init.empty() || init.size() != update.size() || init.size() != state.size())
    throw TypeError(what + ": init, update and state must be lists of the same length, got " +
                        std::to_string(init.size()) + ", " + std::to_string(update.size()) +
                        " and " + std::to_string(state.size()),
                    where);
  if (init.front().ndim() == 0 || update.front().ndim() == 0)
    throw TypeError(what + ": init and update must have time as their first dimension", where);
  const Expr begin = init.front().shape()[0], end = update.front().shape()[0];
  const Expr steps = arith::simplify(end - begin);
  if (const std::optional<std::int64_t> count = tir::constant_int(steps); count && *count < 0)
    throw TypeError(what + ": the init covers " + tir::print_expr(begin) +
                        " steps, but all steps are only " + tir::print_expr(end),
                    where);
  IterVar time(Range::from_min_extent(begin, steps), Var(name + ".idx", begin.dtype()),
               IterKind::Ordered);
  for (std::size_t k = 0; k < init.size(); ++k)
    check_state(what, k, init[k], update[k], state[k], time, where);
  check_states_are_read(what, update, state, where);
  std::vector<IterVar> axes = spatial_axes(name, state);
  Scan kind{std::move(time),  std::move(init),   std::move(update),
            std::move(state), std::move(inputs), std::move(axes)};
  return outputs_of(make_operation(std::move(name), declared_tag(""), std::move(kind), where));
}

Tensor scan(const Tensor& init, const Tensor& update, const Tensor& state,
            std::vector<Tensor> inputs, Name name, SourceLocation where) {
  return scan(std::vector{init}, std::vector{update}, std::vector{state}, std::move(inputs),
              std::move(name), where)
      .front();
}

// ---- extern -------------------------------------------------------------------------------------

namespace {

void check_given(const std::string& what, const std::vector<tir::Buffer>& given,
                 std::size_t expected, const SourceLocation& where) {
  if (given.size() != expected)
    throw TypeError(
        what + ": got " + std::to_string(given.size()) + " buffers for " + std::to_string(expected),
        where);
}

std::vector<tir::Buffer> input_buffers(const std::string& what, const std::vector<Tensor>& inputs,
                                       const ExternOptions& options, const SourceLocation& where) {
  if (options.input_buffers) {
    check_given(what + ", inputs", *options.input_buffers, inputs.size(), where);
    for (std::size_t n = 0; n < inputs.size(); ++n)
      check_buffer_of(inputs[n], (*options.input_buffers)[n], what, where);
    return *options.input_buffers;
  }
  std::vector<tir::Buffer> buffers;
  for (const Tensor& input : inputs)
    buffers.push_back(
        tir::decl_buffer(input.shape(), input.dtype(), {.name = input.op().name()}, where));
  return buffers;
}

std::vector<DataType> output_types(const std::string& what, const std::vector<Tensor>& inputs,
                                   std::size_t count, const ExternOptions& options,
                                   const SourceLocation& where) {
  if (!options.dtypes.empty()) {
    if (options.dtypes.size() != count)
      throw TypeError(what + ": got " + std::to_string(options.dtypes.size()) + " types for " +
                          std::to_string(count) + " outputs",
                      where);
    return options.dtypes;
  }
  if (options.dtype) return std::vector<DataType>(count, *options.dtype);
  const bool agree =
      !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
        return t.dtype() == inputs.front().dtype();
      });
  if (!agree)
    throw TypeError(
        what +
            ": the type of the output does not follow from the inputs; give it as {.dtype = ...}",
        where);
  return std::vector<DataType>(count, inputs.front().dtype());
}

}  // namespace

void check_body(const Stmt& body, std::span<const tir::Buffer> ins,
                std::span<const tir::Buffer> outs, const std::string& what,
                const SourceLocation& where) {
  std::vector<tir::Buffer> accessed;
  std::unordered_set<const tir::ExprNode*> pointers;
  for (std::span<const tir::Buffer> given : {ins, outs})
    for (const tir::Buffer& buffer : given) pointers.insert(&buffer->data.node());
  std::string stranger;
  auto found = [&](const std::string& what_is_there) {
    if (stranger.empty()) stranger = what_is_there;
  };
  tir::walk(
      body, [&](const tir::Reduce&) { found("a reduction; write the loop"); },
      [&](const tir::ProducerLoad& read) {
        found("an element of tensor `" + read.producer->name() + "`; read its buffer");
      },
      [&](const tir::Evaluate& call) {
        if (call.value.is_moved_from()) found("an expression that has been moved from");
      },
      [&](const tir::Load& load) { accessed.push_back(load.buffer); },
      [&](const tir::Store& store) { accessed.push_back(store.buffer); },
      [&](const tir::Allocate& allocate) { pointers.insert(&allocate.data.node()); },
      [&](const tir::Realize& realize) { pointers.insert(&realize.buffer->data.node()); },
      [&](const tir::BufferView& view) { pointers.insert(&view.view->data.node()); },
      [&](const tir::Let& let) { pointers.insert(&let.var.node()); });
  if (!stranger.empty()) throw TypeError(what + ": the body cannot be or hold " + stranger, where);
  for (const tir::Buffer& buffer : accessed)
    if (!pointers.contains(&buffer->data.node()))
      throw TypeError(what + ": the body accesses buffer `" + buffer.name() +
                          "`, which is none of its inputs and outputs and is not allocated in it",
                      where);
}

std::vector<Tensor> extern_multi(std::vector<std::vector<Expr>> shapes, std::vector<Tensor> inputs,
                                 const ExternBody& body, Name name, ExternOptions options,
                                 SourceLocation where) {
  const std::string what = "extern `" + name + "`";
  if (!body) throw TypeError(what + ": the body is an empty function", where);
  if (shapes.empty() && !options.output_buffers)
    throw TypeError(what + ": needs at least one output", where);
  for (std::vector<Expr>& shape : shapes) check_shape(shape, what, where);
  std::vector<tir::Buffer> ins = input_buffers(what, inputs, options, where);
  std::vector<tir::Buffer> outs;
  if (options.output_buffers) {
    check_given(what + ", outputs", *options.output_buffers, shapes.size(), where);
    outs = *options.output_buffers;
    for (std::size_t n = 0; n < outs.size(); ++n)
      check_buffer_of(
          make_operation(name, "", Placeholder{shapes[n], outs[n].dtype()}, where).output(0),
          outs[n], what + ", output " + std::to_string(n), where);
  } else {
    const std::vector<DataType> types = output_types(what, inputs, shapes.size(), options, where);
    for (DataType type : types) check_element_type(type, what, where);
    for (std::size_t n = 0; n < shapes.size(); ++n)
      outs.push_back(tir::decl_buffer(shapes[n], types[n], {.name = name}, where));
  }
  Stmt code = body(ins, outs).body();
  check_body(code, ins, outs, what, where);
  Extern kind{std::move(inputs), std::move(ins), std::move(outs), std::move(code)};
  return outputs_of(make_operation(std::move(name), declared_tag(std::move(options.tag)),
                                   std::move(kind), where));
}

Tensor extern_op(std::vector<Expr> shape, std::vector<Tensor> inputs, const ExternBody& body,
                 Name name, ExternOptions options, SourceLocation where) {
  std::vector<std::vector<Expr>> shapes;
  shapes.push_back(std::move(shape));
  return extern_multi(std::move(shapes), std::move(inputs), body, std::move(name),
                      std::move(options), where)
      .front();
}

}  // namespace tenon::te
