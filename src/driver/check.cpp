#include "tenon/driver/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/driver/build.h"
#include "tenon/tir/evaluate.h"
#include "tenon/tir/walk.h"

namespace tenon {

namespace {

using runtime::NDArray;

/// What an output of integers holds at first.
constexpr int kUnlikely = 77;

struct Shaped {
  const te::Tensor* tensor;  // null for a buffer
  NDArray::Shape shape;
  DataType dtype;
};

Shaped shaped(const LowerArgument& arg, const SourceLocation& where) {
  auto constant = [&](const std::vector<tir::Expr>& extents, const std::string& name) {
    NDArray::Shape shape;
    for (const tir::Expr& extent : extents) {
      const std::optional<std::int64_t> value = tir::constant_int(extent);
      if (!value)
        throw LowerError("check: argument `" + name + "` has a symbolic shape; give it a constant one",
                         where);
      shape.push_back(*value);
    }
    return shape;
  };
  return match(
      arg,
      [&](const te::Tensor& tensor) -> Shaped {
        return {&tensor, constant(tensor.shape(), tensor.name()), tensor.dtype()};
      },
      [&](const tir::Buffer& buffer) -> Shaped {
        return {nullptr, constant(buffer->shape, buffer->name), buffer->dtype};
      },
      [&](const tir::Var& var) -> Shaped {
        throw LowerError("check: argument `" + var.name() + "` is a scalar; only arrays can be made up",
                         where);
      });
}

bool is_output(const Shaped& arg) { return arg.tensor && !arg.tensor->op().as<te::Placeholder>(); }

NDArray unwritten(const Shaped& arg, bool zero, const SourceLocation& where) {
  if (zero) return NDArray::zeros(arg.shape, arg.dtype, cpu(0), where);
  if (arg.dtype.is_bool()) return NDArray::full(arg.shape, arg.dtype, 1, cpu(0), where);
  const double value = arg.dtype.is_floating() ? std::numeric_limits<double>::quiet_NaN() : kUnlikely;
  return NDArray::full(arg.shape, arg.dtype, value, cpu(0), where);
}

/// The same inputs, and outputs of its own.
std::vector<NDArray> with_own_outputs(const std::vector<LowerArgument>& args,
                                      const std::vector<NDArray>& arrays, const SourceLocation& where) {
  std::vector<NDArray> own = arrays;
  for (std::size_t n = 0; n < args.size(); ++n) {
    const Shaped arg = shaped(args[n], where);
    if (is_output(arg)) own[n] = unwritten(arg, false, where);
  }
  return own;
}

void interpret(const tir::IRModule& module, const std::vector<NDArray>& arrays) {
  std::vector<tir::HostValue> values;
  for (const NDArray& array : arrays) {
    const DLTensor& tensor = array.dl_tensor();
    values.push_back(tir::HostArray{static_cast<char*>(tensor.data) + tensor.byte_offset, array.dtype(),
                                    array.shape(), array.strides()});
  }
  tir::evaluate(module.functions.begin()->second, values);
}

void call(const runtime::Function& function, const std::vector<NDArray>& arrays) {
  const std::vector<runtime::Argument> values(arrays.begin(), arrays.end());
  function.call(values);
}

/// The plainest schedule that computes the arguments.
te::Schedule default_schedule(const std::vector<LowerArgument>& args, const SourceLocation& where) {
  std::vector<te::Operation> outputs;
  for (const LowerArgument& arg : args) {
    const Shaped a = shaped(arg, where);
    if (!is_output(a)) continue;
    const te::Operation op = a.tensor->op();
    if (std::none_of(outputs.begin(), outputs.end(), [&](const te::Operation& o) { return o.same_as(op); }))
      outputs.push_back(op);
  }
  if (outputs.empty()) throw LowerError("check: no argument is computed by the schedule", where);
  return te::create_schedule(outputs, where);
}

/// Element `n` of a compact array, as a double; exact for all types but integers beyond 2^53.
class Elements {
 public:
  explicit Elements(const NDArray& array)
      : array_(array.is_compact() ? array : array.copy_to(cpu(0))), dtype_(array.dtype().element()) {}

