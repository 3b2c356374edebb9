// The library's schedules on CUDA's first device, beside cuBLAS and beside a copy.
//
//   build/bench/cuda_device              the tables
//   build/bench/cuda_device --probe      nothing but whether there is a device
//
// Products in 10^9 operations a second, and their share of what cuBLAS does in the same run; what
// moves memory in 10^9 bytes a second, and its share of what a copy moves. Ends with 1 where a
// result is wrong, with 3 where there is no device.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include <tenon/tenon.h>

#include "tenon/runtime/device_api.h"
#include "tenon/tir/expr.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/transform.h"

using namespace tenon;
using runtime::NDArray;

namespace {

bool is_all_right = true;

/// "sm_90"
std::string architecture() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto attribute =
      reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  constexpr int kMajor = 75, kMinor = 76;
  int major = 0, minor = 0;
  if (attribute == nullptr || attribute(&major, kMajor, 0) != 0 ||
      attribute(&minor, kMinor, 0) != 0)
    return "sm_80";
  return "sm_" + std::to_string(major * 10 + minor);
}

/// cuBLAS, where it is found. Its matrices are by columns: C = A B by rows is C^T = B^T A^T.
class CuBlas {
 public:
  CuBlas() {
    for (const char* name : {"libcublas.so", "libcublas.so.13", "libcublas.so.12",
                             "/usr/local/cuda/lib64/libcublas.so"})
      if (library_ = dlopen(name, RTLD_NOW); library_ != nullptr) break;
    if (library_ == nullptr) return;
    find(create_, "cublasCreate_v2"), find(set_mode_, "cublasSetMathMode");
    find(multiply_, "cublasGemmEx");
    if (create_ == nullptr || multiply_ == nullptr || create_(&handle_) != 0) handle_ = nullptr;
  }

  bool exists() const { return handle_ != nullptr; }

  /// Whether it multiplied. Without tensor cores for float32.
  bool multiply(int n, DataType t, const NDArray& a, const NDArray& b, const NDArray& c) const {
    constexpr int kPedantic = 2, kDefault = 0, kFloat32 = 0, kFloat16 = 2, kCompute32 = 68,
                  kCompute32Pedantic = 69, kAlgorithm = -1;
    const bool is_single = t == Float(32);
    if (set_mode_ != nullptr) set_mode_(handle_, is_single ? kPedantic : kDefault);
    const int type = is_single ? kFloat32 : kFloat16;
    const float one = 1, zero = 0;
    return multiply_(handle_, 0, 0, n, n, n, &one, b.dl_tensor().data, type, n, a.dl_tensor().data,
                     type, n, &zero, c.dl_tensor().data, kFloat32, n,
                     is_single ? kCompute32Pedantic : kCompute32, kAlgorithm) == 0;
  }

 private:
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  void* handle_ = nullptr;
  int (*create_)(void**) = nullptr;
  int (*set_mode_)(void*, int) = nullptr;
  int (*multiply_)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                   int, int, const void*, void*, int, int, int, int) = nullptr;
};

/// The least time of a call, in seconds, the device waited for.
template <class F>
double seconds(F run) {
  runtime::DeviceApi& api = runtime::device_api(runtime::DeviceType::Cuda);
  run();
  api.synchronize(0);
  double least = 1e9;
  int calls = 1;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < calls; ++n) run();
    api.synchronize(0);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count() / calls);
    if (time.count() < 0.02) calls *= 2, --repeat;
  }
  return least;
}

NDArray on_device(const std::vector<std::int64_t>& shape, DataType t, unsigned seed) {
  return NDArray::random(shape, t, {.seed = seed}).copy_to(cuda(0));
}

/// The greatest difference of two results, in parts of the greatest number.
double difference(const NDArray& a, const NDArray& b) {
  const std::vector<float> x = a.copy_to(cpu(0)).to_vector<float>(),
                           y = b.copy_to(cpu(0)).to_vector<float>();
  double most = 0, greatest = 1e-30;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const double apart = std::fabs(static_cast<double>(x[n]) - static_cast<double>(y[n]));
    most = std::isnan(x[n]) ? 1e30 : std::max(most, apart);
    greatest = std::max(greatest, std::fabs(static_cast<double>(y[n])));
  }
  return most / greatest;
}

void check(const std::string& name, double apart) {
  if (apart <= 1e-3) return;
  is_all_right = false;
  std::printf("%s: WRONG, by %g of the greatest number\n", name.c_str(), apart);
}

