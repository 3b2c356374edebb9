// Extern operations: computed by statements that the user supplies.
#include <algorithm>

#include "te/operations/declare.h"
#include "tenon/te/operation_kind.h"

namespace tenon::te {

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
      check_buffer_of(inputs[n], (*options.input_buffers)[n], /*compared_at_run_time=*/true, what,
                      where);
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
  const bool agree = !inputs.empty() && std::ranges::all_of(inputs, [&](const Tensor& t) {
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
          outs[n], /*compared_at_run_time=*/true, what + ", output " + std::to_string(n), where);
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

ExternResult::ExternResult(const Expr& call) : body_(tir::make_evaluate(call)) {}

Tensor extern_op(std::vector<Expr> shape, std::vector<Tensor> inputs, const ExternBody& body,
                 Name name, ExternOptions options, SourceLocation where) {
  std::vector<std::vector<Expr>> shapes;
  shapes.push_back(std::move(shape));
  return extern_multi(std::move(shapes), std::move(inputs), body, std::move(name),
                      std::move(options), where)
      .front();
}

}  // namespace tenon::te
