// cuBLAS, where it is found: in the file that TENON_CUBLAS names, or by the loader.
#pragma once

#include "tenon/runtime/ndarray.h"

namespace tenon::device_kit {

class CuBlas {
 public:
  CuBlas();

  bool exists() const { return handle_ != nullptr; }
  /// c = a b of n x n matrices by rows, in the device's own stream. Float32 without tensor cores.
  /// Whether it could be started.
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

}  // namespace tenon::device_kit
