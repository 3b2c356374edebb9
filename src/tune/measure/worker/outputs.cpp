#include "tune/measure/worker/outputs.h"

#include <cmath>
#include <cstring>
#include <sstream>

#include "tenon/support/float16.h"

namespace tenon::tune {

namespace {

using runtime::NDArray;

std::size_t size_in_bytes(const NDArray& array) {
  return static_cast<std::size_t>(array.num_elements()) *
         static_cast<std::size_t>(array.dtype().bytes());
}
const char* bytes_of(const NDArray& array) {
  return static_cast<const char*>(array.dl_tensor().data);
}

/// Returns small random integers, stored least significant byte first, as on all supported targets.
NDArray small_integers(const NDArray::Shape& shape, DataType dtype, std::uint64_t seed) {
  const NDArray array = NDArray::zeros(shape, dtype);
  auto* bytes = static_cast<unsigned char*>(array.dl_tensor().data);
  for (std::int64_t n = 0; n < array.num_elements(); ++n)
    bytes[n * dtype.bytes()] =
        static_cast<unsigned char>((static_cast<std::uint64_t>(n) * 7 + seed) % 4);
  return array;
}

template <class T>
T element(const char* bytes, std::int64_t n) {
  T value;
  std::memcpy(&value, bytes + static_cast<std::size_t>(n) * sizeof(T), sizeof(T));
  return value;
}

/// Reads a float of the given type.
double number(DataType dtype, const char* bytes, std::int64_t n) {
  if (dtype == Float(64)) return element<double>(bytes, n);
  if (dtype == Float(32)) return element<float>(bytes, n);
  if (dtype == Float(16)) return static_cast<double>(element<runtime::Float16>(bytes, n));
  return static_cast<double>(element<runtime::BFloat16>(bytes, n));
}

/// Returns the tolerance, at least 16 units in the last place of the result type.
double relative_tolerance(DataType dtype, double asked) {
  const int digits = dtype == Float(64)   ? 52
                     : dtype == Float(32) ? 23
                     : dtype == Float(16) ? 10
                                          : 7;
  return std::max(asked, std::ldexp(16.0, -digits));
}

bool is_right(double actual, double expected, double relative, double absolute) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;  // infinities
  return std::abs(actual - expected) <= absolute + relative * std::abs(expected);
}

std::optional<std::string> difference(const Job& job, std::size_t n, const NDArray& actual,
                                      const char* expected) {
  const DataType dtype = actual.dtype();
  const bool is_float = dtype.is_floating();
  const double relative = relative_tolerance(dtype, job.relative_tolerance);
  for (std::int64_t i = 0; i < actual.num_elements(); ++i) {
    const std::size_t width = static_cast<std::size_t>(dtype.bytes());
    const std::size_t at = static_cast<std::size_t>(i) * width;
    if (!is_float && std::memcmp(bytes_of(actual) + at, expected + at, width) == 0) continue;
    std::ostringstream text;
    text << "argument " << n << " is wrong at element " << i;
    if (is_float) {
      const double got = number(dtype, bytes_of(actual), i), want = number(dtype, expected, i);
      if (is_right(got, want, relative, job.absolute_tolerance)) continue;
      text << ": " << got << " instead of " << want;
    }
    return text.str();
  }
  return std::nullopt;
}

}  // namespace

NDArray initial_array(const Job& job, std::size_t n) {
  const JobArgument& argument = job.arguments[n];
  const DataType dtype = DataType::parse(argument.dtype);
  if (!argument.is_read) {
    const double start = dtype.is_floating() ? std::nan("") : dtype.is_bool() ? 1 : 77;
    return NDArray::full(argument.shape, dtype, start);
  }
  const std::uint64_t seed = job.seed * 1000 + n;
  if (dtype.is_floating() || dtype.is_bool())
    return NDArray::random(argument.shape, dtype, {.seed = seed});
  return small_integers(argument.shape, dtype, seed);
}

std::string bytes_of_outputs(const Job& job, const std::vector<NDArray>& arrays) {
  std::string bytes;
  for (std::size_t n = 0; n < arrays.size(); ++n)
    if (job.arguments[n].is_written) bytes.append(bytes_of(arrays[n]), size_in_bytes(arrays[n]));
  return bytes;
}

std::optional<std::string> fault(const Job& job, const std::vector<NDArray>& arrays,
                                 const std::string& expected) {
  std::size_t at = 0;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const std::size_t size = size_in_bytes(arrays[n]);
    if (!job.arguments[n].is_written) {
      const NDArray before = initial_array(job, n);
      if (std::memcmp(bytes_of(before), bytes_of(arrays[n]), size) != 0)
        return "argument " + std::to_string(n) + ", which is only read, has been written";
      continue;
    }
    if (at + size > expected.size()) return "the expected outputs are incomplete";
    if (auto found = difference(job, n, arrays[n], expected.data() + at)) return found;
    at += size;
  }
  return std::nullopt;
}

}  // namespace tenon::tune
