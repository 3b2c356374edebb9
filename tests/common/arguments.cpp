#include "tests/common/arguments.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tenon/support/float16.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

namespace {

constexpr int kUnwritten = 0xff;

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// No two neighbours alike, so that nothing that is moved within them goes unseen.
std::byte guard_byte(std::size_t place, bool is_output) {
  return std::byte(static_cast<unsigned char>(place * 37 + (is_output ? 11 : 100)));
}

std::int64_t evaluate_size(const Expr& extent, std::int64_t symbol) {
  return tir::evaluate_int(extent, [&](const Var&) { return symbol; });
}

bool is_gap_whole(const Arguments::Array& array) {
  std::vector<bool> is_element(static_cast<std::size_t>(array.places()));
  for (std::int64_t n = 0; n < array.elements(); ++n)
    is_element[static_cast<std::size_t>(array.place(n))] = true;
  const auto size = static_cast<std::size_t>(array.dtype.element().bytes());
  for (std::size_t n = 0; n < is_element.size() * size; ++n)
    if (!is_element[n / size] && array.data()[n] != std::byte{kUnwritten}) return false;
  return true;
}

bool is_output(const LowerArgument& arg) {
  const te::Tensor* tensor = std::get_if<te::Tensor>(&arg);
  return tensor && !tensor->op().as<te::Placeholder>();
}

}  // namespace

