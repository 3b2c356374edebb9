// cuBLAS, loaded from the file named by TENON_CUBLAS or found by the loader.
#pragma once

#include "tenon/runtime/ndarray.h"

namespace tenon::device_kit {

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

}  // namespace tenon::device_kit