  double operator[](std::int64_t n) const {
    const DLTensor& tensor = array_.dl_tensor();
    const char* data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
    if (dtype_.is_bfloat()) return static_cast<double>(read<BFloat16>(data, n));
    if (dtype_.is_float()) {
      if (dtype_.bits == 16) return static_cast<double>(read<Float16>(data, n));
      return dtype_.bits == 32 ? static_cast<double>(read<float>(data, n)) : read<double>(data, n);
    }
    switch (dtype_.bytes()) {
      case 1:
        return dtype_.is_int() ? read<std::int8_t>(data, n) : read<std::uint8_t>(data, n);
      case 2:
        return dtype_.is_int() ? read<std::int16_t>(data, n) : read<std::uint16_t>(data, n);
      case 4:
        return dtype_.is_int() ? read<std::int32_t>(data, n) : read<std::uint32_t>(data, n);
      default:
        return dtype_.is_int() ? static_cast<double>(read<std::int64_t>(data, n))
                               : static_cast<double>(read<std::uint64_t>(data, n));
    }
  }

 private:
  template <class T>
  static T read(const char* data, std::int64_t n) {
    return reinterpret_cast<const T*>(data)[n];
  }
  NDArray array_;
  DataType dtype_;
};

}  // namespace

Comparison compare(const NDArray& actual, const NDArray& expected, Tolerance tolerance,
                   SourceLocation where) {
  if (actual.shape() != expected.shape() || !(actual.dtype() == expected.dtype()))
    throw RuntimeError("compare: " + describe(actual) + " beside " + describe(expected), where);
  if (!actual.dtype().is_floating()) tolerance = {.relative = 0, .absolute = 0};
  const Elements a(actual), e(expected);
  Comparison result{.elements = actual.num_elements() * actual.dtype().lanes};
  for (std::int64_t n = 0; n < result.elements; ++n) {
    const double x = a[n], y = e[n];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::abs(x - y);
    const bool right = error <= tolerance.absolute + tolerance.relative * std::abs(y);
    if (!right) ++result.wrong;
    if (!(error <= result.largest_error)) result.largest_error = error;
  }
  return result;
}

bool binds_threads(const tir::PrimFunc& func) {
  bool found = false;
  tir::walk(func.body, [&](const tir::Attr& attr) { found |= attr.kind == tir::AttrKind::ThreadExtent; });
  return found;
}

std::vector<NDArray> make_arguments(const std::vector<LowerArgument>& args, bool outputs_start_at_zero,
                                    SourceLocation where) {
  std::vector<NDArray> arrays;
  std::uint64_t seed = 0;
  for (const LowerArgument& arg : args) {
    const Shaped a = shaped(arg, where);
    arrays.push_back(is_output(a) ? unwritten(a, outputs_start_at_zero, where)
                                  : NDArray::random(a.shape, a.dtype, {.seed = ++seed}, where));
  }
  return arrays;
}

CheckReport check_schedule(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                           const CheckOptions& options, SourceLocation where) {
  const tir::IRModule module = lower(schedule, args, {.passes = options.passes}, where);
  CheckReport report{.interpreted = binds_threads(module.functions.begin()->second)};
  const std::vector<NDArray> actual = make_arguments(args, options.outputs_start_at_zero, where);
  if (report.interpreted) {
    interpret(module, actual);
  } else {
    call(build(schedule, args, options.target, {.passes = options.passes}, where)["main"], actual);
  }

  const std::vector<NDArray> expected = with_own_outputs(args, actual, where);
  interpret(lower(default_schedule(args, where), args, {}, where), expected);

  for (std::size_t n = 0; n < args.size(); ++n) {
    const Shaped arg = shaped(args[n], where);
    if (!is_output(arg)) continue;
    const Comparison compared = compare(actual[n], expected[n], options.tolerance, where);
    const bool is_worse =
        compared.wrong > report.worst.wrong ||
        (compared.wrong == report.worst.wrong && compared.largest_error > report.worst.largest_error);
    if (!report.output.empty() && !is_worse) continue;
    report.worst = compared;
    report.output = arg.tensor->name();
  }
  return report;
}

}  // namespace tenon
