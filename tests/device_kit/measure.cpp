#include "tests/device_kit/measure.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>

#include "tenon/runtime/device_api.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/runtime/spec.h"
#include "tenon/support/float16.h"
#include "tests/device_kit/elements.h"
#include "tests/device_kit/results.h"
#include "tests/device_kit/table_rows.h"

namespace tenon::device_kit {

// ---- cuBLAS -------------------------------------------------------------------------------------

// cuBLAS, loaded from the file named by TENON_CUBLAS or found by the loader.

class CuBlas {
 public:
  CuBlas();

  bool exists() const { return handle_ != nullptr; }
  /// Starts c = a b for row-major n x n matrices in the default stream; float32 does not use tensor
  /// cores. Returns false if cuBLAS refuses.
  bool multiply(int n, const runtime::NDArray& a, const runtime::NDArray& b,
                const runtime::NDArray& c) const;

 private:
  template <class F>
  void find(F*& function, const char* name);

  void* library_ = nullptr;
  void* handle_ = nullptr;
  int (*create_)(void**) = nullptr;
  int (*set_mode_)(void*, int) = nullptr;
  int (*multiply_)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                   int, int, const void*, void*, int, int, int, int) = nullptr;
};

// The values are those of cublas_api.h and library_types.h.

constexpr int kPedanticMath = 2, kDefaultMath = 0;
constexpr int kReal32 = 0, kReal16 = 2, kInt8 = 3, kInt32 = 10, kBfloat16 = 14;
constexpr int kComputeInt32 = 72, kCompute32 = 68, kCompute32Pedantic = 69;
constexpr int kDefaultAlgorithm = -1;

CuBlas::CuBlas() {
  const char* named = std::getenv("TENON_CUBLAS");
  for (const char* name : {named, "libcublas.so.13", "libcublas.so.12", "libcublas.so",
                           "/usr/local/cuda/lib64/libcublas.so"})
    if (name != nullptr && library_ == nullptr) library_ = dlopen(name, RTLD_NOW);
  if (library_ == nullptr) return;
  find(create_, "cublasCreate_v2"), find(set_mode_, "cublasSetMathMode");
  find(multiply_, "cublasGemmEx");
  if (create_ == nullptr || multiply_ == nullptr || set_mode_ == nullptr || create_(&handle_) != 0)
    handle_ = nullptr;
}

template <class F>
void CuBlas::find(F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library_, name));
}

bool CuBlas::multiply(int n, const runtime::NDArray& a, const runtime::NDArray& b,
                      const runtime::NDArray& c) const {
  const DataType type = a.dtype();
  int in = kReal32, out = kReal32, compute = kCompute32Pedantic;
  if (type == Float(16)) in = kReal16, compute = kCompute32;
  if (type == BFloat(16)) in = kBfloat16, compute = kCompute32;
  if (type == Int(8)) in = kInt8, out = kInt32, compute = kComputeInt32;
  set_mode_(handle_, type == Float(32) ? kPedanticMath : kDefaultMath);
  const float one = 1, zero = 0;
  const std::int32_t whole_one = 1, whole_zero = 0;
  const bool is_whole = type == Int(8);
  const void* alpha = is_whole ? static_cast<const void*>(&whole_one) : &one;
  const void* beta = is_whole ? static_cast<const void*>(&whole_zero) : &zero;
  // Its matrices are by columns: C = A B by rows is C^T = B^T A^T.
  return multiply_(handle_, 0, 0, n, n, n, alpha, b.dl_tensor().data, in, n, a.dl_tensor().data, in,
                   n, beta, c.dl_tensor().data, out, n, compute, kDefaultAlgorithm) == 0;
}

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using runtime::NDArray;

constexpr int kNoDevice = 3;

/// A function of the driver, or null.
template <class F>
F* driver_function(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr : reinterpret_cast<F*>(dlsym(driver, name));
}

/// Returns the CU_DEVICE_ATTRIBUTE_... of this number, or 0.
int attribute(int number) {
  auto* get = driver_function<int(int*, int, int)>("cuDeviceGetAttribute");
  int value = 0;
  return get != nullptr && get(&value, number, 0) == 0 ? value : 0;
}

int driver_version() {
  auto* get = driver_function<int(int*)>("cuDriverGetVersion");
  int value = 0;
  return get != nullptr && get(&value) == 0 ? value : 0;
}

