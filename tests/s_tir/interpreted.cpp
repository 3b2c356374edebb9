#include "tests/s_tir/interpreted.h"

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "tenon/interp/evaluate.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

struct Array {
  std::string name;
  DataType dtype;
  std::vector<std::int64_t> shape;
  std::vector<char> bytes;
};

/// Random inputs; outputs are NaN, or 77 for integers.
std::vector<Array> arrays_of(const PrimFunc& func) {
  std::set<const BufferNode*> written;
  walk(func.body, [&](const Store& store) { written.insert(store.buffer.get()); });
  std::mt19937 random(1);
  std::vector<Array> result;
  for (const BufferParam& param : func.buffers) {
    Array array{param.declared->name, param.declared->dtype, {}, {}};
    std::int64_t count = 1;
    for (const Expr& size : param.declared->shape) {
      array.shape.push_back(constant_int(size).value_or(1));
      count *= array.shape.back();
    }
    const bool is_output = written.contains(param.buffer.get());
    const auto width = static_cast<std::size_t>(array.dtype.bytes());
    array.bytes.assign(static_cast<std::size_t>(count) * width, 0);
    for (std::int64_t n = 0; n < count; ++n) {
      char* at = array.bytes.data() + static_cast<std::size_t>(n) * width;
      if (array.dtype.is_float() && array.dtype.bits == 32) {
        const float value =
            is_output ? NAN : (static_cast<float>(random() % 1000) - 500.0f) / 100.0f;
        std::memcpy(at, &value, sizeof value);
      } else {
        *at = static_cast<char>(is_output ? 77 : random() % 5);
      }
    }
    result.push_back(std::move(array));
  }
  return result;
}

void run(const PrimFunc& func, std::vector<Array>& arrays) {
  std::vector<HostValue> values;
  for (Array& array : arrays)
    values.emplace_back(HostArray{array.bytes.data(), array.dtype, array.shape});
  evaluate(func, values);
}

/// The results of the function. Cases share their modules: each is run once.
const std::vector<Array>& results_of(const PrimFunc& func) {
  struct Known {
    /// Kept, so that no other function has its body's address.
    PrimFunc func;
    std::vector<Array> results;
  };
  static std::map<const void*, Known> known;
  const auto entry = known.find(&func.body.node());
  if (entry != known.end()) return entry->second.results;
  std::vector<Array> arrays = arrays_of(func);
  run(func, arrays);
  return known.emplace(&func.body.node(), Known{func, std::move(arrays)}).first->second.results;
}

std::string difference(const Array& expected, const Array& actual) {
  if (!(expected.dtype.is_float() && expected.dtype.bits == 32))
    return expected.bytes == actual.bytes ? "" : "`" + expected.name + "` differs";
  for (std::size_t n = 0; n < expected.bytes.size(); n += sizeof(float)) {
    float x = 0, y = 0;
    std::memcpy(&x, expected.bytes.data() + n, sizeof x);
    std::memcpy(&y, actual.bytes.data() + n, sizeof y);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (std::abs(x - y) <= 1e-3f + 1e-4f * std::abs(x)) continue;
    return expected.name + "[" + std::to_string(n / sizeof(float)) + "] is " + std::to_string(y) +
           ", not " + std::to_string(x);
  }
  return "";
}

}  // namespace

std::string first_other_result(const PrimFunc& before, const PrimFunc& after) {
  for (const Violation& violation : verify(after, after.form))
    return violation.what + ": " + violation.where;
  const std::vector<Array>& expected = results_of(before);
  std::vector<Array> actual = arrays_of(before);
  run(after, actual);
  for (std::size_t n = 0; n < expected.size(); ++n)
    if (std::string found = difference(expected[n], actual[n]); !found.empty()) return found;
  return "";
}

}  // namespace tenon::s_tir
