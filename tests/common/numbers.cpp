#include "tests/common/numbers.h"

#include <cmath>

namespace tenon::testing {

namespace {

std::string at(std::span<const std::int64_t> indices) {
  std::string text = "[";
  for (std::int64_t i : indices) text += (text.size() == 1 ? "" : ", ") + std::to_string(i);
  return text + "]";
}

/// Steps to the next indices in row-major order; false after the last.
bool advance(std::vector<std::int64_t>& indices, const std::vector<std::int64_t>& shape) {
  for (std::size_t n = shape.size(); n-- > 0;) {
    if (++indices[n] < shape[n]) return true;
    indices[n] = 0;
  }
  return false;
}

bool agree(double expected, double actual, double tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  return expected == actual ||
         std::fabs(expected - actual) <= tolerance * (1 + std::fabs(expected));
}

}  // namespace

double Element::operator()(std::span<const std::int64_t> indices) const {
  if (indices.size() != array_->shape.size()) throw std::logic_error("a wrong number of indices");
  std::int64_t place = 0;
  for (std::size_t n = 0; n < indices.size(); ++n) {
    if (indices[n] < 0 || indices[n] >= array_->shape[n])
      throw std::logic_error("`" + array_->name + "` has no element " + at(indices));
    place = place * array_->shape[n] + indices[n];
  }
  return array_->value(place);
}

std::string differs(const std::vector<te::Tensor>& inputs, const te::Tensor& result,
                    const Truth& truth, const DiffersOptions& options) {
  std::vector<LowerArgument> args(inputs.begin(), inputs.end());
  args.emplace_back(result);
  const te::Schedule schedule = te::create_schedule(result);
  if (options.compile) {
    const std::string difference = compare_with_default(
        schedule, args, {.symbols = {options.symbol}, .tolerance = options.tolerance});
    if (!difference.empty()) return difference;
  }
  const Arguments arguments = make_arguments(args, {.symbol = options.symbol});
  tir::evaluate(lower_to_loops(schedule, args), arguments.values, {.check_uninitialized = true});

  Elements read;
  for (std::size_t n = 0; n < inputs.size(); ++n) read.emplace_back(*arguments.arrays[n]);
  const Arguments::Array& computed = *arguments.arrays.back();
  if (computed.elements() == 0) return "";
  std::vector<std::int64_t> indices(computed.shape.size(), 0);
  do {
    const double expected = truth(read, indices), actual = Element(computed)(indices);
    if (!agree(expected, actual, options.tolerance))
      return computed.name + at(indices) + " is " + std::to_string(actual) + ", not " +
             std::to_string(expected);
  } while (advance(indices, computed.shape));
  return "";
}

}  // namespace tenon::testing