/// A random array on the host and its copy on the device: floats in [-1, 1), or integers in
/// [-10, 10].
struct Input {
  Input(const std::vector<std::int64_t>& shape, DataType type, unsigned seed, Device device)
      : here(NDArray::empty(shape, type)), there(here) {
    constexpr std::size_t kDifferent = 1 << 16;
    const auto size = static_cast<std::size_t>(type.bytes());
    std::vector<std::byte> some(kDifferent * size);
    std::mt19937 random(seed);
    for (std::size_t n = 0; n < kDifferent; ++n) {
      const float x = std::uniform_real_distribution<float>(-1, 1)(random);
      const Float16 half(x);
      const BFloat16 brain(x);
      const std::int8_t whole = static_cast<std::int8_t>(std::lround(x * 10));
      const void* bits = type == Float(16)    ? static_cast<const void*>(&half)
                         : type == BFloat(16) ? static_cast<const void*>(&brain)
                         : type == Int(8)     ? static_cast<const void*>(&whole)
                                              : &x;
      std::memcpy(&some[n * size], bits, size);
    }
    auto* to = static_cast<std::byte*>(here.dl_tensor().data);
    std::uint64_t state = seed;
    for (std::int64_t n = 0; n < here.num_elements(); ++n, to += size) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      std::memcpy(to, &some[(state >> 40) % kDifferent * size], size);
    }
    there = here.copy_to(device);
  }
  double operator()(std::int64_t n) const {
    return value(static_cast<const std::byte*>(here.dl_tensor().data) + n * here.dtype().bytes(),
                 here.dtype());
  }
  NDArray here, there;
};

/// A row's inputs, its work, and its result element by element in plain C++.
struct Program {
  std::vector<Input> inputs;
  std::vector<std::int64_t> shape;
  DataType type = Float(32);
  /// Floating-point operations, or bytes read and written, per call.
  double operations = 0, bytes = 0;
  std::function<double(const Program& program, std::int64_t)> element;
};

Program program_of(const Row& row, Device device) {
  Program p;
  const auto input = [&](const std::vector<std::int64_t>& shape, DataType type) {
    p.inputs.emplace_back(shape, type, static_cast<unsigned>(p.inputs.size() + 1), device);
  };
  const std::int64_t n = row.n, channels = row.channels, size = row.size;
  const double matrix = static_cast<double>(kRows) * kColumns * 4;
  switch (row.kind) {
    case RowKind::Add:
    case RowKind::MultiplyAdds:
      input({n}, Float(32)), input({n}, Float(32));
      p.shape = {n};
      if (row.kind == RowKind::Add) {
        p.bytes = static_cast<double>(n) * 12;
        p.element = [](const Program& p, std::int64_t i) {
          return p.inputs[0](i) + p.inputs[1](i);
        };
      } else {
        p.operations = 2.0 * kChain * static_cast<double>(n);
        p.element = [](const Program& p, std::int64_t i) {
          return kChain * p.inputs[0](i) * p.inputs[1](i);
        };
      }
      break;
    case RowKind::Product:
      input({n, n}, row.type), input({n, n}, row.type);
      p.shape = {n, n};
      p.type = row.type == Int(8) ? Int(32) : Float(32);
      p.operations = 2.0 * std::pow(static_cast<double>(n), 3);
      p.element = [n](const Program& p, std::int64_t i) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k)
          sum += p.inputs[0](i / n * n + k) * p.inputs[1](k * n + i % n);
        return sum;
      };
      break;
    case RowKind::Convolution:
      input({n, channels, size, size}, Float(32)), input({channels, channels, 3, 3}, Float(32));
      p.shape = {n, channels, size, size};
      p.operations = 2.0 * 9 * static_cast<double>(n * channels * channels * size * size);
      p.element = [channels, size](const Program& p, std::int64_t i) {
        const std::int64_t x = i % size, y = i / size % size, f = i / size / size % channels,
                           image = i / size / size / channels;
        double sum = 0;
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t ky = 0; ky < 3; ++ky)
            for (std::int64_t kx = 0; kx < 3; ++kx) {
              const std::int64_t row = y + ky - 1, column = x + kx - 1;
              if (row < 0 || row >= size || column < 0 || column >= size) continue;
              sum += p.inputs[0](((image * channels + c) * size + row) * size + column) *
                     p.inputs[1](((f * channels + c) * 3 + ky) * 3 + kx);
            }
        return sum;
      };
      break;
    default:
      input({kRows, kColumns}, Float(32));
      p.shape = {kRows, kColumns};
      p.bytes = 2 * matrix;
  }
  if (row.kind == RowKind::Relu)
    p.element = [](const Program& p, std::int64_t i) { return std::max(p.inputs[0](i), 0.0); };
  if (row.kind == RowKind::Transpose) {
    p.shape = {kColumns, kRows};
    p.element = [](const Program& p, std::int64_t i) {
      return p.inputs[0](i % kRows * kColumns + i / kRows);
    };
  }
  if (row.kind == RowKind::Softmax)
    p.element = [](const Program& p, std::int64_t i) {
      double sum = 0;
      for (std::int64_t k = 0; k < kColumns; ++k)
        sum += std::exp(p.inputs[0](i / kColumns * kColumns + k));
      return std::exp(p.inputs[0](i)) / sum;
    };
  if (row.kind == RowKind::SumsOfRows || row.kind == RowKind::SumsOfColumns) {
    const bool by_rows = row.kind == RowKind::SumsOfRows;
    const std::int64_t sums = by_rows ? kRows : kColumns, terms = by_rows ? kColumns : kRows;
    p.shape = {sums};
    p.bytes = matrix + static_cast<double>(sums) * 4;
    p.element = [by_rows, terms](const Program& p, std::int64_t i) {
      double sum = 0;
      for (std::int64_t k = 0; k < terms; ++k)
        sum += p.inputs[0](by_rows ? i * kColumns + k : k * kColumns + i);
      return sum;
    };
  }
  return p;
}