GuardedBytes::GuardedBytes(std::size_t bytes) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t used = rounded_up(rounded_up(bytes, kGuard) + kGuard, page);
  length_ = used + 2 * page;
  void* mapped =
      mmap(nullptr, length_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = static_cast<std::byte*>(mapped);
  if (mprotect(mapped_ + page, used, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  data_ = mapped_ + page + used - rounded_up(bytes, kGuard);
}

GuardedBytes& GuardedBytes::operator=(GuardedBytes&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(length_, other.length_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
  return *this;
}

GuardedBytes::~GuardedBytes() {
  if (mapped_ != nullptr) munmap(mapped_, length_);
}

std::span<std::byte> GuardedBytes::behind() const {
  return {data_ + bytes_, rounded_up(bytes_, kGuard) - bytes_};
}

std::int64_t Arguments::Array::elements() const {
  std::int64_t count = dtype.lanes;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t Arguments::Array::place(std::int64_t n) const {
  if (strides.empty()) return n;
  std::int64_t result = 0;
  for (std::size_t d = shape.size(); d-- > 0; n /= shape[d]) result += n % shape[d] * strides[d];
  return result;
}

std::int64_t Arguments::Array::places() const {
  return strides.empty() || elements() == 0 ? elements() : place(elements() - 1) + 1;
}

double Arguments::Array::value(std::int64_t n) const {
  const std::byte* at = data() + place(n) * dtype.element().bytes();
  auto load = [&]<class T>(T) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (dtype.is_bfloat()) return static_cast<double>(BFloat16::from_bits(load(std::uint16_t{})));
  if (dtype.is_float())
    return dtype.bits == 64   ? load(double{})
           : dtype.bits == 32 ? static_cast<double>(load(float{}))
                              : static_cast<double>(Float16::from_bits(load(std::uint16_t{})));
  const bool is_signed = dtype.is_int();
  auto load_whole = [&]<class Signed, class Unsigned>(Signed, Unsigned) {
    return is_signed ? static_cast<double>(load(Signed{})) : static_cast<double>(load(Unsigned{}));
  };
  switch (dtype.element().bytes()) {
    case 1:
      return load_whole(std::int8_t{}, std::uint8_t{});
    case 2:
      return load_whole(std::int16_t{}, std::uint16_t{});
    case 4:
      return load_whole(std::int32_t{}, std::uint32_t{});
    default:
      return load_whole(std::int64_t{}, std::uint64_t{});
  }
}

void Arguments::Array::guard() {
  for (const std::span<std::byte> side : {memory.before(), memory.behind()})
    for (std::size_t n = 0; n < side.size(); ++n) side[n] = guard_byte(n, is_output);
}

std::string Arguments::Array::damage() const {
  auto is_whole = [&](std::span<std::byte> side) {
    for (std::size_t n = 0; n < side.size(); ++n)
      if (side[n] != guard_byte(n, is_output)) return false;
    return true;
  };
  if (!is_whole(memory.before())) return "written before its start";
  if (!is_whole(memory.behind())) return "written behind its end";
  return strides.empty() || is_gap_whole(*this) ? "" : "written between its rows";
}

namespace {

/// Strides with gaps between rows, for two dimensions or more, the last of which is compact.
std::vector<std::int64_t> strides_apart(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kBetween = 3;
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * shape[d + 1] + kBetween;
  return strides;
}

bool has_rows_apart(const te::Tensor& tensor, const ArgumentOptions& options) {
  for (const auto& [bound, buffer] : options.binds)
    if (bound.same_as(tensor))
      return buffer.strides().size() > 1 && !tir::constant_int(buffer.strides().front());
  return false;
}

}  // namespace

void store_element(Arguments::Array& array, std::int64_t n, const Number& number) {
  const DataType type = array.dtype.element();
  const std::uint64_t bits = bits_of(number, type);
  const auto size = static_cast<std::size_t>(type.bytes());
  std::memcpy(array.data() + array.place(n) * type.bytes(), &bits, size);
}

Arguments make_arguments(const std::vector<LowerArgument>& args, ArgumentOptions options) {
  std::mt19937 random(options.seed);
  Arguments result;
  for (const LowerArgument& arg : args) {
    if (const Var* scalar = std::get_if<Var>(&arg)) {
      if (scalar->dtype().is_floating()) {
        result.values.emplace_back(1.5);
      } else {
        result.values.emplace_back(options.symbol);
      }
      continue;
    }
    const te::Tensor* tensor = std::get_if<te::Tensor>(&arg);
    const tir::Buffer* buffer = std::get_if<tir::Buffer>(&arg);
    const std::vector<Expr>& shape = tensor ? tensor->shape() : buffer->shape();
    auto array = std::make_unique<Arguments::Array>();
    array->name = tensor ? tensor->name() : buffer->name();
    array->dtype = tensor ? tensor->dtype() : buffer->dtype();
    array->is_output = is_output(arg);
    for (const Expr& extent : shape) array->shape.push_back(evaluate_size(extent, options.symbol));
    if (tensor && has_rows_apart(*tensor, options)) array->strides = strides_apart(array->shape);
    array->memory = GuardedBytes(static_cast<std::size_t>(array->bytes()));
    std::memset(array->data(), kUnwritten, static_cast<std::size_t>(array->bytes()));
    array->guard();
    for (std::int64_t n = 0; !array->is_output && n < array->elements(); ++n)
      store_element(*array, n, input_number(options.data, array->dtype.element(), random));
    result.values.emplace_back(
        tir::HostArray{array->data(), array->dtype, array->shape, array->strides});
    result.arrays.push_back(std::move(array));
  }
  return result;
}

std::string first_difference(const Arguments& expected, const Arguments& actual, double tolerance,
                             Zeros zeros) {
  for (std::size_t a = 0; a < expected.arrays.size(); ++a) {
    const Arguments::Array &x = *expected.arrays[a], &y = *actual.arrays[a];
    const DataType type = x.dtype.element();
    for (std::int64_t n = 0; n < x.elements(); ++n) {
      const Number u = element_of(x.data(), x.place(n), type);
      const Number v = element_of(y.data(), y.place(n), type);
      if (same(u, v, type, zeros)) continue;
      const double allowed = tolerance * std::max(1.0, std::fabs(u.real));
      if (type.is_floating() && u.real != v.real && std::isfinite(u.real) &&
          std::fabs(u.real - v.real) <= allowed)
        continue;
      return x.name + "[" + std::to_string(n) + "]: expected " + text_of(u, type) + ", got " +
             text_of(v, type);
    }
    if (std::string damage = y.damage(); !damage.empty()) return x.name + ": " + damage;
  }
  return "";
}

}  // namespace tenon::testing
