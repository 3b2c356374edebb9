#include "tenon/driver/arguments.h"

#include <algorithm>
#include <limits>

#include "tenon/te/operation_kind.h"

namespace tenon {

using runtime::NDArray;

namespace {

/// The initial value of integer outputs. It is chosen to be an unlikely result, so that missing
/// stores are detected.
constexpr int kUnlikely = 77;

}  // namespace

NDArray unwritten_array(const NDArray::Shape& shape, DataType dtype, SourceLocation where) {
  const double value = dtype.is_bool()       ? 1
                       : dtype.is_floating() ? std::numeric_limits<double>::quiet_NaN()
                                             : kUnlikely;
  return NDArray::full(shape, dtype, value, cpu(0), where);
}

std::vector<CallArgument> make_arguments(const std::vector<LowerArgument>& args,
                                         const ArgumentOptions& options, SourceLocation where) {
  const auto value_of = [&](const tir::Var& var, const std::string& argument) {
    for (const auto& [known, value] : options.values)
      if (known.same_as(var)) return value;
    throw LowerError("argument `" + argument + "` needs a value for `" + var.name() +
                         "`, which has none; give it one in the option `values`",
                     where);
  };
  const auto values_of = [&](const std::vector<tir::Expr>& sizes, const std::string& argument) {
    NDArray::Shape result;
    for (const tir::Expr& size : sizes)
      result.push_back(
          tir::evaluate_int(size, [&](const tir::Var& var) { return value_of(var, argument); }));
    return result;
  };
  std::uint64_t seed = 0;
  const auto filled = [&](const NDArray::Shape& shape, DataType dtype, bool is_output) {
    if (!is_output) return NDArray::random(shape, dtype, {.seed = ++seed}, where);
    if (options.outputs_start_at_zero) return NDArray::zeros(shape, dtype, cpu(0), where);
    return unwritten_array(shape, dtype, where);
  };
  const auto of_tensor = [&](const te::Tensor& tensor) -> CallArgument {
    const bool is_output = !tensor.op().as<te::Placeholder>();
    const NDArray::Shape shape = values_of(tensor.shape(), tensor.name());
    return {tensor.name(), is_output, filled(shape, tensor.dtype(), is_output)};
  };
  const auto of_buffer = [&](const tir::Buffer& buffer) -> CallArgument {
    const std::vector<te::Tensor> bound = tensors_among({buffer}, options.binds);
    const bool is_output = !bound.empty() && !bound[0].op().as<te::Placeholder>();
    const NDArray::Shape shape = values_of(buffer->shape, buffer->name);
    if (buffer->strides.empty())
      return {buffer->name, is_output, filled(shape, buffer->dtype, is_output)};
    const NDArray::Shape strides = values_of(buffer->strides, buffer->name);
    std::int64_t span = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) span += (shape[d] - 1) * strides[d];
    const bool is_empty = std::ranges::find(shape, 0) != shape.end();
    const NDArray memory = filled({is_empty ? 0 : span}, buffer->dtype, is_output);
    return {buffer->name, is_output, memory.view(shape, strides, 0, where)};
  };
  std::vector<CallArgument> call;
  for (const LowerArgument& arg : args)
    call.push_back(match(arg, of_tensor, of_buffer, [&](const tir::Var& var) -> CallArgument {
      return {var.name(), false, value_of(var, var.name())};
    }));
  return call;
}

std::vector<te::Tensor> tensors_among(
    const std::vector<LowerArgument>& args,
    const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds) {
  std::vector<te::Tensor> tensors;
  for (const LowerArgument& arg : args)
    match(
        arg, [&](const te::Tensor& tensor) { tensors.push_back(tensor); },
        [&](const tir::Buffer& buffer) {
          for (const auto& [tensor, bound] : binds)
            if (bound.same_as(buffer)) tensors.push_back(tensor);
        },
        [](const tir::Var&) {});
  return tensors;
}

std::vector<runtime::Argument> as_call(const std::vector<CallArgument>& call) {
  std::vector<runtime::Argument> result;
  for (const CallArgument& arg : call)
    match(
        arg.value, [&](const NDArray& array) { result.emplace_back(array); },
        [&](std::int64_t scalar) { result.emplace_back(scalar); });
  return result;
}

std::vector<tir::HostValue> as_host_values(const std::vector<CallArgument>& call) {
  std::vector<tir::HostValue> result;
  for (const CallArgument& arg : call)
    match(
        arg.value,
        [&](const NDArray& array) {
          const DLTensor& tensor = array.dl_tensor();
          result.emplace_back(tir::HostArray{static_cast<char*>(tensor.data) + tensor.byte_offset,
                                             array.dtype(), array.shape(), array.strides()});
        },
        [&](std::int64_t scalar) { result.emplace_back(scalar); });
  return result;
}

}  // namespace tenon
