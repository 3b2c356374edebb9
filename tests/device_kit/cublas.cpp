#include "tests/device_kit/cublas.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace tenon::device_kit {

// The values are those of cublas_api.h and library_types.h.
namespace {

constexpr int kPedanticMath = 2, kDefaultMath = 0;
constexpr int kReal32 = 0, kReal16 = 2, kInt8 = 3, kInt32 = 10, kBfloat16 = 14;
constexpr int kComputeInt32 = 72, kCompute32 = 68, kCompute32Pedantic = 69;
constexpr int kDefaultAlgorithm = -1;

}  // namespace

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

}  // namespace tenon::device_kit