/// Compares the first, the last and some random elements with plain C++.
std::string difference(const Program& p, const NDArray& result) {
  const NDArray here = result.copy_to(cpu(0));
  const auto* data = static_cast<const std::byte*>(here.dl_tensor().data);
  std::mt19937_64 random(7);
  const std::int64_t count = here.num_elements();
  constexpr int kSome = 300;
  for (int n = 0; n < kSome; ++n) {
    const std::int64_t i =
        n < 40   ? n % count
        : n < 80 ? count - 1 - n % count
                 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
    const double right = p.element(p, i), found = value(data + i * p.type.bytes(), p.type);
    // The tolerance allows for float32 sums of thousands of terms that cancel.
    if (!(std::fabs(right - found) <= 2e-3 * std::max(1.0, std::fabs(right))))
      return "element " + std::to_string(i) + " is " + std::to_string(found) + ", not " +
             std::to_string(right);
  }
  return "";
}

/// Returns the median time of a call in seconds, measured by the device.
double seconds_of(runtime::DeviceApi& api, const std::function<void()>& call) {
  call();
  api.synchronize(0);
  int number = 1;
  std::vector<double> results;
  constexpr double kMin = 0.01;
  constexpr std::size_t kRepeats = 7;
  while (results.size() < kRepeats) {
    const double time = api.seconds_of(0, [&] {
      for (int n = 0; n < number; ++n) call();
    });
    if (time < kMin && results.empty() && number < (1 << 20)) {
      number *= 2;
      continue;
    }
    results.push_back(time / number);
  }
  return runtime::Timing::of(results).median;
}

struct Measured {
  double seconds = 0;
  std::string wrong;
};

Measured measured(const CheckOptions& options, const Row& row, const Program& p,
                  const NDArray& out) {
  const runtime::Function f =
      runtime::Module::load(options.kernels + "/" + row.name + ".so")["main"];
  std::vector<runtime::Argument> args;
  for (const Input& input : p.inputs) args.emplace_back(input.there);
  args.emplace_back(out);
  runtime::DeviceApi& api = runtime::device_api(options.device.type);
  Measured result;
  result.seconds = seconds_of(api, [&] { f.call(args); });
  if (options.numbers) result.wrong = difference(p, out);
  return result;
}

/// Returns the bytes read and written per second by a copy within the device.
double copy_speed(const CheckOptions& options) {
  constexpr std::int64_t kBytes = std::int64_t{kRows} * kColumns * 4;
  const NDArray from = NDArray::zeros({kBytes}, Int(8), options.device),
                to = from.copy_to(options.device);
  runtime::DeviceApi& api = runtime::device_api(options.device.type);
  const DLTensor &source = from.dl_tensor(), &target = to.dl_tensor();
  // DeviceApi::copy waits for each copy, so this is a lower bound.
  constexpr int kCopies = 20;
  api.copy(source, target, kBytes);
  const auto start = std::chrono::steady_clock::now();
  for (int n = 0; n < kCopies; ++n) api.copy(source, target, kBytes);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return 2.0 * kBytes * kCopies / time.count();
}

/// The steps of the tutorial gpu_matmul. Their size is read from the libraries.
std::vector<Row> ladder_rows(const std::string& kernels) {
  std::vector<Row> rows;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(fs::path(kernels) / "gpu_matmul", missing)) {
    const runtime::Module module = runtime::Module::load(entry.path());
    const auto& a = std::get<runtime::ArraySpec>(module["main"].spec().params[0].type);
    rows.push_back({"gpu_matmul/" + entry.path().stem().string(), RowKind::Product,
                    static_cast<int>(std::get<std::int64_t>(a.shape[0])), a.dtype});
  }
  std::ranges::sort(rows, {}, &Row::name);
  return rows;
}

