#include "tenon/driver/arguments.h"

#include <algorithm>
#include <limits>

#include "tenon/te/operation_kind.h"

namespace tenon {

namespace {

using runtime::NDArray;

/// The initial value of integer outputs. It is chosen to be an unlikely result, so that missing
/// stores are detected.
constexpr int kUnlikely = 77;

class ArgumentMaker {
 public:
  ArgumentMaker(const ArgumentOptions& options, const SourceLocation& where)
      : options_(options), where_(where) {}

  CallArgument make(const LowerArgument& arg) {
    return match(
        arg, [&](const te::Tensor& tensor) { return make_array(tensor); },
        [&](const tir::Buffer& buffer) { return make_array(buffer); },
        [&](const tir::Var& var) { return make_scalar(var); });
  }

 private:
  CallArgument make_array(const te::Tensor& tensor) {
    const bool is_output = !tensor.op().as<te::Placeholder>();
    const NDArray::Shape shape = values_of(tensor.shape(), tensor.name());
    return {tensor.name(), is_output, filled(shape, tensor.dtype(), is_output)};
  }

  CallArgument make_array(const tir::Buffer& buffer) {
    const std::vector<te::Tensor> bound = tensors_among({buffer}, options_.binds);
    const bool is_output = !bound.empty() && !bound[0].op().as<te::Placeholder>();
    const NDArray::Shape shape = values_of(buffer->shape, buffer->name);
    if (buffer->strides.empty())
      return {buffer->name, is_output, filled(shape, buffer->dtype, is_output)};
    const NDArray::Shape strides = values_of(buffer->strides, buffer->name);
    std::int64_t span = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) span += (shape[d] - 1) * strides[d];
    const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    const NDArray memory = filled({is_empty ? 0 : span}, buffer->dtype, is_output);
    return {buffer->name, is_output, memory.view(shape, strides, 0, where_)};
  }

  CallArgument make_scalar(const tir::Var& var) const {
    return {var.name(), false, value_of(var, var.name())};
  }

  NDArray filled(const NDArray::Shape& shape, DataType dtype, bool is_output) {
    if (!is_output) return NDArray::random(shape, dtype, {.seed = ++seed_}, where_);
    if (options_.outputs_start_at_zero) return NDArray::zeros(shape, dtype, cpu(0), where_);
    if (dtype.is_bool()) return NDArray::full(shape, dtype, 1, cpu(0), where_);
    const double value = dtype.is_floating() ? std::numeric_limits<double>::quiet_NaN() : kUnlikely;
    return NDArray::full(shape, dtype, value, cpu(0), where_);
  }

  NDArray::Shape values_of(const std::vector<tir::Expr>& sizes, const std::string& argument) const {
    NDArray::Shape result;
    for (const tir::Expr& size : sizes)
      result.push_back(
          tir::evaluate_int(size, [&](const tir::Var& var) { return value_of(var, argument); }));
    return result;
  }

  std::int64_t value_of(const tir::Var& var, const std::string& argument) const {
    for (const auto& [known, value] : options_.values)
      if (known.same_as(var)) return value;
    throw LowerError("argument `" + argument + "` needs a value for `" + var.name() +
                         "`, which has none; give it one in the option `values`",
                     where_);
  }

  const ArgumentOptions& options_;
  const SourceLocation& where_;
  std::uint64_t seed_ = 0;
};

}  // namespace

std::vector<CallArgument> make_arguments(const std::vector<LowerArgument>& args,
                                         const ArgumentOptions& options, SourceLocation where) {
  ArgumentMaker maker(options, where);
  std::vector<CallArgument> call;
  for (const LowerArgument& arg : args) call.push_back(maker.make(arg));
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