void products(const Target& target, const CuBlas& blas, DataType t) {
  std::printf("product of n x n matrices, %s\n%8s %12s %12s %8s\n", t.str().c_str(), "n", "GFLOP/s",
              "cuBLAS", "ratio");
  for (const int n : {1024, 2048, 4096, 8192}) {
    const te::Tensor A = te::placeholder({n, n}, "A", t), B = te::placeholder({n, n}, "B", t);
    const bool is_single = t == Float(32);
    const te::Tensor C =
        is_single ? topi::matmul(A, B) : topi::matmul(A, B, {.out_dtype = Float(32)});
    const te::Schedule s = topi::gpu::schedule_matmul(C, target.facts());
    const runtime::Function f = build(s, {A, B, C}, target)["main"];
    const NDArray a = on_device({n, n}, t, 1), b = on_device({n, n}, t, 2);
    const NDArray c = NDArray::zeros({n, n}, Float(32), cuda(0));
    const NDArray expected = NDArray::zeros({n, n}, Float(32), cuda(0));
    const double operations = 2.0 * n * n * n * 1e-9;
    const double ours = operations / seconds([&] { f(a, b, c); });
    double theirs = 0;
    if (blas.exists() && blas.multiply(n, t, a, b, expected)) {
      theirs = operations / seconds([&] { blas.multiply(n, t, a, b, expected); });
      check("product " + std::to_string(n), difference(c, expected));
    }
    std::printf("%8d %12.0f %12.0f %8.2f\n", n, ours, theirs, theirs > 0 ? ours / theirs : 0.0);
  }
}

struct Mover {
  std::string name;
  te::Schedule schedule;
  te::Tensor in, out;
};

void movers(const Target& target) {
  constexpr std::int64_t kRows = 16384, kColumns = 4096;
  const double bytes = static_cast<double>(kRows * kColumns) * 4;
  const NDArray from = on_device({kRows, kColumns}, Float(32), 3);
  const NDArray to = NDArray::zeros({kRows, kColumns}, Float(32), cuda(0));
  runtime::DeviceApi& api = runtime::device_api(runtime::DeviceType::Cuda);
  const runtime::MemoryPlace source{cuda(0), from.dl_tensor().data},
      target_place{cuda(0), to.dl_tensor().data};
  const double copied = 2 * bytes / seconds([&] {
                          api.copy(source, target_place, static_cast<std::uint64_t>(bytes));
                        });
  std::printf("%lld x %lld float32, memory moved\n%-16s %12s %8s\n%-16s %12.0f %8.2f\n",
              static_cast<long long>(kRows), static_cast<long long>(kColumns), "", "GB/s",
              "of copy", "copy", copied * 1e-9, 1.0);
  const te::Tensor A = te::placeholder({static_cast<int>(kRows), static_cast<int>(kColumns)}, "A");
  const te::Tensor softmax = topi::softmax(A), rows = topi::sum(A, {1}),
                   columns = topi::sum(A, {0}), transposed = topi::transpose(A),
                   map = topi::relu(A);
  const tir::TargetFacts& facts = target.facts();
  for (const Mover& mover :
       {Mover{"softmax", topi::gpu::schedule_softmax(softmax, facts), A, softmax},
        Mover{"sums of rows", topi::gpu::schedule_reduction(rows, facts), A, rows},
        Mover{"sums of columns", topi::gpu::schedule_reduction(columns, facts), A, columns},
        Mover{"transpose", topi::gpu::schedule_transpose(transposed, facts), A, transposed},
        Mover{"map", topi::gpu::schedule_elementwise(map, facts), A, map}}) {
    std::vector<std::int64_t> shape;
    double moved = bytes;
    double elements = 1;
    for (const Expr& extent : mover.out.shape()) {
      shape.push_back(*tir::constant_int(extent));
      elements *= static_cast<double>(shape.back());
    }
    moved += elements * 4;
    const NDArray out = NDArray::zeros(shape, Float(32), cuda(0));
    const runtime::Function f = build(mover.schedule, {mover.in, mover.out}, target)["main"];
    const double rate = moved / seconds([&] { f(from, out); });
    const NDArray host = NDArray::zeros(shape, Float(32));
    build(te::create_schedule(mover.out), {mover.in, mover.out}, Target("llvm"))["main"](
        from.copy_to(cpu(0)), host);
    check(mover.name, difference(out, host));
    std::printf("%-16s %12.0f %8.2f\n", mover.name.c_str(), rate * 1e-9, rate / copied);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!cuda(0).exists()) {
    std::printf("There is no CUDA device to measure: %s\n", cuda(0).why_missing().c_str());
    return 3;
  }
  // Only the question whether there is a device.
  if (argc > 1 && std::string(argv[1]) == "--probe") return 0;
  const Target target("cuda -arch=" + architecture());
  std::printf("%s, %s\n", runtime::device_api(runtime::DeviceType::Cuda).device_name(0).c_str(),
              target.str().c_str());
  const CuBlas blas;
  products(target, blas, Float(32));
  products(target, blas, Float(16));
  movers(target);
  return is_all_right ? 0 : 1;
}