NDArray result_of(const Program& p, Device device) {
  // NaN shows elements that the program does not write.
  return NDArray::full(p.shape, p.type, p.type.is_floating() ? NAN : -1, device);
}

}  // namespace

int probe(const CheckOptions& options) {
  if (std::string missing = options.device.why_missing(); !missing.empty()) {
    std::fprintf(stderr, "%s\n", missing.c_str());
    return kNoDevice;
  }
  Results results(options.results);
  json line = {{"case", "probe"},
               {"device", runtime::device_api(options.device.type).device_name(options.device.id)},
               {"status", "right"}};
  if (options.device.type == DeviceType::Cuda) {
    // CU_DEVICE_ATTRIBUTE_...
    constexpr int kMajor = 75, kMinor = 76, kMultiprocessors = 16, kClock = 13, kMemoryClock = 36,
                  kL2Bytes = 38, kMaxShared = 97;
    line["capability"] =
        std::to_string(attribute(kMajor)) + "." + std::to_string(attribute(kMinor));
    line["multiprocessors"] = attribute(kMultiprocessors);
    line["clock_khz"] = attribute(kClock);
    line["memory_clock_khz"] = attribute(kMemoryClock);
    line["l2_bytes"] = attribute(kL2Bytes);
    line["shared_bytes"] = attribute(kMaxShared);
    line["driver"] = driver_version();
  }
  const auto start = std::chrono::steady_clock::now();
  for (const Row& row : table_rows()) {
    if (row.name != "table_add" && row.kind != RowKind::MultiplyAdds) continue;
    const Program p = program_of(row, options.device);
    const NDArray out = result_of(p, options.device);
    const Measured m = measured(options, row, p, out);
    if (!m.wrong.empty()) line["status"] = "wrong", line["what"] = row.name + ": " + m.wrong;
    if (p.bytes > 0) line["bytes_per_second"] = p.bytes / m.seconds;
    if (p.operations > 0) line["operations_per_second"] = p.operations / m.seconds;
  }
  line["copy_bytes_per_second"] = copy_speed(options);
  line["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s\n", line.dump().c_str());
  const bool is_right = line["status"] == "right";
  results.add(line);
  return is_right ? 0 : 1;
}

int measure(const CheckOptions& options) {
  if (!options.device.exists()) return kNoDevice;
  Results results(options.results);
  const CuBlas blas;
  runtime::DeviceApi& api = runtime::device_api(options.device.type);
  const double copied = copy_speed(options);
  int status = 0;
  std::vector<Row> rows = table_rows();
  const std::vector<Row> ladder = ladder_rows(options.kernels);
  rows.insert(rows.end(), ladder.begin(), ladder.end());
  for (const Row& row : rows) {
    const bool is_known = std::ranges::any_of(
        results.lines(), [&](const json& line) { return line.value("case", "") == row.name; });
    if (is_known || row.name.find(options.only) == std::string::npos) continue;
    if (options.device.type != DeviceType::Cuda && row.type != Float(32)) continue;
    json line = {{"case", row.name}, {"status", "right"}};
    try {
      const Program p = program_of(row, options.device);
      const NDArray out = result_of(p, options.device);
      const Measured m = measured(options, row, p, out);
      if (!m.wrong.empty()) line["status"] = "wrong", line["what"] = m.wrong;
      const bool is_memory = p.bytes > 0;
      const double speed = (is_memory ? p.bytes : p.operations) / m.seconds;
      line["table"] = row.name.starts_with("gpu_matmul/") ? "ladder"
                      : is_memory                         ? "memory"
                                                          : "arithmetic";
      line["value"] = speed * 1e-9;
      line["unit"] = is_memory ? "GB/s" : "GFLOP/s";
      line["microseconds"] = m.seconds * 1e6;
      double peer = 0;
      if (is_memory) line["peer"] = "copy", peer = copied;
      const int n = row.n;
      if (row.kind == RowKind::Product && blas.exists() &&
          blas.multiply(n, p.inputs[0].there, p.inputs[1].there, out)) {
        line["peer"] = "cuBLAS";
        peer = p.operations / seconds_of(api, [&] {
                 blas.multiply(n, p.inputs[0].there, p.inputs[1].there, out);
               });
        if (std::string wrong = options.numbers ? difference(p, out) : ""; !wrong.empty())
          line["peer_wrong"] = wrong;
      }
      if (peer > 0) line["peer_value"] = peer * 1e-9, line["ratio"] = speed / peer;
    } catch (const RuntimeError& error) {
      line["status"] = "error", line["what"] = error.what();
    }
    if (line["status"] != "right") status = 1;
    results.add(line);
  }
  return status;
}

}  // namespace tenon::device_kit
