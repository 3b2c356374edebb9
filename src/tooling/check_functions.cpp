#include "tenon/tooling/check_functions.h"

#include <set>

#include "tenon/driver/build.h"
#include "tenon/tir/walk.h"
#include "tenon/tooling/on_device.h"

namespace tenon {

namespace {

using runtime::NDArray;

std::set<const tir::BufferNode*> written_by(const tir::PrimFunc& func) {
  std::set<const tir::BufferNode*> result;
  tir::walk(func.body, [&](const tir::Store& store) { result.insert(store.buffer.get()); });
  return result;
}

/// Returns an array of small integers. They are valid as indices.
NDArray small_integers(const NDArray::Shape& shape, DataType dtype, std::uint64_t seed) {
  const NDArray array = NDArray::zeros(shape, dtype, cpu(0));
  auto* bytes = static_cast<unsigned char*>(array.dl_tensor().data);
  for (std::int64_t n = 0; n < array.num_elements(); ++n)
    bytes[n * dtype.bytes()] =
        static_cast<unsigned char>((static_cast<std::uint64_t>(n) * 7 + seed) % 4);
  return array;
}

NDArray input_of(const NDArray::Shape& shape, DataType dtype, std::uint64_t seed) {
  if (dtype.is_floating() || dtype.is_bool()) return NDArray::random(shape, dtype, {.seed = seed});
  return small_integers(shape, dtype, seed);
}

std::vector<CallArgument> arguments_of(const tir::PrimFunc& func,
                                       const CheckFunctionsOptions& options) {
  const std::set<const tir::BufferNode*> written = written_by(func);
  std::vector<CallArgument> result;
  std::uint64_t seed = 0;
  for (const tir::Var& param : func.params) {
    const tir::BufferParam* array = func.buffer_of(param);
    if (array == nullptr) {
      result.push_back({param.name(), false, options.size});
      continue;
    }
    NDArray::Shape shape;
    for (const tir::Expr& size : array->declared->shape)
      shape.push_back(tir::evaluate_int(size, [&](const tir::Var&) { return options.size; }));
    const DataType dtype = array->declared->dtype;
    const bool is_output = written.contains(array->buffer.get());
    result.push_back({array->declared->name, is_output,
                      is_output ? unwritten_array(shape, dtype) : input_of(shape, dtype, ++seed)});
  }
  return result;
}

}  // namespace

CheckReport check_functions(const tir::PrimFunc& before, const tir::PrimFunc& after,
                            const CheckFunctionsOptions& options, SourceLocation where) {
  if (before.params.size() != after.params.size())
    throw RuntimeError("check_functions: one function has " + std::to_string(before.params.size()) +
                           " parameters, the other " + std::to_string(after.params.size()),
                       where);
  const std::vector<CallArgument> expected = arguments_of(before, options);
  const std::vector<CallArgument> actual = arguments_of(before, options);
  tir::evaluate(before, as_host_values(expected));
  CheckReport report{.interpreted = !options.target};
  if (options.target) {
    tir::PrimFunc func = after;
    func.attrs.global_symbol = "main";
    run_main(build(tir::IRModule{{{"main", func}}}, *options.target), *options.target, actual,
             where);
  } else {
    tir::evaluate(after, as_host_values(actual));
  }
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (!expected[n].array()) continue;
    const Comparison comparison =
        compare(*actual[n].array(), *expected[n].array(), options.tolerance, where);
    const bool is_worse =
        comparison.wrong > report.worst.wrong ||
        (report.worst.fine() && comparison.largest_error > report.worst.largest_error);
    if (!is_worse && !report.argument.empty()) continue;
    report.worst = comparison;
    report.argument = expected[n].name;
  }
  return report;
}

}  // namespace tenon
