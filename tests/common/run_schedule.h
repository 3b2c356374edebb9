// Runs the loop program of a schedule in the interpreter: inputs hold small whole numbers, so that
// float arithmetic is exact, outputs start as NaN, and reading what was never written is an error.
#pragma once

#include <cmath>
#include <limits>
#include <map>

#include "tenon/interp/evaluate.h"
#include "tenon/te/freeze.h"
#include "tenon/te/schedule_ops.h"
#include "tests/definition/definition.h"

namespace tenon::te::testing {

using Array = std::vector<float>;

struct RunOptions {
  std::function<void(const tir::Access&)> on_access = {};
  /// Values of symbolic sizes.
  std::map<std::string, std::int64_t> sizes = {};
};

inline std::int64_t value_of(const Expr& extent, const RunOptions& options) {
  return tir::evaluate_int(extent, [&](const Var& v) { return options.sizes.at(v.name()); });
}

/// All arrays after the run. A tensor that a placeholder makes is an input, any other an output.
inline std::vector<Array> run(const Schedule& schedule, const std::vector<Tensor>& tensors,
                              const RunOptions& options = {}) {
  const StageGraph graph = freeze(schedule);
  std::vector<FunctionArgument> arguments(tensors.begin(), tensors.end());
  const tir::PrimFunc func = schedule_ops(graph, infer_bound(graph), arguments);
  std::vector<Array> arrays;
  std::vector<tir::HostValue> values;
  for (const Tensor& tensor : tensors) {
    std::vector<std::int64_t> shape;
    std::size_t count = 1;
    for (const Expr& extent : tensor.shape()) {
      shape.push_back(value_of(extent, options));
      count *= static_cast<std::size_t>(shape.back());
    }
    Array& array = arrays.emplace_back(count, std::numeric_limits<float>::quiet_NaN());
    if (tensor.op().as<Placeholder>()) {
      for (std::size_t i = 0; i < count; ++i)
        array[i] = static_cast<float>((i * 7 + arrays.size() * 3) % 13) - 5;
    }
    values.push_back(tir::HostArray{nullptr, tensor.dtype(), shape});
  }
  for (std::size_t i = 0; i < arrays.size(); ++i)
    std::get<tir::HostArray>(values[i]).data = arrays[i].data();
  tir::evaluate(func, values, {.check_uninitialized = true, .on_access = options.on_access});
  return arrays;
}

/// Describes where the results of a run differ from the operations' definitions; "" if nowhere.
inline std::string against_definition(const std::vector<Tensor>& tensors,
                                      const std::vector<Array>& arrays) {
  std::vector<tenon::testing::TensorMemory> memory;
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    std::vector<std::int64_t> shape;
    for (const Expr& extent : tensors[n].shape()) shape.push_back(value_of(extent, {}));
    memory.push_back({tensors[n], arrays[n].data(), std::move(shape)});
  }
  return tenon::testing::against_definition(memory, [](const Var&) { return std::int64_t{0}; })
      .wrong;
}

/// The indices of one buffer, per dimension the least and the greatest.
struct IndexBox {
  std::vector<std::int64_t> min, max;
  void add(std::span<const std::int64_t> indices) {
    if (min.empty()) {
      min.assign(indices.begin(), indices.end());
      max = min;
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
      min[i] = std::min(min[i], indices[i]);
      max[i] = std::max(max[i], indices[i]);
    }
  }
  friend bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// The elements of a stage that one computation wrote, and those that were read after it.
struct Computation {
  IndexBox written, read;
};

inline std::vector<Computation> watch(const Schedule& schedule, const std::vector<Tensor>& tensors,
                                      const std::string& buffer) {
  std::vector<Computation> computations;
  bool reading = true;
  RunOptions options;
  options.on_access = [&](const tir::Access& access) {
    if (access.buffer->name != buffer) return;
    if (access.is_write && reading) computations.emplace_back();
    reading = !access.is_write;
    (reading ? computations.back().read : computations.back().written).add(access.indices);
  };
  run(schedule, tensors, options);
  return computations;
}

}  // namespace tenon::te::testing
