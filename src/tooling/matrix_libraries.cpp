#include "tenon/tooling/matrix_libraries.h"

#include <dlfcn.h>

#include <optional>

namespace tenon {

namespace {

/// RTLD_DEEPBIND isolates each library with its dependencies. AddressSanitizer does not support it,
/// and ThreadSanitizer does not recognize the synchronization of OpenMP.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kHow = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif
#if defined(__SANITIZE_THREAD__)
constexpr bool kIsAllowed = false;
#else
constexpr bool kIsAllowed = true;
#endif

/// Returns the function of the first library that can be opened; null if none can, or if that
/// library lacks the symbol.
template <class F>
F* find(std::initializer_list<const char*> files, const char* symbol) {
  if (!kIsAllowed) return nullptr;
  for (const char* file : files)
    if (void* library = dlopen(file, kHow)) return reinterpret_cast<F*>(dlsym(library, symbol));
  return nullptr;
}

using CblasSgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int,
                        float, float*, int);

std::function<void()> call_cblas(CblasSgemm* gemm, const MatrixProduct& p) {
  constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
  return [=] {
    gemm(kRowMajor, p.transpose_a ? kTransposed : kPlain, p.transpose_b ? kTransposed : kPlain, p.m,
         p.n, p.k, 1.0f, p.a, p.transpose_a ? p.m : p.k, p.b, p.transpose_b ? p.k : p.n, 0.0f, p.c,
         p.n);
  };
}

/// Returns the matrix product of a library with the CBLAS interface and a function that sets the
/// number of threads.
template <class Count>
std::optional<LibraryProduct> cblas(const char* name, const char* file, const char* set_threads,
                                    const MatrixProduct& p, int threads) {
  auto* gemm = find<CblasSgemm>({file}, "cblas_sgemm");
  auto* set = find<void(Count)>({file}, set_threads);
  if (!gemm || !set) return std::nullopt;
  set(threads);
  return LibraryProduct{name, call_cblas(gemm, p)};
}

/// Returns oneDNN's matrix product. Debian's package uses OpenMP.
std::optional<LibraryProduct> onednn(const MatrixProduct& p, int threads) {
  using Sgemm = int(char, char, long, long, long, float, const float*, long, const float*, long,
                    float, float*, long);
  auto* gemm = find<Sgemm>({"libdnnl.so.3", "libdnnl.so.2"}, "dnnl_sgemm");
  auto* set_threads = find<void(int)>({"libgomp.so.1"}, "omp_set_num_threads");
  if (!gemm || !set_threads) return std::nullopt;
  set_threads(threads);
  return LibraryProduct{"oneDNN", [=] {
                          gemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k,
                               1.0f, p.a, p.transpose_a ? p.m : p.k, p.b, p.transpose_b ? p.k : p.n,
                               0.0f, p.c, p.n);
                        }};
}

}  // namespace

std::vector<LibraryProduct> library_products(const MatrixProduct& product, int threads) {
  std::vector<LibraryProduct> found;
  for (const std::optional<LibraryProduct>& each :
       {cblas<int>("OpenBLAS", "libopenblas.so.0", "openblas_set_num_threads", product, threads),
        cblas<long>("BLIS", "libblis.so.4", "bli_thread_set_num_threads", product, threads),
        onednn(product, threads)})
    if (each) found.push_back(*each);
  return found;
}

}  // namespace tenon
