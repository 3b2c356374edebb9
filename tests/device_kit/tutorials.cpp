#include <algorithm>
#include <filesystem>
#include <map>

#include "tenon/runtime/device_api.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/spec.h"
#include "tests/device_kit/check.h"
#include "tests/device_kit/elements.h"

namespace tenon::device_kit {

namespace {

namespace fs = std::filesystem;
using runtime::ArraySpec;
using runtime::NDArray;

std::vector<std::int64_t> shape_of(const ArraySpec& array) {
  std::vector<std::int64_t> shape;
  for (const runtime::Size& size : array.shape) shape.push_back(std::get<std::int64_t>(size));
  return shape;
}

/// Returns the result of a step for random inputs, which depend on their types only.
NDArray result_of(const runtime::Function& step, Device device) {
  std::vector<NDArray> arrays;
  std::vector<runtime::Argument> args;
  unsigned seed = 1;
  for (const runtime::ParamSpec& param : step.spec().params) {
    const auto& array = std::get<ArraySpec>(param.type);
    arrays.push_back(
        array.access == runtime::Access::Read
            ? NDArray::random(shape_of(array), array.dtype, {.seed = seed++}).copy_to(device)
            : NDArray::zeros(shape_of(array), array.dtype, device));
  }
  for (const NDArray& array : arrays) args.emplace_back(array);
  step.call(args);
  return arrays.back().copy_to(cpu(0));
}

std::string difference(const NDArray& first, const NDArray& other) {
  // Steps add thousands of terms in different orders.
  constexpr double kTolerance = 1e-3;
  const auto* x = static_cast<const std::byte*>(first.dl_tensor().data);
  const auto* y = static_cast<const std::byte*>(other.dl_tensor().data);
  const DataType type = first.dtype();
  for (std::int64_t n = 0; n < first.num_elements(); ++n, x += type.bytes(), y += type.bytes())
    if (!same(x, y, type, kTolerance, true))
      return "element " + std::to_string(n) + " is " + text(y, type) + ", and in the first step " +
             text(x, type);
  return "";
}

}  // namespace

std::vector<std::string> tutorial_names(const std::string& kernels) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(kernels, missing))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string run_tutorial(const CheckOptions& options, const std::string& name) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(options.kernels) / name))
    files.push_back(entry.path());
  std::ranges::sort(files);
  // The first result, by argument types.
  std::map<std::string, NDArray> firsts;
  for (const fs::path& file : files) {
    const runtime::Function step = runtime::Module::load(file)["main"];
    std::string types;
    for (const runtime::ParamSpec& param : step.spec().params) types += describe(param) + " ";
    const NDArray result = result_of(step, options.device);
    const auto [first, is_new] = firsts.try_emplace(types, result);
    if (is_new || !options.numbers) continue;
    if (std::string wrong = difference(first->second, result); !wrong.empty())
      return file.stem().string() + ": " + wrong;
  }
  return "";
}

}  // namespace tenon::device_kit
